// assay/neighbors/tree_kernels.hpp for points, once per CPU level.
#include <array>
#include <bit>

#include "assay/common/distance.hpp"
#include "assay/common/simd.hpp"
#include "assay/neighbors/tree_kernels.hpp"
#include "point_total.hpp"

namespace assay::neighbors {
namespace {

template <std::size_t D, class Level, class Metric>
[[gnu::always_inline]] inline std::uint32_t bounds_of(const PointQuery<Metric>& query,
                                                      const double* box, double limit,
                                                      double* low) noexcept {
    using Vector = Simd<double, Level>;
    const Vector zero = Vector::all(0.0);
    std::uint32_t near = 0;
    for (std::size_t first = 0; first < fan_out; first += Vector::size) {
        const auto gap = [&](std::size_t j) __attribute__((always_inline)) {
            const Vector x = Vector::all(query.values[j]);
            const double* side = box + j * 2 * fan_out + first;
            return fmax(fmax(Vector::load(side) - x, x - Vector::load(side + fan_out)), zero);
        };
        const Vector sum = total<D, Vector>(query.metric, query.d, gap);
        const Vector bound = sum * Vector::all(query.metric.root_slack == 0 ? 1.0 : 1 - 0x1p-40);
        bound.store(low + first);
        near |= not_above(bound, Vector::all(limit)) << first;
    }
    return near;
}

template <std::size_t D, class Level, class Metric>
[[gnu::always_inline]] inline std::size_t scan_of(const PointQuery<Metric>& query,
                                                  const double* leaf, std::size_t lanes,
                                                  std::size_t rows, double limit,
                                                  LeafHit* hits) noexcept {
    using Vector = Simd<double, Level>;
    const Vector bound = Vector::all(limit);
    std::size_t count = 0;
    for (std::size_t first = 0; first < rows; first += Vector::size) {
        const auto difference = [&](std::size_t j) __attribute__((always_inline)) {
            return Vector::all(query.values[j]) - Vector::load(leaf + j * lanes + first);
        };
        const Vector sum = total<D, Vector>(query.metric, query.d, difference);
        std::uint32_t rest = not_above(sum, bound);
        if (first + Vector::size > rows) {
            rest &= (1U << (rows - first)) - 1;
        }
        if (rest == 0) {
            continue;
        }
        double sums[Vector::size];
        sum.store(sums);
        for (; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
            hits[count++] = {sums[lane], static_cast<std::uint32_t>(first + lane)};
        }
    }
    return count;
}

}  // namespace

template <class Level, class Query>
std::uint32_t TreeKernels<Level, Query>::bounds(const Query& query, const double* box, double limit,
                                                double* low) noexcept {
    switch (query.d) {
        case 1:
            return bounds_of<1, Level>(query, box, limit, low);
        case 2:
            return bounds_of<2, Level>(query, box, limit, low);
        case 3:
            return bounds_of<3, Level>(query, box, limit, low);
        case 4:
            return bounds_of<4, Level>(query, box, limit, low);
        default:
            return bounds_of<0, Level>(query, box, limit, low);
    }
}

template <class Level, class Query>
std::size_t TreeKernels<Level, Query>::scan(const Query& query, const double* leaf,
                                            std::size_t lanes, std::size_t rows, double limit,
                                            LeafHit* hits) noexcept {
    switch (query.d) {
        case 1:
            return scan_of<1, Level>(query, leaf, lanes, rows, limit, hits);
        case 2:
            return scan_of<2, Level>(query, leaf, lanes, rows, limit, hits);
        case 3:
            return scan_of<3, Level>(query, leaf, lanes, rows, limit, hits);
        case 4:
            return scan_of<4, Level>(query, leaf, lanes, rows, limit, hits);
        default:
            return scan_of<0, Level>(query, leaf, lanes, rows, limit, hits);
    }
}

template struct TreeKernels<ASSAY_LEVEL, PointQuery<Euclidean>>;
template struct TreeKernels<ASSAY_LEVEL, PointQuery<Manhattan>>;
template struct TreeKernels<ASSAY_LEVEL, PointQuery<Chebyshev>>;
template struct TreeKernels<ASSAY_LEVEL, PointQuery<HalfIntegerPower>>;
template struct TreeKernels<ASSAY_LEVEL, PointQuery<Power>>;

}  // namespace assay::neighbors

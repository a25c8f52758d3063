// assay/neighbors/tree_kernels.hpp for points, once per CPU level.
#include <array>
#include <bit>

#include "assay/common/distance.hpp"
#include "assay/common/simd.hpp"
#include "assay/neighbors/tree_kernels.hpp"

namespace assay::neighbors {
namespace {

// The sum S over D columns (0: as many as `d` says), where difference(j) gives a vector.
// Partial sums of columns that are not there would only add zeros.
template <std::size_t D, class Vector, class Metric, class Difference>
[[gnu::always_inline]] inline Vector total(const Metric& metric, std::size_t d,
                                           const Difference& difference) noexcept {
    if constexpr (D == 1) {
        return metric.term(difference(0));
    } else if constexpr (D == 2) {
        return metric.join(metric.term(difference(0)), metric.term(difference(1)));
    } else if constexpr (D == 3) {
        return metric.join(metric.join(metric.term(difference(0)), metric.term(difference(2))),
                           metric.term(difference(1)));
    } else if constexpr (D == 4) {
        return metric.join(metric.join(metric.term(difference(0)), metric.term(difference(2))),
                           metric.join(metric.term(difference(1)), metric.term(difference(3))));
    } else {
        std::array<Vector, n_partials> partial{};
        std::size_t j = 0;
        for (; j + n_partials <= d; j += n_partials) {
#pragma GCC unroll 8
            for (std::size_t lane = 0; lane < n_partials; ++lane) {
                partial[lane] = metric.join(partial[lane], metric.term(difference(j + lane)));
            }
        }
#pragma GCC unroll 8
        for (std::size_t lane = 0; lane < n_partials; ++lane) {
            if (j + lane < d) {
                partial[lane] = metric.join(partial[lane], metric.term(difference(j + lane)));
            }
        }
        return join_partials(metric, partial);
    }
}

template <std::size_t D, class Level, class Metric>
[[gnu::always_inline]] inline void bounds_of(const PointQuery<Metric>& query, const double* box,
                                             double* low) noexcept {
    using Vector = Simd<double, Level>;
    const Vector zero = Vector::all(0.0);
    for (std::size_t first = 0; first < fan_out; first += Vector::size) {
        const auto gap = [&](std::size_t j) __attribute__((always_inline)) {
            const Vector x = Vector::all(query.values[j]);
            const double* side = box + j * 2 * fan_out + first;
            return fmax(fmax(Vector::load(side) - x, x - Vector::load(side + fan_out)), zero);
        };
        const Vector sum = total<D, Vector>(query.metric, query.d, gap);
        (sum * Vector::all(query.metric.root_slack == 0 ? 1.0 : 1 - 0x1p-40)).store(low + first);
    }
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
void TreeKernels<Level, Query>::bounds(const Query& query, const double* box,
                                       double* low) noexcept {
    switch (query.d) {
        case 1:
            return bounds_of<1, Level>(query, box, low);
        case 2:
            return bounds_of<2, Level>(query, box, low);
        case 3:
            return bounds_of<3, Level>(query, box, low);
        case 4:
            return bounds_of<4, Level>(query, box, low);
        default:
            return bounds_of<0, Level>(query, box, low);
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

// assay/neighbors/direct.hpp, once per CPU level.
#include "assay/neighbors/direct.hpp"

#include <array>
#include <bit>

#include "assay/common/simd.hpp"
#include "assay/neighbors/panels.hpp"

namespace assay::neighbors {
namespace {

// The distance sums of one query to the rows in the lanes of one vector.
template <class Level, class Metric>
[[gnu::always_inline]] inline Simd<double, Level> sums(const Metric& metric, const double* query,
                                                       const double* panel,
                                                       std::size_t d) noexcept {
    using Vector = Simd<double, Level>;
    std::array<Vector, n_partials> partial{};
    const auto add = [&](std::size_t j, Vector& sum) __attribute__((always_inline)) {
        const Vector x = Vector::all(query[j * group_width]);
        sum = metric.join(sum, metric.term(x - Vector::load(panel + j * panel_width)));
    };
    std::size_t j = 0;
    for (; j + n_partials <= d; j += n_partials) {
#pragma GCC unroll 8
        for (std::size_t lane = 0; lane < n_partials; ++lane) {
            add(j + lane, partial[lane]);
        }
    }
#pragma GCC unroll 8
    for (std::size_t lane = 0; lane < n_partials; ++lane) {
        if (j + lane < d) {
            add(j + lane, partial[lane]);
        }
    }
    return join_partials(metric, partial);
}

}  // namespace

template <class Level, class Metric>
std::size_t Direct<Level, Metric>::run(const Metric& metric, const double* group,
                                       const double* panels, std::size_t d, std::size_t n_panels,
                                       const double* limit, DirectHit* hits) noexcept {
    using Vector = Simd<double, Level>;
    std::size_t count = 0;
    for (std::size_t first = 0; first < n_panels * panel_width; first += Vector::size) {
        const double* rows = panels + first / panel_width * panel_width * d + first % panel_width;
        for (std::size_t query = 0; query < group_width; ++query) {
            const Vector sum = sums<Level>(metric, group + query, rows, d);
            std::uint32_t rest = not_above(sum, Vector::all(limit[query]));
            if (rest == 0) {
                continue;
            }
            double lanes[Vector::size];
            sum.store(lanes);
            for (; rest != 0; rest &= rest - 1) {
                const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
                hits[count++] = {lanes[lane], static_cast<std::uint32_t>(first + lane),
                                 static_cast<std::uint32_t>(query)};
            }
        }
    }
    return count;
}

template struct Direct<ASSAY_LEVEL, Euclidean>;
template struct Direct<ASSAY_LEVEL, Manhattan>;
template struct Direct<ASSAY_LEVEL, Chebyshev>;
template struct Direct<ASSAY_LEVEL, HalfIntegerPower>;
template struct Direct<ASSAY_LEVEL, Power>;

}  // namespace assay::neighbors

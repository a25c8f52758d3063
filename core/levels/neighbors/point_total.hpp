// The sum S of common/distance.hpp for a vector of rows, in columns known when compiled.
#pragma once

#include <array>
#include <cstddef>

#include "assay/common/distance.hpp"

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

}  // namespace
}  // namespace assay::neighbors

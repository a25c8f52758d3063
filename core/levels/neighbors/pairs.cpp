// assay/neighbors/pairs.hpp, once per CPU level.
#include "assay/neighbors/pairs.hpp"

#include <span>

#include "assay/common/dispatch.hpp"
#include "assay/common/distance.hpp"

namespace assay::neighbors {

template <class Level, class T, class Metric>
void Pairs<Level, T, Metric>::run(const Metric& metric, const T* queries, const T* refs,
                                  std::size_t d, const Pair* pairs, std::size_t n_pairs,
                                  double* sum) noexcept {
    for (std::size_t i = 0; i < n_pairs; ++i) {
        sum[i] = reduced_distance(metric, std::span<const T>(queries + pairs[i].query * d, d),
                                  std::span<const T>(refs + pairs[i].row * d, d));
    }
}

template struct Pairs<ASSAY_LEVEL, float, Euclidean>;
template struct Pairs<ASSAY_LEVEL, float, Manhattan>;
template struct Pairs<ASSAY_LEVEL, float, Chebyshev>;
template struct Pairs<ASSAY_LEVEL, float, HalfIntegerPower>;
template struct Pairs<ASSAY_LEVEL, float, Power>;
template struct Pairs<ASSAY_LEVEL, double, Euclidean>;
template struct Pairs<ASSAY_LEVEL, double, Manhattan>;
template struct Pairs<ASSAY_LEVEL, double, Chebyshev>;
template struct Pairs<ASSAY_LEVEL, double, HalfIntegerPower>;
template struct Pairs<ASSAY_LEVEL, double, Power>;

}  // namespace assay::neighbors

// assay/linear/least_sweep.hpp, once per CPU level.
#include "assay/linear/least_sweep.hpp"

#include "assay/common/dispatch.hpp"

namespace assay::linear {

template <class Level>
double LeastSweep<Level>::run(const double* gram, std::size_t k, double l1, double l2,
                              bool positive, double* w, double* __restrict g) noexcept {
    double largest = 0;  // of the squares
    for (std::size_t j = 0; j < k; ++j) {
        const double* row = gram + j * k;
        const double bend = row[j] + l2;
        if (!(bend > 0)) {
            continue;
        }
        const double z = g[j] + row[j] * w[j];
        double goal = 0;
        if (z > l1) {
            goal = (z - l1) / bend;
        } else if (z < -l1 && !positive) {
            goal = (z + l1) / bend;
        }
        const double step = goal - w[j];
        if (step == 0) {
            continue;
        }
        w[j] = goal;
        for (std::size_t t = 0; t < k; ++t) {
            g[t] -= step * row[t];
        }
        const double square = step * step * bend;
        largest = square > largest ? square : largest;
    }
    return __builtin_sqrt(largest);
}

template struct LeastSweep<ASSAY_LEVEL>;

}  // namespace assay::linear

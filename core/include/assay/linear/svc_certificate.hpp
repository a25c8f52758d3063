// What every solver of the linear SVM reports.
//
//     min_w P(w) = 1/2 ||w||^2 + sum_i C_i loss(y_i w . z_i)
//     max_a D(a) = sum_i a_i - 1/2 ||sum_i a_i y_i z_i||^2 [- sum_i a_i^2 / (4 C_i)]
//
// with 0 <= a_i <= C_i for the hinge, a_i >= 0 and the term in brackets for its square.
// The gap P - D bounds how far P is above the minimum.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::linear {

enum class SvcStop : int { converged, max_iter, stalled };

struct SvcResult {
    double objective = 0;
    double gap = 0;
    std::int64_t n_iter = 0;
    SvcStop stop = SvcStop::max_iter;
};

}  // namespace assay::linear

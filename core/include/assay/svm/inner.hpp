// Sequential minimal optimisation on a block that fits into the cache.
//
//     min 1/2 b'Kb - c'b   s.t.  sum b = const,  low <= b <= high           z = c - K b
//
// Given b, z and the block's kernel matrix; moves weight t from j to i, again and again:
//
//     i = argmax z over b < high;   j = argmax (z_i - z_j)^2 / (K_ii + K_jj - 2 K_ij)
//     over b > low, z_j < z_i;      t = (z_i - z_j) / curvature, cut at the bounds
//
// until max z(up) - min z(low) <= tol or `max_steps` are made. Every step lowers the objective.
// Curvature that is not positive (equal rows, indefinite kernels) is replaced by `tau`.
// Ties go to the smaller index, so that all CPU levels make the same steps.
//
// Needs   `stride` a multiple of inner_pad >= size; row i of the matrix at kernel + i * stride;
//         finite bounds; z, diagonal, up, low with `stride` places (those from `size` on are
//         written here).
// Cost    O(size) per step, no allocation.
// Source  R.-E. Fan, P.-H. Chen, C.-J. Lin (2005), "Working set selection using second order
//         information", WSS 2.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::svm {

inline constexpr std::size_t inner_pad = 16;
inline constexpr double tau = 1e-12;

template <class T>
struct InnerBlock {
    std::size_t size = 0;
    std::size_t stride = 0;
    const T* kernel = nullptr;
    T* z = nullptr;
    T* diagonal = nullptr;
    T* up = nullptr;   // 0 where b may rise, -inf where not
    T* low = nullptr;  // 0 where b may fall, +inf where not
    double* b = nullptr;
    const double* low_bound = nullptr;
    const double* high_bound = nullptr;
};

struct InnerResult {
    std::size_t steps = 0;
    double violation = 0;  // at the end
};

template <class Level, class T>
struct Inner {
    static InnerResult run(InnerBlock<T> block, double tol, std::size_t max_steps) noexcept;
};

}  // namespace assay::svm

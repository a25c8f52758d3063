// Sums of products of columns over one tile of rows, for tables too narrow for BLAS to shine.
//
//     gram += sum_i a_i a_i'          blocks of 8 x 8 on and below the diagonal
//
// A block of the result, 8 columns against 24, stays in registers while the rows pass by. Products
// are added with one rounding (fused), so the bits are the same at every level, and better than
// those of two roundings. A level without such an instruction asks the C library for it, which is
// right but slow: see fast_fma().
//
// Needs   rows of `stride` numbers; stride a multiple of 8, numbers beyond the last column zero;
//         gram: stride^2 numbers. Above the diagonal blocks nothing is written.
// Cost    rows stride (stride + 8) / 2 multiplications, no allocation. A sum over the tile runs in
//         the order of the rows and is then added to `gram`.
#pragma once

#include <cstddef>

namespace assay::linear {

inline constexpr std::size_t gram_lanes = 8;

template <class Level>
struct GramTile {
    static void add(const double* rows, std::size_t n_rows, std::size_t stride,
                    double* gram) noexcept;
};

// Whether the processor multiplies and adds in one instruction (all x86 since 2013, all ARM).
[[nodiscard]] inline bool fast_fma() noexcept {
#ifdef ASSAY_X86
    return __builtin_cpu_supports("fma") != 0;
#elif defined(__FP_FAST_FMA)
    return true;
#else
    return false;
#endif
}

}  // namespace assay::linear

// Kernel values of some rows against packed panels of rows.
//
//     out[q][begin + j] = k(query_q, row_j)      for all rows j of the panels
//
// A panel holds `panel_rows` rows column by column, so that a vector lane is a row and the sum
// over columns runs in order in every lane: in sections of `section` columns, each summed from
// zero. A value depends on its two rows alone (not on their places, the other rows, the CPU
// level or the threads), and k(x, z) and k(z, x) have the same bits. rbf sums squared
// differences: no digits cancel, unlike in |x|^2 + |z|^2 - 2 x.z, and k(x, x) = 1.
//
// Needs   queries of `d` numbers each, panels of d * panel_rows numbers.
// Cost    2 (rbf: 3) operations per column and value and one kernel function per value.
#pragma once

#include <cstddef>

#include "assay/svm/kernel_function.hpp"

namespace assay::svm {

inline constexpr std::size_t panel_rows = 32;
inline constexpr std::size_t section = 64;

template <class Level, class T>
struct Tile {
    static void run(const KernelFunction& k, const T* const* queries, std::size_t n_queries,
                    std::size_t d, const T* panels, std::size_t n_panels, T* const* out,
                    std::size_t begin) noexcept;
};

// The kernel function alone, in place: for dot products that came from elsewhere (sparse rows).
template <class Level, class T>
struct ShapeAll {
    static void run(const KernelFunction& k, T* values, std::size_t n) noexcept;
};

// sum[j] += coef_0 rows[0][j] + coef_1 rows[1][j] + ...   in float64, in this order.
template <class Level, class T>
struct AddRows {
    static void run(const T* const* rows, const double* coef, std::size_t n_rows, std::size_t begin,
                    std::size_t end, double* sum) noexcept;
};

}  // namespace assay::svm

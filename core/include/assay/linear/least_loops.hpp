// The three hot loops of least squares, once per CPU level.
//
//     centred     out[i][j] = scale[i] (x[i][j] - shift[j])             rows to be multiplied
//     correlated  out[j] += sum_i u[i] (x[i][j] - shift[j])             u' (X - shift), a range of
//     columns scores      out[i] = offset + sum_j x[i][j] w[j]                  predictions
//
// Needs   `stride` >= the number of columns; pointers to that many values; `scale` null = all 1.
// Cost    one pass over the values. Every sum has a fixed order, so all levels give
//         the same bits.
#pragma once

#include <cstddef>

namespace assay::linear {

template <class Level, class T>
struct LeastLoops {
    static void centred(const T* x, std::size_t stride, std::size_t n_rows, std::size_t n_cols,
                        const double* shift, const double* scale, double* out,
                        std::size_t out_stride) noexcept;
    static void correlated(const T* x, std::size_t stride, std::size_t n_rows, std::size_t n_cols,
                           const double* shift, const double* u, double* out) noexcept;
    static void scores(const T* x, std::size_t stride, std::size_t n_rows, std::size_t n_cols,
                       const double* w, double offset, double* out,
                       std::size_t out_stride) noexcept;
};

}  // namespace assay::linear

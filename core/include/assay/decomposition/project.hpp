// The rows of a table on some axes.
//
//     out = (X - shift) A'           one row of A per axis
//
// The shift is taken off before the product: beside a large mean nothing cancels. Blocks of
// centred rows live in the cache only, so the table is not copied.
//
// Needs   a BlasScope lives; shift has X.cols values; axes.cols == X.cols; out is
//         X.rows x axes.rows.
// Cost    n d k multiplications. Blocks depend on the shape alone: so do the bits.
#pragma once

#include <cstddef>
#include <span>

#include "assay/common/aligned.hpp"
#include "assay/common/blas.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/decomposition/row_blocks.hpp"

namespace assay::decomposition {

template <class T>
void project(MatrixView<const T> X, std::span<const double> shift, MatrixView<const double> axes,
             MatrixView<double> out, int n_threads) {
    const std::size_t d = X.cols;
    parallel_chunks(X.rows, block_rows(d), n_threads, [&](Range rows) {
        const std::size_t n = rows.end - rows.begin;
        AlignedBuffer<double> centred(n * d);
        for (std::size_t i = 0; i < n; ++i) {
            const T* from = X.data + (rows.begin + i) * d;
            double* to = centred.data() + i * d;
            for (std::size_t j = 0; j < d; ++j) {
                to[j] = static_cast<double>(from[j]) - shift[j];
            }
        }
        gemm(Op::none, Op::transpose, 1.0, MatrixView<const double>{centred.data(), n, d}, axes,
             0.0, out.middle_rows(rows.begin, n));
    });
}

}  // namespace assay::decomposition

// Predictions of a linear model: out[i][t] = offset[t] + sum_j X[i][j] coef[t][j].
//
// Rows are independent and every sum has a fixed order: a row's prediction does not depend
// on the rows beside it, on n_threads or on the CPU level.
//
// Needs   coef.cols == X.cols, offset.size() == coef.rows, out is X.rows x coef.rows.
// Cost    n p t multiplications; one pass over X for each output.
#pragma once

#include <cstddef>
#include <span>

#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/linear/least_loops.hpp"

namespace assay::linear {

template <class T>
void predict_scores(MatrixView<const T> X, MatrixView<const double> coef,
                    std::span<const double> offset, MatrixView<double> out, int n_threads) {
    constexpr std::size_t chunk = 256;
    parallel_chunks(X.rows, chunk, n_threads, [&](Range rows) {
        dispatch([&](auto level) {
            for (std::size_t t = 0; t < coef.rows; ++t) {
                LeastLoops<decltype(level), T>::scores(
                    X.data + rows.begin * X.cols, X.cols, rows.end - rows.begin, X.cols,
                    coef.row(t).data(), offset[t], out.data + rows.begin * out.cols + t, out.cols);
            }
        });
    });
}

}  // namespace assay::linear

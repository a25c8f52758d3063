// Products of one vector with every column: out[j] = sum_i u_i (X_ij - shift_j).
//
// One pass over the table in bands of rows, tiles of columns; a tile's sums stay in the
// nearest cache. Tiles are independent: the bits do not depend on n_threads.
//
// Needs   shift and out have X.cols values, u has X.rows.
// Cost    n p multiplications, one pass over X, no allocation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/linear/least_loops.hpp"

namespace assay::linear {

template <class T>
void correlate(MatrixView<const T> X, std::span<const double> shift, std::span<const double> u,
               std::span<double> out, int n_threads) {
    constexpr std::size_t tile = 1024;
    std::fill(out.begin(), out.end(), 0.0);
    parallel_chunks(X.cols, tile, n_threads, [&](Range columns) {
        dispatch([&](auto level) {
            LeastLoops<decltype(level), T>::correlated(
                X.data + columns.begin, X.cols, X.rows, columns.end - columns.begin,
                shift.data() + columns.begin, u.data(), out.data() + columns.begin);
        });
    });
}

}  // namespace assay::linear

// The mean of each class, weighted.
//
//     W_k = sum of w_i,   m_k = sum of w_i x_i / W_k          over the rows i of class k
//
// Differences from the first row of the class are summed: no digits are lost beside a large
// mean, and a column that is constant in a class has exactly that mean.
//
// Needs   codes in [0, mean.rows), one per row of X; every class has a row, and weight; weights
//         empty or one per row; total has one value per class; mean is classes x X.cols.
// Cost    n d additions, one pass; parts x classes x d numbers of memory.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/decomposition/row_blocks.hpp"

namespace assay::decomposition {

template <class T>
void class_means(MatrixView<const T> X, std::span<const std::int64_t> codes,
                 std::span<const double> weights, std::span<double> total, MatrixView<double> mean,
                 int n_threads) {
    const std::size_t d = X.cols;
    const std::size_t n_classes = mean.rows;
    assert(codes.size() == X.rows && total.size() == n_classes && mean.cols == d);
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::vector<std::size_t> first(n_classes, none);
    for (std::size_t i = 0, found = 0; i < X.rows && found < n_classes; ++i) {
        std::size_t& row = first[static_cast<std::size_t>(codes[i])];
        if (row == none) {
            row = i;
            ++found;
        }
    }
    assert(std::find(first.begin(), first.end(), none) == first.end());  // no class is empty
    const std::size_t width = d + 1;                                     // the weight, and the sums
    const std::size_t parts = part_count(X.rows, n_classes * width);
    std::vector<double> sums(parts * n_classes * width, 0.0);
    parallel_chunks(
        X.rows, std::max<std::size_t>(chunk_count(X.rows, parts), 1), n_threads, [&](Range rows) {
            double* mine = sums.data() + rows.index * n_classes * width;
            for (std::size_t i = rows.begin; i < rows.end; ++i) {
                const auto k = static_cast<std::size_t>(codes[i]);
                const double w = weights.empty() ? 1.0 : weights[i];
                const T* row = X.data + i * d;
                const T* origin = X.data + first[k] * d;
                double* sum = mine + k * width;
                sum[d] += w;
                for (std::size_t j = 0; j < d; ++j) {
                    sum[j] += w * (static_cast<double>(row[j]) - static_cast<double>(origin[j]));
                }
            }
        });
    for (std::size_t part = 1; part < parts; ++part) {
        for (std::size_t t = 0; t < n_classes * width; ++t) {
            sums[t] += sums[part * n_classes * width + t];
        }
    }
    for (std::size_t k = 0; k < n_classes; ++k) {
        total[k] = sums[k * width + d];
        for (std::size_t j = 0; j < d; ++j) {
            mean(k, j) = static_cast<double>(X(first[k], j)) + sums[k * width + j] / total[k];
        }
    }
}

}  // namespace assay::decomposition

// The variance of each column, for a tolerance that does not depend on units.
//
//     v_j = (1 / n) sum_i (x_ij - mean_j)^2
//
// Needs   at least one row; finite values.
// Cost    O(n d) in two passes over fixed chunks; no copy of the rows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"

namespace assay::cluster {

template <class T>
void column_variances(MatrixView<const T> rows, std::span<double> variance, int n_threads) {
    constexpr std::size_t chunk = 4096;
    const std::size_t d = rows.cols;
    const auto n = static_cast<double>(rows.rows);
    std::vector<double> parts(chunk_count(rows.rows, chunk) * d);
    std::vector<double> centre(d);
    const auto add_up = [&](auto&& term, std::span<double> total) {
        parallel_chunks(rows.rows, chunk, n_threads, [&](Range range) {
            double* part = parts.data() + range.index * d;
            for (std::size_t j = 0; j < d; ++j) {
                part[j] = 0;
            }
            for (std::size_t i = range.begin; i < range.end; ++i) {
                const T* row = rows.data + i * d;
                for (std::size_t j = 0; j < d; ++j) {
                    part[j] += term(static_cast<double>(row[j]), j);
                }
            }
        });
        for (std::size_t j = 0; j < d; ++j) {
            double sum = 0;
            for (std::size_t c = j; c < parts.size(); c += d) {
                sum += parts[c];
            }
            total[j] = sum / n;
        }
    };
    add_up([](double x, std::size_t) { return x; }, centre);
    add_up([&](double x, std::size_t j) { return (x - centre[j]) * (x - centre[j]); }, variance);
}

}  // namespace assay::cluster

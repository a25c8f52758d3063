// Weighted sums of kernel values: the prediction of kernel machines with many outputs.
//
//     out[o][j] = bias_o + sum_i coef[o][i] k(v_i, x_j)         v_i of `vectors`, x_j own rows
//
// in ascending i and in float64, so that the value of a row depends neither on the rows around
// it nor on the threads. Every kernel value is computed once for all outputs; groups of vectors
// whose coefficients of an output are all zero are skipped.
//
// Needs   coef and out with one row per output.
// Cost    O(n_x n_v (d + n_outputs)).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/svm/rows.hpp"

namespace assay::svm {

template <class T>
void decide(const KernelFunction& k, const Rows<T>& X, const Rows<T>& vectors,
            MatrixView<const double> coef, std::span<const double> bias, MatrixView<double> out,
            int n_threads) {
    constexpr std::size_t columns = 128;
    constexpr std::size_t group = 32;
    std::vector<std::uint32_t> order(vectors.size());
    std::iota(order.begin(), order.end(), 0U);
    parallel_chunks(X.size(), columns, n_threads, [&](Range range) {
        AlignedBuffer<T> values(group * columns);
        T* places[group] = {};
        const T* rows[group] = {};
        for (std::size_t r = 0; r < group; ++r) {
            rows[r] = places[r] = values.data() + r * columns - range.begin;
        }
        for (std::size_t o = 0; o < coef.rows; ++o) {
            std::fill(out.data + o * out.cols + range.begin, out.data + o * out.cols + range.end,
                      bias[o]);
        }
        for (std::size_t first = 0; first < order.size(); first += group) {
            const std::size_t count = std::min(group, order.size() - first);
            X.fill(k, vectors, RowList(order).subspan(first, count), range.begin, range.end,
                   places);
            for (std::size_t o = 0; o < coef.rows; ++o) {
                const auto part = coef.row(o).subspan(first, count);
                if (std::all_of(part.begin(), part.end(), [](double c) { return c == 0; })) {
                    continue;
                }
                dispatch([&](auto level) {
                    AddRows<decltype(level), T>::run(rows, part.data(), count, range.begin,
                                                     range.end, out.data + o * out.cols);
                });
            }
        }
    });
}

// out[i][j] = k(x_i, z_j), x of `from`, z_j own rows. Of one table with itself (`is_symmetric`)
// half is computed.
template <class T>
void kernel_matrix(const KernelFunction& k, const Rows<T>& from, const Rows<T>& Z,
                   MatrixView<T> out, int n_threads, bool is_symmetric = false) {
    constexpr std::size_t group = 32;
    parallel_chunks(from.size(), group, n_threads, [&](Range range) {
        const std::size_t count = range.end - range.begin;
        const std::size_t width = is_symmetric ? range.end : Z.size();
        const std::size_t room = padded_to_panels(width);
        AlignedBuffer<T> values(count * room);
        std::vector<T*> places(count);
        std::vector<std::uint32_t> which(count);
        for (std::size_t r = 0; r < count; ++r) {
            places[r] = values.data() + r * room;
            which[r] = static_cast<std::uint32_t>(range.begin + r);
        }
        Z.fill(k, from, which, 0, width, places.data());
        for (std::size_t r = 0; r < count; ++r) {
            std::copy_n(places[r], width, out.data + (range.begin + r) * out.cols);
        }
        for (std::size_t j = 0; is_symmetric && j < range.begin; ++j) {
            T* to = out.data + j * out.cols + range.begin;
            for (std::size_t r = 0; r < count; ++r) {
                to[r] = places[r][j];
            }
        }
    });
}

// values = kernel function of squared distances (rbf) or products.
template <class T>
void shape_values(const KernelFunction& k, std::span<const T> from, std::span<T> values,
                  int n_threads) {
    constexpr std::size_t part = std::size_t{1} << 12;  // in the cache between copy and function
    parallel_chunks(values.size(), part, n_threads, [&](Range range) {
        std::copy_n(from.data() + range.begin, range.end - range.begin,
                    values.data() + range.begin);
        dispatch([&](auto level) {
            ShapeAll<decltype(level), T>::run(k, values.data() + range.begin,
                                              range.end - range.begin);
        });
    });
}

}  // namespace assay::svm

// Means and centred products of the columns of a table and its targets, weighted.
//
//     W = sum_i w_i,   m = sum_i w_i z_i / W,   C = sum_i w_i (z_i - m)(z_i - m)'
//
// where z_i is row i of [X, Y]. All that least squares and ridge regression need: for
// every penalty, every target and every intercept, from one pass over the table.
//
// The pass subtracts the mean of a few rows, which is near m, and the small rest is
// taken out at the end: C = S - W d d' with d = m - shift. Where that guess was poor
// (W d_j^2 above half of S_jj: a sorted or a strange column) the pass is repeated with m
// itself. A constant column has exactly zero products. Without `centre` nothing is
// subtracted, and means are written as 0.
//
// Needs   a BlasScope lives; targets.rows == X.rows; weights empty or one per row, not
//         negative and not all zero; mean has X.cols + targets.cols values, product
//         that many squared.
// Cost    n (p + t)^2 / 2 multiplications, one pass (rarely two); see gram.hpp for bits and memory.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/linear/gram.hpp"
#include "assay/linear/least_loops.hpp"

namespace assay::linear {

namespace detail {

// Mean of up to 32 rows, spread over the table; exact for a constant column.
template <class T>
void guess_means(MatrixView<const T> table, std::span<double> mean) {
    constexpr std::size_t n_rows = 32;
    const std::size_t step = std::max<std::size_t>(1, table.rows / n_rows);
    std::size_t used = 0;
    std::fill(mean.begin(), mean.end(), 0.0);
    for (std::size_t i = 0; i < table.rows && used < n_rows; i += step, ++used) {
        for (std::size_t j = 0; j < table.cols; ++j) {
            mean[j] += static_cast<double>(table(i, j)) - static_cast<double>(table(0, j));
        }
    }
    for (std::size_t j = 0; j < table.cols; ++j) {
        mean[j] = static_cast<double>(table(0, j)) + mean[j] / static_cast<double>(used);
    }
}

template <class T>
void centre_rows(MatrixView<const T> table, Range rows, const double* shift, const double* scale,
                 double* out, std::size_t stride) {
    dispatch([&](auto level) {
        LeastLoops<decltype(level), T>::centred(
            table.data + rows.begin * table.cols, table.cols, rows.end - rows.begin, table.cols,
            shift, scale == nullptr ? nullptr : scale + rows.begin, out, stride);
    });
}

}  // namespace detail

// Returns W.
template <class T>
double moments(MatrixView<const T> X, MatrixView<const double> targets,
               std::span<const double> weights, bool centre, std::span<double> mean,
               MatrixView<double> product, int n_threads) {
    const std::size_t p = X.cols;
    const std::size_t width = p + targets.cols;
    assert(X.rows >= 1 && targets.rows == X.rows);
    assert(weights.empty() || weights.size() == X.rows);
    assert(mean.size() >= width && product.rows == width && product.cols == width);
    const std::size_t k = width + (centre ? 1 : 0);  // and a column of ones, for the means
    std::vector<double> root(weights.size());
    std::transform(weights.begin(), weights.end(), root.begin(),
                   [](double w) { return std::sqrt(w); });
    const double* scale = root.empty() ? nullptr : root.data();
    double total = static_cast<double>(X.rows);
    if (!weights.empty()) {
        total = 0;
        for (const double w : weights) {
            total += w;
        }
    }

    std::vector<double> shift(width, 0.0);
    if (centre) {
        detail::guess_means(X, std::span(shift).first(p));
        detail::guess_means(targets, std::span(shift).subspan(p));
    }
    const auto pack = [&](Range rows, double* out, std::size_t stride) {
        detail::centre_rows(X, rows, shift.data(), scale, out, stride);
        detail::centre_rows(targets, rows, shift.data() + p, scale, out + p, stride);
        if (centre) {
            for (std::size_t i = rows.begin; i < rows.end; ++i) {
                out[(i - rows.begin) * stride + width] = scale == nullptr ? 1.0 : scale[i];
            }
        }
    };
    std::vector<double> sums(k * k);
    for (int attempt = 0; attempt < 2; ++attempt) {
        std::fill(sums.begin(), sums.end(), 0.0);
        add_gram(X.rows, k, pack, {sums.data(), k, k}, n_threads);
        if (!centre) {
            break;
        }
        bool poor = false;
        for (std::size_t j = 0; j < width; ++j) {
            const double rest = sums[width * k + j];  // sum of w_i (z_ij - shift_j)
            poor = poor || rest * rest / total > 0.5 * sums[j * k + j];
            mean[j] = shift[j] + rest / total;
        }
        if (!poor || attempt == 1) {
            break;
        }
        std::copy(mean.begin(), mean.end(), shift.begin());
    }
    if (!centre) {
        std::fill(mean.begin(), mean.end(), 0.0);
    }
    for (std::size_t a = 0; a < width; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            double value = sums[a * k + b];
            if (centre) {
                value -= sums[width * k + a] * sums[width * k + b] / total;
                if (a == b) {
                    value = std::max(value, 0.0);
                }
            }
            product(a, b) = product(b, a) = value;
        }
    }
    return total;
}

}  // namespace assay::linear

// Rows of known classes: sums of powers in twice the precision, and log-densities of classes.
//
//     class_sums    count_cj = sum w,  one_cj = sum w x,  two_cj = sum w x^2    rows of class c
//     that
//                                                                             have a value in
//                                                                             column j
//     kernel_sums   out_i = log sum_t w_t e^(-((x_i - p_t) / h)^2 / 2)
//     class_joint   out_ic = base_c + sum_j (constant_cj - curve_cj (x_ij - mean_cj)^2)
//
// A missing value (NaN) adds nothing to either. Sums are pairs high + low of doubles (106 bits), so
// sums over some rows can be taken from sums over all of them, and a variance from two - one^2 /
// count, without loss: relative errors stay near 1e-16 unless the mean is 1e8 deviations from zero
// and far beyond.
//
// Needs   codes in [0, n_classes); weights empty or one per row; values whose squares are finite.
// Cost    about 30 operations per value for the sums, 4 per value and class for the densities.
// Chunks
//         and the order of sums depend on the sizes alone: the same bits for any n_threads, and at
//         every CPU level.
// Source  Dekker, A floating-point technique for extending the available precision, 1971.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/cluster/mixture_class_panel.hpp"
#include "assay/cluster/mixture_panel.hpp"
#include "assay/common/aligned.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"

namespace assay::cluster {

namespace detail {

// high + low += other_high + other_low.
inline void add_pair(double& high, double& low, double other_high, double other_low) noexcept {
    const double sum = high + other_high;
    const double part = sum - high;
    const double error = (high - (sum - part)) + (other_high - part);
    low += error + other_low;
    high = sum + low;
    low -= high - sum;
}

}  // namespace detail

// `sums` has ClassSums::parts x (n_classes * d) numbers.
template <class T>
void class_sums(MatrixView<const T> X, std::span<const std::int32_t> codes,
                std::span<const double> weights, MatrixView<double> sums, int n_threads) {
    const std::size_t size = sums.cols;
    const std::size_t tasks = std::clamp<std::size_t>(X.rows / 4096, 1, 32);
    const std::size_t chunk = (X.rows + tasks - 1) / tasks;
    const std::size_t n_chunks = chunk_count(X.rows, chunk);
    std::vector<double> parts(n_chunks * ClassSums::parts * size);
    parallel_chunks(X.rows, chunk, n_threads, [&](Range rows) {
        dispatch([&](auto level) {
            ClassKernels<decltype(level), T>::add(
                X.data + rows.begin * X.cols, X.cols, X.cols, rows.end - rows.begin,
                codes.data() + rows.begin, weights.empty() ? nullptr : weights.data() + rows.begin,
                parts.data() + rows.index * ClassSums::parts * size, size);
        });
    });
    std::fill_n(sums.data, ClassSums::parts * size, 0.0);
    for (std::size_t t = 0; t < n_chunks; ++t) {
        const double* part = parts.data() + t * ClassSums::parts * size;
        for (std::size_t i = 0; i < size; ++i) {
            sums(0, i) += part[i];
            detail::add_pair(sums(1, i), sums(2, i), part[size + i], part[2 * size + i]);
            detail::add_pair(sums(3, i), sums(4, i), part[3 * size + i], part[4 * size + i]);
        }
    }
}

// `columns` are those of X that the parameters (n_classes x columns) speak of.
template <class T>
void class_joint(MatrixView<const T> X, std::span<const std::int64_t> columns,
                 std::span<const double> base, MatrixView<const double> mean,
                 MatrixView<const double> curve, MatrixView<const double> constant,
                 MatrixView<double> out, int n_threads) {
    const std::size_t d = columns.size();
    const std::size_t k = base.size();
    parallel_chunks(X.rows, 16 * panel_rows, n_threads, [&](Range rows) {
        AlignedBuffer<double> x(std::max<std::size_t>(d, 1) * panel_rows);
        AlignedBuffer<double> f(panel_rows);
        for (std::size_t at = rows.begin; at < rows.end; at += panel_rows) {
            const std::size_t count = std::min(panel_rows, rows.end - at);
            for (std::size_t i = 0; i < panel_rows; ++i) {
                const auto from = X.row(at + std::min(i, count - 1));
                for (std::size_t j = 0; j < d; ++j) {
                    x[j * panel_rows + i] =
                        static_cast<double>(from[static_cast<std::size_t>(columns[j])]);
                }
            }
            for (std::size_t c = 0; c < k; ++c) {
                std::fill_n(f.data(), panel_rows, base[c]);
                dispatch([&](auto level) {
                    ClassKernels<decltype(level), T>::joint(x.data(), d, mean.row(c).data(),
                                                            curve.row(c).data(),
                                                            constant.row(c).data(), f.data());
                });
                for (std::size_t i = 0; i < count; ++i) {
                    out(at + i, c) = f[i];
                }
            }
        }
    });
}

// At least one weight is positive, and width > 0.
inline void kernel_sums(std::span<const double> values, std::span<const double> points,
                        std::span<const double> weights, double width, std::span<double> out,
                        int n_threads) {
    const std::size_t count = (points.size() + panel_lanes - 1) / panel_lanes * panel_lanes;
    AlignedBuffer<double> places(count);
    AlignedBuffer<double> shares(count);
    for (std::size_t i = 0; i < count; ++i) {
        places[i] = points[std::min(i, points.size() - 1)];
        shares[i] = i < points.size() ? weights[i] : 0.0;
    }
    parallel_chunks(values.size(), 64, n_threads, [&](Range rows) {
        dispatch([&](auto level) {
            for (std::size_t i = rows.begin; i < rows.end; ++i) {
                out[i] = KernelSum<decltype(level)>::run(places.data(), shares.data(), count,
                                                         values[i], 1.0 / width);
            }
        });
    });
}

}  // namespace assay::cluster

// The rows of a linear SVM with few columns, packed for vectors.
//
//     z_i = (x_i, constant)        float64, padded with zeros to a multiple of eight
//     dots(w)       f_i = z_i . w
//     combine(r)    g   = sum_i r_i z_i
//     gram(d)       H   = sum_i d_i z_i z_i'         lower triangle
//
// Rows are cut into at most 16 parts that depend on their number only; each has its own
// sums, added in order: the bits depend neither on n_threads nor on the CPU level.
//
// Needs   vectors over columns have `stride` entries, those over rows `rows`.
// Cost    a copy of the table; one pass over it per product, H n stride^2 / 2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/parallel.hpp"
#include "assay/linear/logistic_kernels.hpp"

namespace assay::linear {

class SvcRows {
  public:
    // A constant of 0 means that there is no intercept.
    template <class Rows>
    SvcRows(Rows X, double constant)
        : rows_(X.rows),
          cols_(X.cols + (constant != 0 ? 1 : 0)),
          stride_((cols_ + 7) / 8 * 8),
          data_(rows_ * stride_) {
        std::fill(data_.begin(), data_.end(), 0.0);
        for (std::size_t i = 0; i < rows_; ++i) {
            double* row = data_.data() + i * stride_;
            X.for_each_nonzero(i, [&](std::size_t j, auto x) { row[j] = static_cast<double>(x); });
            if (constant != 0) {
                row[cols_ - 1] = constant;
            }
        }
    }

    // Some columns only; number X.cols is the constant's.
    template <class Rows>
    SvcRows(Rows X, double constant, std::span<const std::size_t> columns)
        : rows_(X.rows),
          cols_(columns.size()),
          stride_((cols_ + 7) / 8 * 8),
          data_(rows_ * stride_) {
        std::vector<std::size_t> place(X.cols + 1, cols_);
        for (std::size_t k = 0; k < cols_; ++k) {
            place[columns[k]] = k;
        }
        std::fill(data_.begin(), data_.end(), 0.0);
        for (std::size_t i = 0; i < rows_; ++i) {
            double* row = data_.data() + i * stride_;
            X.for_each_nonzero(i, [&](std::size_t j, auto x) {
                if (place[j] < cols_) {
                    row[place[j]] = static_cast<double>(x);
                }
            });
            if (place[X.cols] < cols_) {
                row[place[X.cols]] = constant;
            }
        }
    }

    [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::size_t cols() const noexcept { return cols_; }
    [[nodiscard]] std::size_t stride() const noexcept { return stride_; }

    void dots(std::span<const double> w, std::span<double> f, int n_threads) const {
        each_part(n_threads, [&](auto kernels, std::size_t begin, std::size_t end, std::size_t) {
            kernels.dots(row(begin), stride_, end - begin, w.data(), f.data() + begin);
        });
    }

    void combine(std::span<const double> r, std::span<double> g, int n_threads) const {
        std::vector<double> sums(parts() * stride_, 0.0);
        each_part(n_threads, [&](auto kernels, std::size_t begin, std::size_t end, std::size_t k) {
            kernels.add_gradient(row(begin), stride_, end - begin, r.data() + begin,
                                 sums.data() + k * stride_);
        });
        add_parts(sums, g);
    }

    void gram(std::span<const double> d, std::span<double> h, int n_threads) const {
        std::vector<double> sums(parts() * stride_ * stride_, 0.0);
        each_part(n_threads, [&](auto kernels, std::size_t begin, std::size_t end, std::size_t k) {
            AlignedBuffer<double> picked(tile * stride_), scratch(tile * stride_);
            std::vector<double> weight(tile);
            std::size_t count = 0;
            const auto flush = [&] {
                kernels.add_gram(picked.data(), stride_, count, weight.data(),
                                 sums.data() + k * stride_ * stride_, scratch.data());
                count = 0;
            };
            // Rows of weight 0 cost nothing: near the end of a fit most of them are.
            for (std::size_t i = begin; i < end; ++i) {
                if (d[i] != 0) {
                    std::copy_n(row(i), stride_, picked.data() + count * stride_);
                    weight[count] = d[i];
                    if (++count == tile) {
                        flush();
                    }
                }
            }
            if (count > 0) {
                flush();
            }
        });
        add_parts(sums, h);
    }

  private:
    static constexpr std::size_t tile = 64;

    [[nodiscard]] const double* row(std::size_t i) const noexcept {
        return data_.data() + i * stride_;
    }
    [[nodiscard]] std::size_t parts() const noexcept {
        const std::size_t fitting = (std::size_t{1} << 22) / (stride_ * stride_ + 1);
        return std::clamp<std::size_t>(std::min(rows_ / 1024, fitting), 1, 16);
    }

    template <class Body>
    void each_part(int n_threads, Body body) const {
        const std::size_t count = parts();
        const std::size_t chunk = (rows_ + count - 1) / count;
        parallel_chunks(rows_, chunk, n_threads, [&](Range range) {
            dispatch([&](auto level) {
                body(logit::LogisticKernels<decltype(level)>{}, range.begin, range.end,
                     range.index);
            });
        });
    }

    static void add_parts(std::span<const double> sums, std::span<double> total) {
        std::fill(total.begin(), total.end(), 0.0);
        for (std::size_t k = 0; k < sums.size(); ++k) {
            total[k % total.size()] += sums[k];
        }
    }

    std::size_t rows_;
    std::size_t cols_;
    std::size_t stride_;
    AlignedBuffer<double> data_;
};

}  // namespace assay::linear

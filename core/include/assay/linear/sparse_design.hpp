// A sparse table as the solvers of the lasso see it: the members of DenseDesign.
//
// The rows are turned into columns once. Means are never subtracted from the table:
//
//     sum_i w_i (x_ia - m_a)(x_ib - m_b) = sum_i w_i x_ia x_ib - W m_a m_b
//
// with m the weighted means, or zeros, and W the sum of the weights.
//
// Needs   rows as a CsrView wants them; mean has cols() values, weights none or rows().
// Cost    correlate: one pass over the entries. products: the entries of all columns, once
//         for each new one. The bits do not depend on n_threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "assay/common/csr_view.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"

namespace assay::linear {

class SparseDesign {
  public:
    template <class T, class Index>
    SparseDesign(CsrView<const T, Index> X, std::span<const double> mean,
                 std::span<const double> weights, int n_threads)
        : n_(X.rows),
          begin_(X.cols + 1, 0),
          row_(X.values.size()),
          value_(X.values.size()),
          mean_(mean),
          weights_(weights),
          n_threads_(n_threads) {
        total_ = weights.empty() ? static_cast<double>(n_)
                                 : std::accumulate(weights.begin(), weights.end(), 0.0);
        for (const Index j : X.columns) {
            ++begin_[static_cast<std::size_t>(j) + 1];
        }
        std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
        std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
        for (std::size_t i = 0; i < n_; ++i) {
            X.for_each_nonzero(i, [&](std::size_t j, T x) {
                row_[next[j]] = i;
                value_[next[j]++] = static_cast<double>(x);
            });
        }
    }

    [[nodiscard]] std::size_t rows() const noexcept { return n_; }
    [[nodiscard]] std::size_t cols() const noexcept { return begin_.size() - 1; }
    [[nodiscard]] std::span<const double> weights() const noexcept { return weights_; }

    void correlate(std::span<const double> residual, std::span<double> out) const {
        std::vector<double> u(residual.begin(), residual.end());
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            u[i] *= weights_[i];
        }
        const double sum = std::accumulate(u.begin(), u.end(), 0.0);
        constexpr std::size_t chunk = 1024;
        parallel_chunks(cols(), chunk, n_threads_, [&](Range range) {
            for (std::size_t j = range.begin; j < range.end; ++j) {
                out[j] = dot(j, u) - mean_[j] * sum;
            }
        });
    }

    // Products of the last `out.rows` of these columns with all of them.
    void products(std::span<const std::size_t> columns, MatrixView<double> out) const {
        constexpr std::size_t chunk = 8;
        parallel_chunks(out.rows, chunk, n_threads_, [&](Range range) {
            std::vector<double> spread(n_, 0.0);
            for (std::size_t a = range.begin; a < range.end; ++a) {
                const std::size_t j = columns[columns.size() - out.rows + a];
                for (std::size_t t = begin_[j]; t < begin_[j + 1]; ++t) {
                    spread[row_[t]] = weights_.empty() ? value_[t] : weights_[row_[t]] * value_[t];
                }
                for (std::size_t b = 0; b < columns.size(); ++b) {
                    const std::size_t other = columns[b];
                    out(a, b) = dot(other, spread) - total_ * mean_[j] * mean_[other];
                }
                for (std::size_t t = begin_[j]; t < begin_[j + 1]; ++t) {
                    spread[row_[t]] = 0;
                }
            }
        });
    }

    void residual(std::span<const double> y, std::span<const std::size_t> columns,
                  std::span<const double> w, std::span<double> out) const {
        double shift = 0;
        std::copy(y.begin(), y.end(), out.begin());
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const std::size_t j = columns[c];
            shift += mean_[j] * w[c];
            for (std::size_t t = begin_[j]; t < begin_[j + 1]; ++t) {
                out[row_[t]] -= value_[t] * w[c];
            }
        }
        for (double& r : out) {
            r += shift;
        }
    }

    // Some columns and a residual, for sweeps over single columns (column_descent.hpp). The
    // residual is kept as r_i = kept_i + kept_n: a step along a centred column changes all
    // rows by the same number, which stands at the end.
    class Columns {
      public:
        Columns(const SparseDesign& design, std::span<const std::size_t> columns)
            : design_(design), columns_(columns.begin(), columns.end()) {}

        [[nodiscard]] std::vector<double> kept(const SparseDesign&,
                                               std::span<const double> r) const {
            std::vector<double> out(r.begin(), r.end());
            out.push_back(0.0);
            return out;
        }
        [[nodiscard]] double dot(std::size_t c, std::span<const double> kept) const noexcept {
            const std::size_t j = columns_[c];
            double sum = 0;
            design_.each(j,
                         [&](std::size_t i, double x) { sum += x * design_.weight(i) * kept[i]; });
            // The weighted residuals of centred columns and targets add up to zero.
            return sum + kept[design_.n_] * design_.total_ * design_.mean_[j];
        }
        void add(std::size_t c, double step, std::span<double> kept) const noexcept {
            const std::size_t j = columns_[c];
            design_.each(j, [&](std::size_t i, double x) { kept[i] += step * x; });
            kept[design_.n_] -= step * design_.mean_[j];
        }
        [[nodiscard]] double half_square(std::span<const double> kept) const noexcept {
            double sum = 0;
            for (std::size_t i = 0; i < design_.n_; ++i) {
                const double r = kept[i] + kept[design_.n_];
                sum += design_.weight(i) * r * r;
            }
            return sum / 2;
        }
        [[nodiscard]] double square(std::size_t c) const noexcept {
            const std::size_t j = columns_[c];
            double sum = 0;
            design_.each(j, [&](std::size_t i, double x) { sum += design_.weight(i) * x * x; });
            return sum - design_.total_ * design_.mean_[j] * design_.mean_[j];
        }

      private:
        const SparseDesign& design_;
        std::vector<std::size_t> columns_;
    };

  private:
    [[nodiscard]] double weight(std::size_t i) const noexcept {
        return weights_.empty() ? 1.0 : weights_[i];
    }

    template <class Visit>
    void each(std::size_t j, Visit&& visit) const {
        for (std::size_t t = begin_[j]; t < begin_[j + 1]; ++t) {
            visit(row_[t], value_[t]);
        }
    }

    [[nodiscard]] double dot(std::size_t j, std::span<const double> u) const noexcept {
        double sum = 0;
        for (std::size_t t = begin_[j]; t < begin_[j + 1]; ++t) {
            sum += value_[t] * u[row_[t]];
        }
        return sum;
    }

    std::size_t n_;
    double total_ = 0;
    std::vector<std::size_t> begin_;
    std::vector<std::size_t> row_;
    std::vector<double> value_;
    std::span<const double> mean_;
    std::span<const double> weights_;
    int n_threads_;
};

}  // namespace assay::linear

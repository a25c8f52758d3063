// A table as the solvers of the lasso see it: products, never single numbers.
//
//     correlate(r)      sum_i w_i r_i (x_ij - m_j)                       for every column j
//     products(all, k)  sum_i w_i (x_ia - m_a)(x_ib - m_b)               last columns with all
//     residual(y, w)    y_i - sum_j (x_ij - m_j) w_j                     for some columns j
//
// m are the means (zeros without an intercept), w the sample weights (empty: all 1). The
// table is neither copied nor centred; blocks of rows are, into the cache. A SparseDesign
// (sparse_design.hpp) has the same members.
//
// Needs   a BlasScope lives during `products`; sizes fit; column numbers are below cols().
// Cost    correlate: one pass, n p. products: n k (number of columns), and a gather of them.
//         The bits do not depend on n_threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/blas.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/linear/correlate.hpp"
#include "assay/linear/gram.hpp"

namespace assay::linear {

template <class T>
class DenseDesign {
  public:
    DenseDesign(MatrixView<const T> X, std::span<const double> mean,
                std::span<const double> weights, int n_threads)
        : X_(X), mean_(mean), weights_(weights), root_(weights.size()), n_threads_(n_threads) {
        std::transform(weights.begin(), weights.end(), root_.begin(),
                       [](double w) { return std::sqrt(w); });
    }

    [[nodiscard]] std::size_t rows() const noexcept { return X_.rows; }
    [[nodiscard]] std::size_t cols() const noexcept { return X_.cols; }
    [[nodiscard]] std::span<const double> weights() const noexcept { return weights_; }

    void correlate(std::span<const double> residual, std::span<double> out) const {
        if (weights_.empty()) {
            linear::correlate(X_, mean_, residual, out, n_threads_);
            return;
        }
        std::vector<double> u(residual.size());
        std::transform(residual.begin(), residual.end(), weights_.begin(), u.begin(),
                       [](double r, double w) { return r * w; });
        linear::correlate(X_, mean_, u, out, n_threads_);
    }

    // Products of the last `out.rows` of these columns with all of them.
    void products(std::span<const std::size_t> columns, MatrixView<double> out) const {
        const std::size_t k = columns.size();
        const std::size_t fresh = out.rows;
        const std::size_t n = X_.rows;
        const std::size_t parts = std::max<std::size_t>(
            1,
            std::min({detail::max_parts, n / 256, detail::max_partial_numbers / (k * fresh + 1)}));
        const std::size_t per_part = std::max<std::size_t>(1, chunk_count(n, parts));
        const std::size_t block = detail::block_rows(k);
        std::vector<AlignedBuffer<double>> partial(parts);
        std::fill_n(out.data, fresh * k, 0.0);
        parallel_chunks(n, per_part, n_threads_, [&](Range part) {
            AlignedBuffer<double> packed(block * k);
            AlignedBuffer<double> last(block * fresh);
            double* sum = out.data;
            if (part.index > 0) {
                partial[part.index] = AlignedBuffer<double>(fresh * k);
                std::fill(partial[part.index].begin(), partial[part.index].end(), 0.0);
                sum = partial[part.index].data();
            }
            for (std::size_t first = part.begin; first < part.end; first += block) {
                const std::size_t end = std::min(part.end, first + block);
                for (std::size_t i = first; i < end; ++i) {
                    double* to = packed.data() + (i - first) * k;
                    gather(i, columns, to);
                    std::copy_n(to + (k - fresh), fresh, last.data() + (i - first) * fresh);
                }
                gemm(Op::transpose, Op::none, 1.0,
                     MatrixView<const double>{last.data(), end - first, fresh},
                     MatrixView<const double>{packed.data(), end - first, k}, 1.0,
                     MatrixView<double>{sum, fresh, k});
            }
        });
        for (std::size_t p = 1; p < parts; ++p) {
            for (std::size_t t = 0; t < partial[p].size(); ++t) {
                out.data[t] += partial[p][t];
            }
        }
    }

    void residual(std::span<const double> y, std::span<const std::size_t> columns,
                  std::span<const double> w, std::span<double> out) const {
        constexpr std::size_t chunk = 256;
        parallel_chunks(X_.rows, chunk, n_threads_, [&](Range rows) {
            for (std::size_t i = rows.begin; i < rows.end; ++i) {
                const T* row = X_.data + i * X_.cols;
                double sum = 0;
                for (std::size_t c = 0; c < columns.size(); ++c) {
                    const std::size_t j = columns[c];
                    sum += (static_cast<double>(row[j]) - mean_[j]) * w[c];
                }
                out[i] = y[i] - sum;
            }
        });
    }

    // Some columns and a residual, for sweeps over single columns (column_descent.hpp): a
    // copy with one column after the other, centred and times sqrt(w_i).
    class Columns {
      public:
        Columns(const DenseDesign& design, std::span<const std::size_t> columns)
            : n_(design.rows()), packed_(columns.size() * design.rows()) {
            for (std::size_t i = 0; i < n_; ++i) {
                const T* row = design.X_.data + i * design.X_.cols;
                const double scale = design.root_.empty() ? 1.0 : design.root_[i];
                for (std::size_t c = 0; c < columns.size(); ++c) {
                    const double value = static_cast<double>(row[columns[c]]);
                    packed_[c * n_ + i] = scale * (value - design.mean_[columns[c]]);
                }
            }
        }

        // What is kept instead of the residual r, so that sums over rows need no weights.
        [[nodiscard]] std::vector<double> kept(const DenseDesign& design,
                                               std::span<const double> r) const {
            std::vector<double> out(r.begin(), r.end());
            for (std::size_t i = 0; i < design.root_.size(); ++i) {
                out[i] *= design.root_[i];
            }
            return out;
        }
        [[nodiscard]] double dot(std::size_t c, std::span<const double> kept) const {
            double out = 0;
            dispatch([&](auto level) {
                LeastLoops<decltype(level), double>::scores(packed_.data() + c * n_, n_, 1, n_,
                                                            kept.data(), 0.0, &out, 1);
            });
            return out;
        }
        void add(std::size_t c, double step, std::span<double> kept) const noexcept {
            const double* column = packed_.data() + c * n_;
            for (std::size_t i = 0; i < n_; ++i) {
                kept[i] += step * column[i];
            }
        }
        [[nodiscard]] double half_square(std::span<const double> kept) const noexcept {
            double sum = 0;
            for (const double value : kept) {
                sum += value * value;
            }
            return sum / 2;
        }
        [[nodiscard]] double square(std::size_t c) const {
            return dot(c, std::span(packed_.data() + c * n_, n_));
        }

      private:
        std::size_t n_;
        std::vector<double> packed_;
    };

  private:
    void gather(std::size_t i, std::span<const std::size_t> columns, double* to) const noexcept {
        const T* row = X_.data + i * X_.cols;
        const double scale = root_.empty() ? 1.0 : root_[i];
        for (std::size_t c = 0; c < columns.size(); ++c) {
            to[c] = scale * (static_cast<double>(row[columns[c]]) - mean_[columns[c]]);
        }
    }

    MatrixView<const T> X_;
    std::span<const double> mean_;
    std::span<const double> weights_;
    std::vector<double> root_;
    int n_threads_;
};

}  // namespace assay::linear

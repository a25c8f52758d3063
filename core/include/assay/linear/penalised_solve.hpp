// Solve (G + a I) w = b for a symmetric G from a table, knowing how far to trust the result.
//
// With s_j = 1 / sqrt(G_jj + a) the matrix A = S (G + a I) S has a unit diagonal; its Cholesky
// factor and its condition number do not depend on the units of the columns. Columns that are
// zero throughout (G_jj + a = 0) get w_j = 0.
//
// The condition number is estimated in the 1-norm from solves with A (Hager; Higham, Accuracy
// and Stability, algorithm 15.1).
//
// Needs   a BlasScope lives; gram symmetric p x p with both triangles; rhs and the result p x t,
//         row-major; a >= 0.
// Cost    p^3 / 6 multiplications and p^2 (t + 10); p^2 numbers of memory.
// Returns the reciprocal condition number: 0 if A is not positive definite; then nothing is
//         written. About log10(1 / rcond) of 16 digits are lost.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "assay/common/blas.hpp"
#include "assay/common/matrix_view.hpp"

namespace assay::linear {

class ScaledCholesky {
  public:
    // False when the scaled matrix is not positive definite.
    [[nodiscard]] bool factor(MatrixView<const double> gram, double penalty) {
        p_ = gram.rows;
        scale_.assign(p_, 0.0);
        lower_.assign(p_ * p_, 0.0);
        for (std::size_t j = 0; j < p_; ++j) {
            const double diagonal = gram(j, j) + penalty;
            scale_[j] = diagonal > 0 ? 1 / std::sqrt(diagonal) : 0.0;
        }
        norm_ = 0;
        std::vector<double> column(p_, 0.0);
        for (std::size_t i = 0; i < p_; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const double value = scale_[i] * gram(i, j) * scale_[j];
                lower_[i * p_ + j] = value;
                column[i] += std::abs(value);
                column[j] += std::abs(value);
            }
            lower_[i * p_ + i] = 1;
            column[i] += 1;
        }
        for (const double sum : column) {
            norm_ = std::max(norm_, sum);
        }
        return p_ == 0 || potrf(view());
    }

    // b := (G + a I)^-1 b
    void solve(MatrixView<double> b) const {
        multiply_scale(b);
        trsm(Op::none, const_view(), b);
        trsm(Op::transpose, const_view(), b);
        multiply_scale(b);
    }

    // 1 / (|A| |A^-1|) in the 1-norm, |A^-1| estimated from below.
    [[nodiscard]] double reciprocal_condition() const {
        if (p_ == 0) {
            return 1;
        }
        std::vector<double> x(p_, 1 / static_cast<double>(p_));
        std::vector<double> sign(p_);
        double estimate = 0;
        std::size_t last = p_;
        for (int round = 0; round < 5; ++round) {
            solve_scaled(x);
            double norm = 0;
            for (const double value : x) {
                norm += std::abs(value);
            }
            if (round > 0 && norm <= estimate) {
                break;
            }
            estimate = norm;
            for (std::size_t j = 0; j < p_; ++j) {
                sign[j] = x[j] < 0 ? -1 : 1;
            }
            solve_scaled(sign);
            std::size_t top = 0;
            for (std::size_t j = 1; j < p_; ++j) {
                top = std::abs(sign[j]) > std::abs(sign[top]) ? j : top;
            }
            if (top == last) {
                break;
            }
            last = top;
            std::fill(x.begin(), x.end(), 0.0);
            x[top] = 1;
        }
        // Higham's second guess, for matrices made to mislead the first.
        for (std::size_t j = 0; j < p_; ++j) {
            const double slope =
                p_ > 1 ? static_cast<double>(j) / static_cast<double>(p_ - 1) : 0.0;
            x[j] = (j % 2 == 0 ? 1 : -1) * (1 + slope);
        }
        solve_scaled(x);
        double norm = 0;
        for (const double value : x) {
            norm += std::abs(value);
        }
        estimate = std::max(estimate, 2 * norm / (3 * static_cast<double>(p_)));
        return 1 / (norm_ * estimate);
    }

  private:
    [[nodiscard]] MatrixView<double> view() noexcept { return {lower_.data(), p_, p_}; }
    [[nodiscard]] MatrixView<const double> const_view() const noexcept {
        return {lower_.data(), p_, p_};
    }

    void solve_scaled(std::vector<double>& x) const {
        trsm(Op::none, const_view(), MatrixView<double>{x.data(), p_, 1});
        trsm(Op::transpose, const_view(), MatrixView<double>{x.data(), p_, 1});
    }

    void multiply_scale(MatrixView<double> b) const noexcept {
        for (std::size_t i = 0; i < p_; ++i) {
            for (double& value : b.row(i)) {
                value *= scale_[i];
            }
        }
    }

    std::size_t p_ = 0;
    double norm_ = 0;
    std::vector<double> scale_;
    std::vector<double> lower_;
};

[[nodiscard]] inline double penalised_solve(MatrixView<const double> gram,
                                            MatrixView<const double> rhs, double penalty,
                                            MatrixView<double> result) {
    ScaledCholesky cholesky;
    if (!cholesky.factor(gram, penalty)) {
        return 0;
    }
    std::copy_n(rhs.data, rhs.rows * rhs.cols, result.data);
    cholesky.solve(result);
    return cholesky.reciprocal_condition();
}

}  // namespace assay::linear

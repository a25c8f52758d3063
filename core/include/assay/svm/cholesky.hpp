// Cholesky factors of a matrix whose rows leave one by one.
//
//     A = L L'        without row and column k:  the rows of L below k, turned by Givens rotations
//                     until they are triangular again
//
// Needs   A symmetric, positive definite.
// Cost    n^3 / 6 products for the factors, n^2 to solve, 2 (n - k)^2 when row k leaves.
// Source  G. Golub, C. Van Loan, "Matrix Computations", section 6.5.4.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace assay::svm {

class Cholesky {
  public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    // Factors of the n x n matrix with these entries (i, j), j <= i; false if a pivot is not
    // positive.
    template <class Entry>
    [[nodiscard]] bool factor(std::size_t n, const Entry& entry) {
        size_ = stride_ = n;
        a_.resize(n * n);
        for (std::size_t i = 0; i < n; ++i) {
            double* own = row(i);
            for (std::size_t j = 0; j <= i; ++j) {
                const double* other = row(j);
                const double sum = entry(i, j) - dot(own, other, j);
                if (j < i) {
                    own[j] = sum / other[j];
                } else if (sum > 0) {
                    own[i] = std::sqrt(sum);
                } else {
                    return false;
                }
            }
        }
        return true;
    }

    // x := A^-1 x.
    void solve(std::span<double> x) const noexcept {
        assert(x.size() >= size_);
        for (std::size_t i = 0; i < size_; ++i) {
            x[i] = (x[i] - dot(row(i), x.data(), i)) / row(i)[i];
        }
        for (std::size_t i = size_; i-- > 0;) {
            const double* own = row(i);
            x[i] /= own[i];
            for (std::size_t k = 0; k < i; ++k) {
                x[k] -= own[k] * x[i];
            }
        }
    }

    // Factors of the matrix without its row and column k.
    void leave(std::size_t k) {
        assert(k < size_);
        turns_.clear();
        for (std::size_t i = k + 1; i < size_; ++i) {
            double* own = row(i);
            for (std::size_t j = k; j + 1 < i; ++j) {
                const auto [c, s] = turns_[j - k];
                const double first = own[j];
                own[j] = c * first + s * own[j + 1];
                own[j + 1] = c * own[j + 1] - s * first;
            }
            const double length = std::hypot(own[i - 1], own[i]);
            turns_.emplace_back(own[i - 1] / length, own[i] / length);
            own[i - 1] = length;
            std::copy(own, own + i, row(i - 1));
        }
        --size_;
    }

  private:
    [[nodiscard]] double* row(std::size_t i) noexcept { return a_.data() + i * stride_; }
    [[nodiscard]] const double* row(std::size_t i) const noexcept {
        return a_.data() + i * stride_;
    }

    // In eight partial sums, so that the compiler may use vectors; the same order everywhere.
    [[nodiscard]] static double dot(const double* a, const double* b, std::size_t n) noexcept {
        double part[8] = {};
        std::size_t k = 0;
        for (; k + 8 <= n; k += 8) {
            for (std::size_t l = 0; l < 8; ++l) {
                part[l] += a[k + l] * b[k + l];
            }
        }
        double sum = ((part[0] + part[4]) + (part[1] + part[5])) +
                     ((part[2] + part[6]) + (part[3] + part[7]));
        for (; k < n; ++k) {
            sum += a[k] * b[k];
        }
        return sum;
    }

    std::size_t size_ = 0;
    std::size_t stride_ = 0;
    std::vector<double> a_;  // the lower triangle, row by row
    std::vector<std::pair<double, double>> turns_;
};

}  // namespace assay::svm

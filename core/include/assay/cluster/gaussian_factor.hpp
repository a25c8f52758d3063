// The triangular factor of a precision matrix, and what a Gaussian says about missing columns.
//
//     factor    P = S^-1 = U U',   U upper triangular with positive diagonal: U = inverse(L)' of S
//     = L L' regress   B = S_mo S_oo^-1,  C = S_mm - B S_om      mean and covariance of the columns
//     m given o
//
// The loops are plain, in a fixed order: the same bits on every machine, whatever BLAS is there.
// Matrices are row-major. A pivot below d eps S_jj counts as zero: what is left of the column is
// rounding, and its inverse would be noise.
//
// Needs   S symmetric (the lower triangle is read).
// Cost    d^3 / 3 multiplications for the factor, (d - o) o^2 + (d - o)^2 o / 2 to regress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/common/exp_log.hpp"

namespace assay::cluster {

// Writes U (zero below the diagonal); false where S is not positive definite.
[[nodiscard]] inline bool precision_factor(const double* covariance, std::size_t d, double* factor,
                                           std::vector<double>& scratch) {
    scratch.assign(2 * d * d, 0.0);
    double* lower = scratch.data();
    double* inverse = lower + d * d;
    const double least = static_cast<double>(d) * std::numeric_limits<double>::epsilon();
    for (std::size_t j = 0; j < d; ++j) {
        for (std::size_t i = 0; i <= j; ++i) {
            double sum = covariance[j * d + i];
            for (std::size_t t = 0; t < i; ++t) {
                sum -= lower[j * d + t] * lower[i * d + t];
            }
            if (i < j) {
                lower[j * d + i] = sum / lower[i * d + i];
            } else {
                if (!(sum > least * covariance[j * d + j]) ||
                    sum > std::numeric_limits<double>::max()) {
                    return false;
                }
                lower[j * d + j] = __builtin_sqrt(sum);
            }
        }
    }
    for (std::size_t j = 0; j < d; ++j) {
        // Row j of the inverse: -(L_j,0..j-1 inverse) / L_jj, in the order of t.
        const double pivot = lower[j * d + j];
        double* row = inverse + j * d;
        for (std::size_t t = 0; t < j; ++t) {
            const double weight = lower[j * d + t];
            for (std::size_t i = 0; i <= t; ++i) {
                row[i] -= weight * inverse[t * d + i];
            }
        }
        for (std::size_t i = 0; i < j; ++i) {
            row[i] /= pivot;
        }
        row[j] = 1.0 / pivot;
    }
    for (std::size_t i = 0; i < d; ++i) {
        for (std::size_t j = 0; j < d; ++j) {
            factor[i * d + j] = j < i ? 0.0 : inverse[j * d + i];
        }
    }
    return true;
}

// Sum of the logarithms of `count` positive numbers, `stride` apart.
[[nodiscard]] inline double sum_of_logs(const double* values, std::size_t count,
                                        std::size_t stride) noexcept {
    double sum = 0;
    for (std::size_t j = 0; j < count; ++j) {
        sum += log_of<double, std::uint64_t>(values[j * stride]);
    }
    return sum;
}

// `seen` and `unseen` divide the d columns; `factor` belongs to S_oo. Writes slope (m x o) and
// rest (m x m).
inline void regress(const double* covariance, std::size_t d, std::span<const std::size_t> seen,
                    std::span<const std::size_t> unseen, const double* factor, double* slope,
                    double* rest, std::vector<double>& scratch) {
    const std::size_t o = seen.size();
    const std::size_t m = unseen.size();
    scratch.assign(m * o, 0.0);
    double* whitened = scratch.data();  // S_mo U
    for (std::size_t a = 0; a < m; ++a) {
        for (std::size_t i = 0; i < o; ++i) {
            const double value = covariance[unseen[a] * d + seen[i]];
            for (std::size_t j = i; j < o; ++j) {
                whitened[a * o + j] += value * factor[i * o + j];
            }
        }
    }
    for (std::size_t a = 0; a < m; ++a) {
        for (std::size_t i = 0; i < o; ++i) {
            double sum = 0;
            for (std::size_t j = i; j < o; ++j) {
                sum += whitened[a * o + j] * factor[i * o + j];
            }
            slope[a * o + i] = sum;
        }
        for (std::size_t b = 0; b <= a; ++b) {
            double sum = covariance[unseen[a] * d + unseen[b]];
            for (std::size_t j = 0; j < o; ++j) {
                sum -= whitened[a * o + j] * whitened[b * o + j];
            }
            rest[a * m + b] = rest[b * m + a] = sum;
        }
    }
}

}  // namespace assay::cluster

// Newton steps on the free variables of a block, for kernels so ill-conditioned that steps on
// pairs crawl (unscaled columns, large C).
//
//     K_FF d + l 1 = z_F,  sum d = 0          F = variables strictly between their bounds
//
// by Cholesky factors of K_FF + ridge; then b += t d with t from the line search, cut at the
// first bound; that variable leaves F and the next step follows, until none is cut. Every step
// lowers the objective.
//
// Needs   b, z, bounds and the matrix of an InnerBlock.
// Cost    O(|F|^3) per step, in float64; at most `newton_work` products in all.
// Source  T. Joachims (1998), "Making large-scale SVM learning practical": larger working sets;
//         the active-set step itself is textbook (J. Nocedal, S. Wright, ch. 16).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "assay/svm/inner.hpp"

namespace assay::svm {

inline constexpr double newton_work = 1e8;

namespace detail {

// In eight partial sums, so that the compiler may use vectors; the same order everywhere.
[[nodiscard]] inline double dot(const double* a, const double* b, std::size_t n) noexcept {
    double part[8] = {};
    std::size_t k = 0;
    for (; k + 8 <= n; k += 8) {
        for (std::size_t l = 0; l < 8; ++l) {
            part[l] += a[k + l] * b[k + l];
        }
    }
    double sum =
        ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
    for (; k < n; ++k) {
        sum += a[k] * b[k];
    }
    return sum;
}

// Lower Cholesky factor in place, row-major; false if a pivot is not positive.
[[nodiscard]] inline bool cholesky(std::vector<double>& a, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n; ++i) {
        double* own = a.data() + i * n;
        for (std::size_t j = 0; j <= i; ++j) {
            const double* other = a.data() + j * n;
            const double sum = own[j] - dot(own, other, j);
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

inline void cholesky_solve(const std::vector<double>& a, std::size_t n,
                           std::span<double> x) noexcept {
    for (std::size_t i = 0; i < n; ++i) {
        x[i] = (x[i] - dot(a.data() + i * n, x.data(), i)) / a[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        x[i] /= a[i * n + i];
        for (std::size_t k = 0; k < i; ++k) {
            x[k] -= a[i * n + k] * x[i];
        }
    }
}

}  // namespace detail

// Changes b and z; returns the number of steps.
template <class T>
std::size_t newton_steps(const InnerBlock<T>& block) {
    std::vector<double> z(block.z, block.z + block.size);
    std::vector<std::size_t> free;
    std::vector<double> factor;
    std::vector<double> way;
    std::vector<double> ones;
    std::size_t steps = 0;
    for (double work = 0; work < newton_work;) {
        free.clear();
        for (std::size_t v = 0; v < block.size; ++v) {
            if (block.b[v] > block.low_bound[v] && block.b[v] < block.high_bound[v]) {
                free.push_back(v);
            }
        }
        const std::size_t n = free.size();
        if (n < 2) {
            break;
        }
        work += static_cast<double>(n * n) * (static_cast<double>(n) / 6 + 1);
        double largest = 0;
        for (const std::size_t v : free) {
            const double own = static_cast<double>(block.kernel[v * block.stride + v]);
            largest = std::max(largest, std::abs(own));
        }
        double ridge = 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest;
        bool factored = false;
        for (int attempt = 0; attempt < 4 && !factored; ++attempt, ridge *= 100) {
            factor.resize(n * n);
            for (std::size_t i = 0; i < n; ++i) {
                const T* row = block.kernel + free[i] * block.stride;
                for (std::size_t j = 0; j <= i; ++j) {
                    factor[i * n + j] = static_cast<double>(row[free[j]]);
                }
                factor[i * n + i] += ridge;
            }
            factored = detail::cholesky(factor, n);
        }
        if (!factored) {
            break;
        }
        way.resize(n);
        ones.assign(n, 1.0);
        for (std::size_t i = 0; i < n; ++i) {
            way[i] = z[free[i]];
        }
        detail::cholesky_solve(factor, n, way);
        detail::cholesky_solve(factor, n, ones);
        double sum_way = 0;
        double sum_ones = 0;
        for (std::size_t i = 0; i < n; ++i) {
            sum_way += way[i];
            sum_ones += ones[i];
        }
        if (!(std::abs(sum_ones) > 0)) {
            break;
        }
        double rest = 0;
        for (std::size_t i = 0; i < n; ++i) {
            way[i] -= sum_way / sum_ones * ones[i];
            rest += way[i];
        }
        // A factor close to singular leaves a sum; without this the steps would drift off sum b.
        for (std::size_t i = 0; i < n; ++i) {
            way[i] -= rest / static_cast<double>(n);
        }
        std::vector<double> change(block.size);
        double slope = 0;
        double curvature = 0;
        double room = std::numeric_limits<double>::infinity();
        std::size_t first = n;
        for (std::size_t i = 0; i < n; ++i) {
            const T* row = block.kernel + free[i] * block.stride;
            for (std::size_t v = 0; v < block.size; ++v) {
                change[v] += way[i] * static_cast<double>(row[v]);
            }
            slope += way[i] * z[free[i]];
            const std::size_t v = free[i];
            const double bound = way[i] > 0 ? block.high_bound[v] : block.low_bound[v];
            const double until = way[i] == 0 ? std::numeric_limits<double>::infinity()
                                             : (bound - block.b[v]) / way[i];
            if (until < room) {
                room = until;
                first = i;
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            curvature += way[i] * change[free[i]];
        }
        // Not a number, or downhill nowhere: the factors were too poor to use.
        if (!(slope > 0) || !std::isfinite(slope)) {
            break;
        }
        const double wanted =
            curvature > 0 ? slope / curvature : std::numeric_limits<double>::infinity();
        const bool cut = room <= wanted;
        const double step = cut ? room : wanted;
        if (!std::isfinite(step)) {
            break;
        }
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t v = free[i];
            block.b[v] =
                std::clamp(block.b[v] + step * way[i], block.low_bound[v], block.high_bound[v]);
        }
        if (cut) {
            const std::size_t v = free[first];
            block.b[v] = way[first] > 0 ? block.high_bound[v] : block.low_bound[v];
        }
        for (std::size_t v = 0; v < block.size; ++v) {
            z[v] -= step * change[v];
        }
        ++steps;
        if (!cut) {
            break;
        }
    }
    for (std::size_t v = 0; v < block.size; ++v) {
        block.z[v] = static_cast<T>(z[v]);
    }
    return steps;
}

}  // namespace assay::svm

// Newton steps on the free variables of a block, for kernels so ill-conditioned that steps on
// pairs crawl (unscaled columns, large C).
//
//     K_FF d + l 1 = z_F,  sum d = 0          F = variables strictly between their bounds
//
// by Cholesky factors of K_FF + ridge; then b += t d with t from the line search, cut at the
// first bound; that variable leaves F, the factors are brought up to date, and the next step
// follows, until none is cut. Every step lowers the objective.
//
// Needs   b, z, bounds and the matrix of an InnerBlock.
// Cost    |F|^3 / 6 products for the factors, |F| (2 |F| + size) per step, in float64.
// Source  T. Joachims (1998), "Making large-scale SVM learning practical": larger working sets;
//         the active-set step itself is textbook (J. Nocedal, S. Wright, ch. 16).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "assay/svm/cholesky.hpp"
#include "assay/svm/inner.hpp"

namespace assay::svm {

struct NewtonResult {
    std::size_t steps = 0;
    bool done = false;  // whether the last step met no bound
    double work = 0;    // products that were spent
};

template <class T>
class Newton {
  public:
    explicit Newton(const InnerBlock<T>& block) : block_(block) {}

    // Changes b and z; nothing, if the first step would take more than `most` products.
    NewtonResult run(double most, std::size_t max_steps) {
        NewtonResult result;
        for (std::size_t v = 0; v < block_.size; ++v) {
            if (block_.b[v] > block_.low_bound[v] && block_.b[v] < block_.high_bound[v]) {
                free_.push_back(v);
            }
        }
        const auto n = static_cast<double>(free_.size());
        const double each = n * (2 * n + static_cast<double>(block_.size));
        const double factors = n * n * n / 6;
        if (factors + each > most) {
            return result;
        }
        result.work = factors;
        if (!factored()) {
            return result;
        }
        z_.assign(block_.z, block_.z + block_.size);
        for (; !result.done && result.steps < max_steps && free_.size() >= 2 && direction();
             result.work += each) {
            const std::size_t cut = step();
            if (cut > free_.size()) {
                break;
            }
            ++result.steps;
            result.done = cut == free_.size();
            if (!result.done) {
                factor_.leave(cut);
                free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(cut));
            }
        }
        for (std::size_t v = 0; v < block_.size; ++v) {
            block_.z[v] = static_cast<T>(z_[v]);
        }
        return result;
    }

  private:
    [[nodiscard]] double kernel(std::size_t v, std::size_t w) const noexcept {
        return static_cast<double>(block_.kernel[v * block_.stride + w]);
    }

    [[nodiscard]] bool factored() {
        double largest = 0;
        for (const std::size_t v : free_) {
            largest = std::max(largest, std::abs(kernel(v, v)));
        }
        double ridge = 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest;
        for (int attempt = 0; attempt < 4; ++attempt, ridge *= 100) {
            if (factor_.factor(free_.size(), [&](std::size_t i, std::size_t j) {
                    return kernel(free_[i], free_[j]) + (i == j ? ridge : 0.0);
                })) {
                return true;
            }
        }
        return false;
    }

    // Where to go; false if the factors are too poor to tell.
    [[nodiscard]] bool direction() {
        const std::size_t n = free_.size();
        way_.resize(n);
        ones_.assign(n, 1.0);
        for (std::size_t i = 0; i < n; ++i) {
            way_[i] = z_[free_[i]];
        }
        factor_.solve(way_);
        factor_.solve(ones_);
        double sum_way = 0;
        double sum_ones = 0;
        for (std::size_t i = 0; i < n; ++i) {
            sum_way += way_[i];
            sum_ones += ones_[i];
        }
        if (!(std::abs(sum_ones) > 0)) {
            return false;
        }
        double rest = 0;
        for (std::size_t i = 0; i < n; ++i) {
            way_[i] -= sum_way / sum_ones * ones_[i];
            rest += way_[i];
        }
        // Factors close to singular leave a sum; without this the steps would drift off sum b.
        for (std::size_t i = 0; i < n; ++i) {
            way_[i] -= rest / static_cast<double>(n);
        }
        return true;
    }

    // Goes that way; returns which free variable met its bound, their number if none did, and more
    // if there is no way down.
    std::size_t step() {
        const std::size_t n = free_.size();
        change_.assign(block_.size, 0.0);
        double slope = 0;
        double curvature = 0;
        double size = 0;
        double room = std::numeric_limits<double>::infinity();
        std::size_t first = n;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t v = free_[i];
            const T* row = block_.kernel + v * block_.stride;
            for (std::size_t w = 0; w < block_.size; ++w) {
                change_[w] += way_[i] * static_cast<double>(row[w]);
            }
            slope += way_[i] * z_[v];
            size += way_[i] * way_[i] * std::abs(kernel(v, v));
            const double bound = way_[i] > 0 ? block_.high_bound[v] : block_.low_bound[v];
            const double until = way_[i] == 0 ? std::numeric_limits<double>::infinity()
                                              : (bound - block_.b[v]) / way_[i];
            if (until < room) {
                room = until;
                first = i;
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            curvature += way_[i] * change_[free_[i]];
        }
        if (!(slope > 0) || !std::isfinite(slope)) {
            return n + 1;
        }
        const double wanted =
            curvature > 0 ? slope / curvature : std::numeric_limits<double>::infinity();
        const bool cut = room <= wanted;
        const double length = cut ? room : wanted;
        // What is gained must be more than what the rounding of the kernel values, each by itself,
        // makes of it.
        const double rounding = size * std::numeric_limits<T>::epsilon();
        if (!std::isfinite(length) || slope <= 2 * length * rounding) {
            return n + 1;
        }
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t v = free_[i];
            block_.b[v] = std::clamp(block_.b[v] + length * way_[i], block_.low_bound[v],
                                     block_.high_bound[v]);
        }
        if (cut) {
            const std::size_t v = free_[first];
            block_.b[v] = way_[first] > 0 ? block_.high_bound[v] : block_.low_bound[v];
        }
        for (std::size_t v = 0; v < block_.size; ++v) {
            z_[v] -= length * change_[v];
        }
        return cut ? first : n;
    }

    const InnerBlock<T> block_;
    std::vector<std::size_t> free_;
    Cholesky factor_;  // of the free variables
    std::vector<double> z_;
    std::vector<double> way_;
    std::vector<double> ones_;
    std::vector<double> change_;
};

}  // namespace assay::svm

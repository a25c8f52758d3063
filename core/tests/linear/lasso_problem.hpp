// A small lasso problem by its definition: objective and conditions of a minimum.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "small_tables.hpp"

namespace lasso_problem {

struct Problem {
    std::size_t n;
    std::size_t p;
    std::vector<double> x;     // row-major
    std::vector<double> y;     // centred
    std::vector<double> v;     // weights, empty: all 1
    std::vector<double> mean;  // of the columns, weighted

    [[nodiscard]] double weight(std::size_t i) const { return v.empty() ? 1.0 : v[i]; }
    [[nodiscard]] double at(std::size_t i, std::size_t j) const { return x[i * p + j] - mean[j]; }
    [[nodiscard]] std::vector<double> residual(const std::vector<double>& w) const {
        std::vector<double> r = y;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < p; ++j) {
                r[i] -= at(i, j) * w[j];
            }
        }
        return r;
    }
    [[nodiscard]] std::vector<double> correlations(const std::vector<double>& r) const {
        std::vector<double> c(p, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < p; ++j) {
                c[j] += weight(i) * r[i] * at(i, j);
            }
        }
        return c;
    }
    // How far w is from the conditions of a minimum: 0 at it.
    [[nodiscard]] double violation(const std::vector<double>& w, double l1, double l2,
                                   bool positive) const {
        const auto c = correlations(residual(w));
        double worst = 0;
        for (std::size_t j = 0; j < p; ++j) {
            const double slope = c[j] - l2 * w[j];
            if (w[j] != 0) {
                worst = std::max(worst, std::abs(slope - std::copysign(l1, w[j])));
            } else {
                worst = std::max(worst, (positive ? slope : std::abs(slope)) - l1);
            }
            if (positive) {
                worst = std::max(worst, -w[j]);
            }
        }
        return worst;
    }
    [[nodiscard]] double largest() const {
        double top = 0;
        for (const double c : correlations(y)) {
            top = std::max(top, std::abs(c));
        }
        return top;
    }
};

// Few columns matter; a share of the entries is zero.
inline Problem make(std::size_t n, std::size_t p, std::uint64_t key, bool weighted,
                    bool centred = true, double zeros = 0.0) {
    Problem out{n,
                p,
                small_tables::numbers<double>(n * p, key, centred ? 0.5 : 0.0),
                small_tables::numbers<double>(n, key + 1),
                {},
                std::vector<double>(p, 0.0)};
    assay::RandomStream stream(5, key);
    for (double& value : out.x) {
        value = stream.uniform() < zeros ? 0.0 : value;
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < std::min<std::size_t>(p, 4); ++j) {
            out.y[i] += (static_cast<double>(j) - 1.5) * out.x[i * p + j];
        }
    }
    if (weighted) {
        out.v = small_tables::numbers<double>(n, key + 2, 1.5);
    }
    if (centred) {
        double total = 0;
        double mean_y = 0;
        for (std::size_t i = 0; i < n; ++i) {
            total += out.weight(i);
            mean_y += out.weight(i) * out.y[i];
            for (std::size_t j = 0; j < p; ++j) {
                out.mean[j] += out.weight(i) * out.x[i * p + j];
            }
        }
        for (double& m : out.mean) {
            m /= total;
        }
        for (double& value : out.y) {
            value -= mean_y / total;
        }
    }
    return out;
}

}  // namespace lasso_problem

// The linear SVM with hinge loss and many columns, by dual coordinate descent.
//
//     min_a 1/2 ||sum_i a_i y_i z_i||^2 - sum_i a_i,    0 <= a_i <= C_i
//
// w = sum_i a_i y_i z_i is kept; one step minimises over one a_i exactly and costs its row.
// Rows come in random order; those that sit firmly at a bound are left out until the rest
// has converged. The run ends when the duality gap is below `tol` times the objective.
//
// Needs   y in {-1, +1}, C_i > 0 (leave other rows out); w of X.cols (+ 1) entries.
// Cost    one pass over the active rows per iteration; linear convergence.
// Source  Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008, algorithm 3.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/linear/row_products.hpp"
#include "assay/linear/svc_certificate.hpp"

namespace assay::linear {

// A constant of 0 means that there is no intercept.
template <class Rows>
[[nodiscard]] SvcResult solve_dual(Rows X, double constant, std::span<const double> y,
                                   std::span<const double> C, double tol, std::int64_t max_iter,
                                   RandomStream stream, std::span<double> w) {
    constexpr double infinite = 1e300;
    const std::size_t n = X.rows;
    assert(y.size() == n && C.size() == n && w.size() == X.cols + (constant != 0 ? 1 : 0));
    const auto weights = w.first(X.cols);
    double none = 0;
    double& last = constant != 0 ? w[X.cols] : none;
    std::vector<double> a(n, 0.0), square(n, constant * constant), f(n);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = 0; i < n; ++i) {
        X.for_each_nonzero(i, [&](std::size_t, auto x) {
            square[i] += static_cast<double>(x) * static_cast<double>(x);
        });
    }
    std::fill(w.begin(), w.end(), 0.0);
    SvcResult result;
    std::size_t active = n;
    double highest = infinite, lowest = -infinite;  // projected gradients of the pass before
    double eps = 0.1;
    const auto judge = [&] {
        double norm = last * last, dual = 0;
        for (const double x : weights) {
            norm += x * x;
        }
        scores(X, std::span<const double>(weights), constant * last, std::span<double>(f));
        result.objective = 0.5 * norm;
        for (std::size_t i = 0; i < n; ++i) {
            result.objective += C[i] * std::max(0.0, 1 - y[i] * f[i]);
            dual += a[i];
        }
        result.gap = result.objective - (dual - 0.5 * norm);
        return result.gap <= tol * result.objective;
    };
    while (result.n_iter < max_iter) {
        double most = -infinite, least = infinite;
        stream.shuffle(std::span<std::size_t>(order).first(active));
        for (std::size_t k = 0; k < active; ++k) {
            const std::size_t i = order[k];
            const double score = dot(X, i, std::span<const double>(weights)) + constant * last;
            const double slope = y[i] * score - 1;
            double projected = slope;
            if (a[i] == 0) {
                if (slope > highest) {
                    std::swap(order[k--], order[--active]);
                    continue;
                }
                projected = std::min(slope, 0.0);
            } else if (a[i] == C[i]) {
                if (slope < lowest) {
                    std::swap(order[k--], order[--active]);
                    continue;
                }
                projected = std::max(slope, 0.0);
            }
            most = std::max(most, projected);
            least = std::min(least, projected);
            if (std::abs(projected) > 1e-12) {
                const double old = a[i];
                assert(0 <= old && old <= C[i]);
                a[i] = square[i] > 0 ? std::clamp(old - slope / square[i], 0.0, C[i]) : C[i];
                const double c = (a[i] - old) * y[i];
                add_row(X, i, c, weights);
                last += c * constant;
            }
        }
        ++result.n_iter;
        const bool settled = active == 0 || most - least <= eps;
        if (settled && active < n) {  // look at all rows again
            active = n;
            highest = infinite;
            lowest = -infinite;
            continue;
        }
        if (settled) {
            if (judge()) {
                result.stop = SvcStop::converged;
                return result;
            }
            eps = std::max(0.2 * eps, 1e-12);
        }
        highest = most > 0 ? most : infinite;
        lowest = least < 0 ? least : -infinite;
    }
    if (judge()) {
        result.stop = SvcStop::converged;
    }
    return result;
}

}  // namespace assay::linear

// The sparse linear SVM: squared hinge loss and an L1 penalty.
//
//     min_w ||w||_1 + sum_i C_i max(0, 1 - y_i w . z_i)^2
//
// Proximal Newton steps on a working set of columns: the quadratic model with its penalty is
// solved exactly (l1_quadratic.hpp), the step halved until the objective falls. When the
// working set has converged, the columns that violate their condition |g_j| <= 1 most join it.
//
// The certificate is the duality gap over all columns, with a_i = 2 C_i max(0, 1 - y_i w . z_i)
// scaled by t so that t |sum_i a_i y_i z_ij| <= 1 for all j:
//     D = t sum_i a_i - t^2 sum_i a_i^2 / (4 C_i)
//
// Needs   y in {-1, +1}, C_i >= 0; w of X.cols (+ 1) entries; a BlasScope lives.
// Cost    per step n S^2 / 2 for a working set of S columns, and one pass over all columns
//         per working set.
// Source  Lee, Sun and Saunders, SIAM J. Optimization 24 (2014); Johnson and Guestrin,
//         Blitz, ICML 2015, for working sets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "assay/linear/l1_quadratic.hpp"
#include "assay/linear/row_products.hpp"
#include "assay/linear/svc_certificate.hpp"
#include "assay/linear/svc_rows.hpp"

namespace assay::linear {

namespace detail {

// Slacks, multipliers and objective of scores f.
struct SparseState {
    std::vector<double> f, slack, pull;  // pull_i = -a_i y_i
    double linear = 0;                   // sum_i a_i
    double square = 0;                   // sum_i a_i^2 / (4 C_i), which is the loss
    double size = 0;                     // ||w||_1

    explicit SparseState(std::size_t n) : f(n), slack(n), pull(n) {}

    void set(std::span<const double> y, std::span<const double> C, std::span<const double> w) {
        linear = square = size = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            slack[i] = std::max(0.0, 1 - y[i] * f[i]);
            const double a = 2 * C[i] * slack[i];
            pull[i] = -a * y[i];
            linear += a;
            square += 0.5 * a * slack[i];
        }
        for (const double x : w) {
            size += std::abs(x);
        }
    }
    [[nodiscard]] double objective() const noexcept { return size + square; }
    // D at the best feasible multiple of a; g is the gradient of the loss.
    [[nodiscard]] double dual(std::span<const double> g) const noexcept {
        double most = 0;
        for (const double x : g) {
            most = std::max(most, std::abs(x));
        }
        const double best = square > 0 ? 0.5 * linear / square : 0;
        const double t = most > 0 ? std::min(best, 1 / most) : best;
        return t * linear - t * t * square;
    }
};

// Proximal Newton on packed columns; w starts at what is given. Returns the steps taken.
inline std::int64_t newton_sparse(const SvcRows& rows, std::span<const double> y,
                                  std::span<const double> C, double tol, std::int64_t max_iter,
                                  std::span<double> w, SparseState& state, int n_threads) {
    const std::size_t n = rows.cols();
    const std::size_t width = rows.stride();
    std::vector<double> g(width), h(width * width), model(n * n), next(n), trial(width),
        bend(rows.rows());
    const std::vector<double> ones(n, 1.0);
    rows.dots(w, state.f, n_threads);
    state.set(y, C, w);
    std::int64_t done = 0;
    while (done < max_iter) {
        rows.combine(state.pull, g, n_threads);
        const double objective = state.objective();
        if (objective - state.dual(g) <= tol * objective) {
            break;
        }
        for (std::size_t i = 0; i < bend.size(); ++i) {
            bend[i] = state.slack[i] > 0 ? 2 * C[i] : 0;
        }
        rows.gram(bend, h, n_threads);
        double trace = 0;
        for (std::size_t j = 0; j < n; ++j) {
            trace += h[j * width + j];
        }
        // Fewer rows inside the margin than columns: the model needs a floor.
        const double floor = 1e-9 * trace / static_cast<double>(n) + 1e-300;
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t k = 0; k < j; ++k) {
                model[j * n + k] = model[k * n + j] = h[j * width + k];
            }
            model[j * n + j] = h[j * width + j] + floor;
        }
        std::copy_n(w.begin(), n, next.begin());
        logit::L1Quadratic(MatrixView<const double>{model.data(), n, n},
                           std::span<const double>(g).first(n), ones)
            .solve(w.first(n), next);
        double slope = 0;
        for (std::size_t j = 0; j < n; ++j) {
            slope += g[j] * (next[j] - w[j]) + std::abs(next[j]) - std::abs(w[j]);
        }
        bool fell = false;
        for (double t = 1; t > 1e-9 && slope < 0; t *= 0.5) {
            for (std::size_t j = 0; j < n; ++j) {
                trial[j] = t == 1 ? next[j] : w[j] + t * (next[j] - w[j]);
            }
            rows.dots(trial, state.f, n_threads);
            state.set(y, C, trial);
            if (state.objective() <= objective + 1e-4 * t * slope &&
                state.objective() < objective) {
                fell = true;
                break;
            }
        }
        if (!fell) {  // at the precision of the objective
            rows.dots(w, state.f, n_threads);
            state.set(y, C, w);
            break;
        }
        std::copy(trial.begin(), trial.end(), w.begin());
        ++done;
    }
    return done;
}

}  // namespace detail

// `packed`: all columns, if they are few; else null. A constant of 0: no intercept.
template <class Rows>
[[nodiscard]] SvcResult solve_sparse(Rows X, const SvcRows* packed, double constant,
                                     std::span<const double> y, std::span<const double> C,
                                     double tol, std::int64_t max_iter, std::span<double> w,
                                     int n_threads) {
    const std::size_t width = X.cols + (constant != 0 ? 1 : 0);
    SvcResult result;
    detail::SparseState state(X.rows);
    std::fill(w.begin(), w.end(), 0.0);
    std::vector<double> g(packed != nullptr ? packed->stride() : width);
    const auto gradient = [&] {
        if (packed != nullptr) {
            packed->combine(state.pull, g, n_threads);
            return;
        }
        std::fill(g.begin(), g.end(), 0.0);
        add_products(X, std::span<const double>(state.pull), std::span<double>(g).first(X.cols));
        if (constant != 0) {
            g[X.cols] = constant * std::accumulate(state.pull.begin(), state.pull.end(), 0.0);
        }
    };
    const auto judge = [&] {
        gradient();
        result.objective = state.objective();
        result.gap = result.objective - state.dual(g);
        return result.gap <= tol * result.objective;
    };
    state.set(y, C, w);
    if (packed != nullptr) {
        result.n_iter = detail::newton_sparse(*packed, y, C, tol, max_iter, w, state, n_threads);
        result.stop = judge()                     ? SvcStop::converged
                      : result.n_iter >= max_iter ? SvcStop::max_iter
                                                  : SvcStop::stalled;
        return result;
    }
    std::vector<std::size_t> columns;
    double last = std::numeric_limits<double>::infinity();
    while (!judge()) {
        if (result.n_iter >= max_iter || !(result.objective < last)) {
            result.stop = result.n_iter >= max_iter ? SvcStop::max_iter : SvcStop::stalled;
            return result;
        }
        last = result.objective;
        std::vector<std::size_t> order;
        columns.clear();
        for (std::size_t j = 0; j < width; ++j) {
            if (w[j] != 0) {
                columns.push_back(j);
            } else if (std::abs(g[j]) > 1) {
                order.push_back(j);
            }
        }
        const std::size_t more = std::min(order.size(), std::max<std::size_t>(columns.size(), 100));
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(more),
                          order.end(), [&](std::size_t a, std::size_t b) {
                              return std::abs(g[a]) > std::abs(g[b]) ||
                                     (std::abs(g[a]) == std::abs(g[b]) && a < b);
                          });
        columns.insert(columns.end(), order.begin(),
                       order.begin() + static_cast<std::ptrdiff_t>(more));
        std::sort(columns.begin(), columns.end());
        const SvcRows part(X, constant, columns);
        std::vector<double> small(part.stride(), 0.0);
        for (std::size_t k = 0; k < columns.size(); ++k) {
            small[k] = w[columns[k]];
        }
        result.n_iter += std::max<std::int64_t>(
            1, detail::newton_sparse(part, y, C, 0.3 * tol, max_iter - result.n_iter, small, state,
                                     n_threads));
        std::fill(w.begin(), w.end(), 0.0);
        for (std::size_t k = 0; k < columns.size(); ++k) {
            w[columns[k]] = small[k];
        }
    }
    result.stop = SvcStop::converged;
    return result;
}

}  // namespace assay::linear

// The linear SVM with squared hinge loss, by Newton's method.
//
//     min_w 1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i w . z_i)^2
//
// The objective is quadratic as long as the same rows are inside the margin, so the method
// ends after finitely many steps, at the exact minimum: d solves
// (I + 2 sum_{i inside} C_i z_i z_i') d = -gradient, by factors (few columns: SvcRows) or by
// conjugate gradients (any rows), and is halved until the objective falls (Armijo).
//
// The certificate is the duality gap with a_i = 2 C_i max(0, 1 - y_i w . z_i).
//
// Needs   y in {-1, +1}, C_i >= 0; a BlasScope lives for the factors.
// Cost    5 to 20 steps; factors: n stride^2 / 2 each, conjugate gradients: two passes per
//         inner iteration.
// Source  Keerthi and DeCoste, JMLR 6 (2005); Lin, Weng and Keerthi, JMLR 9 (2008).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "assay/linear/row_products.hpp"
#include "assay/linear/svc_certificate.hpp"
#include "assay/linear/svc_interior.hpp"
#include "assay/linear/svc_rows.hpp"

namespace assay::linear {

namespace detail {

// Newton steps of packed rows, by factors.
class FactorSteps {
  public:
    FactorSteps(const SvcRows& rows, int n_threads)
        : rows_(rows),
          n_threads_(n_threads),
          h_(rows.stride() * rows.stride()),
          factor_(rows.cols(), rows.stride()) {}

    [[nodiscard]] std::size_t rows() const noexcept { return rows_.rows(); }
    [[nodiscard]] std::size_t width() const noexcept { return rows_.stride(); }
    void dots(std::span<const double> w, std::span<double> f) const {
        rows_.dots(w, f, n_threads_);
    }
    void combine(std::span<const double> r, std::span<double> g) const {
        rows_.combine(r, g, n_threads_);
    }
    // d = -(I + sum_i bend_i z_i z_i')^-1 g
    [[nodiscard]] bool step(std::span<const double> bend, std::span<const double> g,
                            std::span<double> d) {
        rows_.gram(bend, h_, n_threads_);
        if (!factor_.factor(h_)) {
            return false;
        }
        std::transform(g.begin(), g.end(), d.begin(), [](double x) { return -x; });
        factor_.solve(d.first(rows_.cols()));
        return true;
    }

  private:
    const SvcRows& rows_;
    int n_threads_;
    std::vector<double> h_;
    ShiftedFactor factor_;
};

// Newton steps of any rows, by conjugate gradients with the diagonal as preconditioner.
template <class Rows>
class ConjugateSteps {
  public:
    // A constant of 0 means that there is no intercept.
    ConjugateSteps(Rows X, double constant) : X_(X), constant_(constant), f_(X.rows) {}

    [[nodiscard]] std::size_t rows() const noexcept { return X_.rows; }
    [[nodiscard]] std::size_t width() const noexcept { return X_.cols + (constant_ != 0 ? 1 : 0); }
    void dots(std::span<const double> w, std::span<double> f) const {
        const double b = constant_ != 0 ? constant_ * w[X_.cols] : 0;
        scores(X_, w.first(X_.cols), b, f);
    }
    void combine(std::span<const double> r, std::span<double> g) const {
        std::fill(g.begin(), g.end(), 0.0);
        add_products(X_, r, g.first(X_.cols));
        if (constant_ != 0) {
            double sum = 0;
            for (const double x : r) {
                sum += x;
            }
            g[X_.cols] = constant_ * sum;
        }
    }
    [[nodiscard]] bool step(std::span<const double> bend, std::span<const double> g,
                            std::span<double> d) {
        const std::size_t n = width();
        std::vector<double> residual(n), scaled(n), way(n), turned(n), diagonal(n, 1.0);
        for (std::size_t i = 0; i < X_.rows; ++i) {
            if (bend[i] != 0) {
                X_.for_each_nonzero(i, [&](std::size_t j, auto x) {
                    diagonal[j] += bend[i] * static_cast<double>(x) * static_cast<double>(x);
                });
                if (constant_ != 0) {
                    diagonal[n - 1] += bend[i] * constant_ * constant_;
                }
            }
        }
        std::fill(d.begin(), d.end(), 0.0);
        double before = 0;
        for (std::size_t j = 0; j < n; ++j) {
            residual[j] = -g[j];
            way[j] = scaled[j] = residual[j] / diagonal[j];
            before += residual[j] * scaled[j];
        }
        const double wanted = before * 1e-6;  // a thousandth of the gradient
        for (std::size_t round = 0; round < 2 * n + 50 && before > wanted; ++round) {
            dots(way, f_);
            for (std::size_t i = 0; i < X_.rows; ++i) {
                f_[i] *= bend[i];
            }
            combine(f_, turned);
            double along = 0;
            for (std::size_t j = 0; j < n; ++j) {
                turned[j] += way[j];
                along += way[j] * turned[j];
            }
            const double length = before / along;
            double after = 0;
            for (std::size_t j = 0; j < n; ++j) {
                d[j] += length * way[j];
                residual[j] -= length * turned[j];
                scaled[j] = residual[j] / diagonal[j];
                after += residual[j] * scaled[j];
            }
            for (std::size_t j = 0; j < n; ++j) {
                way[j] = scaled[j] + after / before * way[j];
            }
            before = after;
        }
        return true;
    }

  private:
    Rows X_;
    double constant_;
    std::vector<double> f_;
};

}  // namespace detail

// Steps: FactorSteps or ConjugateSteps. tol: of the duality gap, relative to the objective.
template <class Steps>
[[nodiscard]] SvcResult solve_squared(Steps steps, std::span<const double> y,
                                      std::span<const double> C, double tol, std::int64_t max_iter,
                                      std::span<double> w) {
    const std::size_t n = steps.rows();
    SvcResult result;
    std::vector<double> f(n), turn(n), r(n), bend(n), g(steps.width()), d(steps.width());
    const auto objective = [&](double square, double t) {
        double sum = 0.5 * square;
        for (std::size_t i = 0; i < n; ++i) {
            const double slack = std::max(0.0, 1 - y[i] * (f[i] + t * turn[i]));
            sum += C[i] * slack * slack;
        }
        return sum;
    };
    std::fill(w.begin(), w.end(), 0.0);
    steps.dots(w, f);
    result.objective = objective(0, 0);
    for (result.n_iter = 0;; ++result.n_iter) {
        double dual = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double slack = std::max(0.0, 1 - y[i] * f[i]);
            bend[i] = slack > 0 ? 2 * C[i] : 0;
            r[i] = -y[i] * bend[i] * slack;
            dual += bend[i] * slack * (1 - 0.5 * slack);  // a - a^2 / (4 C)
        }
        steps.combine(r, g);  // minus sum_i a_i y_i z_i
        dual -= 0.5 * detail::square_length(g);
        result.gap = result.objective - dual;
        if (result.gap <= tol * result.objective) {
            result.stop = SvcStop::converged;
            break;
        }
        if (result.n_iter == max_iter) {
            break;
        }
        for (std::size_t j = 0; j < g.size(); ++j) {
            g[j] += w[j];
        }
        if (!steps.step(bend, g, d)) {
            result.stop = SvcStop::stalled;
            break;
        }
        steps.dots(d, turn);
        double slope = 0, cross = 0;
        for (std::size_t j = 0; j < g.size(); ++j) {
            slope += g[j] * d[j];
            cross += w[j] * d[j];
        }
        const double square = detail::square_length(w), step_square = detail::square_length(d);
        double t = 1;
        double next = 0;
        for (; t > 1e-12; t *= 0.5) {
            next = objective(square + t * (2 * cross + t * step_square), t);
            if (next <= result.objective + 1e-4 * t * slope) {
                break;
            }
        }
        if (!(t > 1e-12) || !(next < result.objective)) {
            result.stop = SvcStop::stalled;  // at the precision of the objective
            break;
        }
        for (std::size_t j = 0; j < g.size(); ++j) {
            w[j] += t * d[j];
        }
        steps.dots(w, f);
        std::fill(turn.begin(), turn.end(), 0.0);
        result.objective = objective(detail::square_length(w), 0);
    }
    return result;
}

}  // namespace assay::linear

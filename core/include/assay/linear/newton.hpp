// Newton's method with Cholesky factors, for a smooth convex loss with a quadratic penalty.
//
//     min  F(theta) = L(theta) + 1/2 sum_j l2_j theta_j^2
//     step H d = -grad F,  theta += t d,  t = 1, 1/2, 1/4 ... until F falls (Armijo)
//
// The curvature of the logistic loss changes by at most the factor e^(change of the scores). So the
// error that a whole step leaves is about its own change of the scores times their change since
// the Hessian was made, whatever the scale of columns and weights. The search stops when that is
// at most moved_tol^2; the answer hence does not depend on the start. And once a step changes no
// score by more than `near`, the Hessian made before it is good enough for the steps that follow:
// they cost a pass for the gradient only.
//
// The Hessian is scaled to a unit diagonal before it is factored: columns of any size. Several
// outputs share one flat direction per unpenalised column (the same number added to all); the
// gradient has no part in it, and mu 1 1' on it makes H definite without changing the step.
// Without penalty the diagonal gets 1e-13 of itself, for collinear columns.
//
// A loss that falls forever, because the classes can be separated, is recognised: every row is on
// its own side, or scores move by more than 1/2 while nothing is left to gain.
//
// Needs   Problem as LogisticProblem; l2.size() == problem.cols(), l2 >= 0; a BlasScope.
// Cost    per step one pass over the rows and P^3 / 3, P = n_outputs * cols.
// Source  Boyd and Vandenberghe, Convex Optimization, 9.5; Bach, Self-concordant analysis for
//         logistic regression (2010), for the factor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/common/blas.hpp"

namespace assay::linear::logit {

enum class Stop : int { converged, max_iter, separated, stalled };

// How Newton's equations are solved: by size, by factors, by conjugate gradients.
enum class Method : int { by_size, cholesky, conjugate };

struct NewtonOptions {
    Method method = Method::by_size;
    std::size_t max_iter = 100;
    double tol = 1e-4;        // of the gradient: what counts as converged at a stop before the end
    double moved_tol = 1e-6;  // of the scores
};

struct Outcome {
    Stop stop = Stop::max_iter;
    std::size_t n_iter = 0;
    double objective = 0;
    double gradient_norm = 0;  // largest entry
    double gap = 0;            // duality gap, where there is a penalty
};

// Solves A x = b for a symmetric A given by its lower triangle (destroyed), after scaling it to a
// unit diagonal and adding `ridge`, raised until the factor exists. b becomes x.
inline void solve_definite(MatrixView<double> a, std::span<double> b, double ridge) {
    const std::size_t n = b.size();
    std::vector<double> scale(n);
    for (std::size_t i = 0; i < n; ++i) {
        scale[i] = a(i, i) > 0 ? 1 / std::sqrt(a(i, i)) : 0.0;
    }
    std::vector<double> kept(a.data, a.data + n * n);
    for (;; ridge = std::max(ridge * 100, 1e-15)) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                a(i, j) = kept[i * n + j] * scale[i] * scale[j];
            }
            a(i, i) = (scale[i] > 0 ? 1 : 0) + ridge;
        }
        for (std::size_t i = 0; i < n; ++i) {
            if (scale[i] == 0) {
                a(i, i) = 1;  // nothing is known about it: it stays
            }
        }
        if (potrf(a) || ridge > 1) {
            break;
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        double sum = b[i] * scale[i];
        for (std::size_t j = 0; j < i; ++j) {
            sum -= a(i, j) * b[j];
        }
        b[i] = sum / a(i, i);
    }
    for (std::size_t i = n; i-- > 0;) {
        b[i] /= a(i, i);
        for (std::size_t j = 0; j < i; ++j) {
            b[j] -= a(i, j) * b[i];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        b[i] *= scale[i];
    }
}

// Adds the penalty's curvature to the compact Hessian (lower triangle), and mu 1 1' over the
// outputs of every column that no penalty touches. l1 may be empty: all zero.
inline void add_curvature(std::span<const double> l1, std::span<const double> l2,
                          std::size_t n_outputs, MatrixView<double> hessian) {
    const std::size_t cols = l2.size();
    for (std::size_t j = 0; j < cols; ++j) {
        double mean = 0;
        for (std::size_t k = 0; k < n_outputs; ++k) {
            double& diagonal = hessian(k * cols + j, k * cols + j);
            diagonal += l2[j];
            mean += diagonal / static_cast<double>(n_outputs);
        }
        if (n_outputs > 1 && l2[j] == 0 && (l1.empty() || l1[j] == 0)) {
            for (std::size_t k = 0; k < n_outputs; ++k) {
                for (std::size_t l = 0; l <= k; ++l) {
                    hessian(k * cols + j, l * cols + j) += mean;
                }
            }
        }
    }
}

[[nodiscard]] inline double quadratic_penalty(std::span<const double> theta,
                                              std::span<const double> l2, std::size_t n_outputs,
                                              std::size_t stride) noexcept {
    double sum = 0;
    for (std::size_t k = 0; k < n_outputs; ++k) {
        for (std::size_t j = 0; j < l2.size(); ++j) {
            const double w = theta[k * stride + j];
            sum += 0.5 * l2[j] * w * w;
        }
    }
    return sum;
}

// The gradient of the objective, compact; returns its largest entry.
template <class Problem>
double full_gradient(const Problem& problem, std::span<const double> theta,
                     std::span<const double> l2, std::span<double> out) {
    double largest = 0;
    const std::size_t cols = problem.cols();
    for (std::size_t k = 0; k < problem.n_outputs(); ++k) {
        for (std::size_t j = 0; j < cols; ++j) {
            const std::size_t at = k * problem.stride() + j;
            const double g = problem.gradient()[at] + l2[j] * theta[at];
            out[k * cols + j] = g;
            largest = std::max(largest, std::abs(g));
        }
    }
    return largest;
}

namespace detail {

// Objectives closer than this are equal: rounding of a sum over the rows.
[[nodiscard]] inline double rounding(double objective) noexcept {
    return 1e-14 * std::abs(objective);
}

// A promised fall of the mean loss that is nothing: sure rows may still become surer, by steps of 1
// in their scores, without any effect on probabilities.
inline constexpr double nothing = 1e-20;

// A change of the scores that leaves the Hessian as good as new.
inline constexpr double near = 1e-2;

}  // namespace detail

template <class Problem>
Outcome newton(Problem& problem, std::span<const double> l2, std::span<double> theta,
               const NewtonOptions& options) {
    const std::size_t cols = problem.cols();
    const std::size_t stride = problem.stride();
    const std::size_t n_outputs = problem.n_outputs();
    const bool free = std::all_of(l2.begin(), l2.end(), [](double each) { return each == 0; });
    std::vector<double> step(problem.size());
    std::vector<double> trial(theta.begin(), theta.end());
    std::vector<double> hessian;
    double moved = 1;  // by the last step
    double drift = 0;  // since the Hessian was made
    const auto objective = [&](std::span<const double> at) {
        return problem.loss() + quadratic_penalty(at, l2, n_outputs, stride);
    };
    problem.evaluate(theta, true);
    problem.keep();
    Outcome out;
    out.objective = objective(theta);
    for (out.n_iter = 0; out.n_iter < options.max_iter;) {
        out.gradient_norm = full_gradient(problem, theta, l2, step);
        hessian.assign(problem.hessian().begin(), problem.hessian().end());
        MatrixView<double> view{hessian.data(), step.size(), step.size()};
        add_curvature({}, l2, n_outputs, view);
        std::vector<double> gradient(step);
        solve_definite(view, step, free ? 1e-13 : 0.0);
        double slope = 0;
        for (std::size_t i = 0; i < step.size(); ++i) {
            step[i] = -step[i];
            slope += gradient[i] * step[i];
        }
        if (!(slope < 0)) {
            out.stop = out.gradient_norm <= options.tol ? Stop::converged : Stop::stalled;
            return out;
        }
        double t = 1;
        double reached = 0;
        for (;; t /= 2) {
            for (std::size_t k = 0; k < n_outputs; ++k) {
                for (std::size_t j = 0; j < cols; ++j) {
                    trial[k * stride + j] = theta[k * stride + j] + t * step[k * cols + j];
                }
            }
            problem.evaluate(trial, moved > detail::near);
            reached = objective(trial);
            if (reached <= out.objective + 1e-4 * t * slope + detail::rounding(out.objective)) {
                break;
            }
            if (t < 1e-9) {  // rounding is all that is left
                problem.evaluate(theta, false);
                out.stop = out.gradient_norm <= options.tol ? Stop::converged : Stop::stalled;
                return out;
            }
        }
        ++out.n_iter;
        std::copy(trial.begin(), trial.end(), theta.begin());
        out.objective = reached;
        problem.keep();
        const double before = drift;
        drift = moved > detail::near ? 0.0 : drift + problem.moved();
        moved = problem.moved();
        const double left = moved * (before + moved);
        if (drift > detail::near) {  // not as near as it looked
            problem.evaluate(theta, true);
            drift = 0;
        }
        if (free && ((problem.separated() && problem.loss() <= options.tol) ||
                     (-slope <= 1e-8 && moved > 0.5))) {
            out.stop = Stop::separated;
            break;
        }
        if (t == 1 &&
            (left <= options.moved_tol * options.moved_tol || -slope <= detail::nothing)) {
            out.stop = Stop::converged;
            break;
        }
    }
    out.gradient_norm = full_gradient(problem, theta, l2, step);
    if (out.stop == Stop::max_iter && free && problem.separated()) {
        out.stop = Stop::separated;
    }
    return out;
}

}  // namespace assay::linear::logit

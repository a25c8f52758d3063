// Proximal Newton for a smooth convex loss with an L1 part in the penalty.
//
//     min  L(theta) + sum_j l1_j |theta_j| + 1/2 sum_j l2_j theta_j^2
//     step z = argmin of the quadratic model plus the penalty (l1_quadratic.hpp)
//          theta += t (z - theta), t = 1, 1/2, ... until the objective falls
//
// The model is solved exactly, its nonzero part by Cholesky: near the end the steps are Newton's
// on the nonzero coefficients. Stops like newton.hpp, when a whole step moves no score by more
// than `moved_tol`; the answer does not depend on the start.
//
// Needs   as newton.hpp; l1.size() == problem.cols().
// Cost    per step one pass over the rows with the Hessian of all P coefficients: few columns,
//         or the working set of many (logistic_columns.hpp).
// Source  Lee, Sun and Saunders, Proximal Newton-type methods (2014), algorithm 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/common/blas.hpp"
#include "assay/linear/l1_quadratic.hpp"
#include "assay/linear/newton.hpp"

namespace assay::linear::logit {

[[nodiscard]] inline double absolute_penalty(std::span<const double> theta,
                                             std::span<const double> l1, std::size_t n_outputs,
                                             std::size_t stride) noexcept {
    double sum = 0;
    for (std::size_t k = 0; k < n_outputs; ++k) {
        for (std::size_t j = 0; j < l1.size(); ++j) {
            sum += l1[j] * std::abs(theta[k * stride + j]);
        }
    }
    return sum;
}

// How far 0 is from the subdifferential of one coordinate.
[[nodiscard]] inline double violation(double gradient, double w, double l1) noexcept {
    return w == 0 ? std::max(std::abs(gradient) - l1, 0.0)
                  : std::abs(gradient + std::copysign(l1, w));
}

// The largest violation over all coordinates; `gradient` is compact and of the smooth part.
[[nodiscard]] inline double largest_violation(std::span<const double> gradient,
                                              std::span<const double> theta,
                                              std::span<const double> l1, std::size_t n_outputs,
                                              std::size_t stride) noexcept {
    double largest = 0;
    for (std::size_t k = 0; k < n_outputs; ++k) {
        for (std::size_t j = 0; j < l1.size(); ++j) {
            largest = std::max(
                largest, violation(gradient[k * l1.size() + j], theta[k * stride + j], l1[j]));
        }
    }
    return largest;
}

template <class Problem>
Outcome prox_newton(Problem& problem, std::span<const double> l1, std::span<const double> l2,
                    std::span<double> theta, const NewtonOptions& options) {
    const std::size_t cols = problem.cols();
    const std::size_t stride = problem.stride();
    const std::size_t n_outputs = problem.n_outputs();
    const std::size_t size = problem.size();
    std::vector<double> gradient(size);
    std::vector<double> compact(size);
    std::vector<double> next(size);
    std::vector<double> weights(size);
    std::vector<double> trial(theta.begin(), theta.end());
    std::vector<double> hessian;
    for (std::size_t k = 0; k < n_outputs; ++k) {
        std::copy(l1.begin(), l1.end(), weights.begin() + static_cast<std::ptrdiff_t>(k * cols));
    }
    const auto objective = [&](std::span<const double> at) {
        return problem.loss() + quadratic_penalty(at, l2, n_outputs, stride) +
               absolute_penalty(at, l1, n_outputs, stride);
    };
    problem.evaluate(theta, true);
    problem.keep();
    Outcome out;
    out.objective = objective(theta);
    for (out.n_iter = 0; out.n_iter < options.max_iter;) {
        full_gradient(problem, theta, l2, gradient);
        out.gradient_norm = largest_violation(gradient, theta, l1, n_outputs, stride);
        hessian.assign(problem.hessian().begin(), problem.hessian().end());
        const MatrixView<double> view{hessian.data(), size, size};
        add_curvature(l1, l2, n_outputs, view);
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                view(j, i) = view(i, j);
            }
        }
        double slope = 0;
        for (std::size_t k = 0; k < n_outputs; ++k) {
            for (std::size_t j = 0; j < cols; ++j) {
                compact[k * cols + j] = theta[k * stride + j];
            }
        }
        next = compact;
        L1Quadratic(view, gradient, weights).solve(compact, next);
        for (std::size_t i = 0; i < size; ++i) {
            slope += gradient[i] * (next[i] - compact[i]) +
                     weights[i] * (std::abs(next[i]) - std::abs(compact[i]));
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
                    const std::size_t i = k * cols + j;
                    // A whole step lands on the zeros exactly.
                    trial[k * stride + j] =
                        t == 1 ? next[i] : compact[i] + t * (next[i] - compact[i]);
                }
            }
            problem.evaluate(trial, true);
            reached = objective(trial);
            if (reached <= out.objective + 1e-4 * t * slope + detail::rounding(out.objective)) {
                break;
            }
            if (t < 1e-9) {
                problem.evaluate(theta, false);
                out.stop = out.gradient_norm <= options.tol ? Stop::converged : Stop::stalled;
                return out;
            }
        }
        ++out.n_iter;
        std::copy(trial.begin(), trial.end(), theta.begin());
        out.objective = reached;
        problem.keep();
        if (t == 1 && (problem.moved() <= options.moved_tol || -slope <= detail::nothing)) {
            out.stop = Stop::converged;
            break;
        }
    }
    full_gradient(problem, theta, l2, gradient);
    out.gradient_norm = largest_violation(gradient, theta, l1, n_outputs, stride);
    return out;
}

}  // namespace assay::linear::logit

// Newton's method whose equations are solved by conjugate gradients, for many coefficients.
//
//     min  F(theta) = L(theta) + 1/2 sum_j l2_j theta_j^2
//     step H d = -grad F by preconditioned conjugate gradients, to a relative residual that falls
//          with the gradient; theta += t d, t = 1, 1/2, 1/4 ... until F falls (Armijo)
//
// Preconditioner: where its factor is affordable, the Hessian's block of each output, else of a
// mean output (for two classes either is the Hessian itself), kept for later steps until a step
// takes more than `patience()` products; otherwise the diagonal. The Hessian leaves apart what all
// outputs have in common (there it is the penalty alone) and how they differ; so does the
// preconditioner. Blocks of their own then take a fifth of the products that a mean block takes (a
// trial in NumPy: digits, C = 300, 20 instead of 98 to a residual of 1e-4).
//
// Stops like newton.hpp, when a whole step moves no score by more than moved_tol / 10, which leaves
// that times the relative residual.
//
// Needs   as newton.hpp.
// Cost    per product two passes over the table; no matrix of P x P.
// Source  Nocedal and Wright, Numerical Optimization, algorithm 7.1; Lin, Weng and Keerthi, Trust
//         region Newton method for logistic regression (2008), for the problem.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/common/blas.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/linear/logistic_kernels.hpp"
#include "assay/linear/newton.hpp"

namespace assay::linear::logit {

template <class Problem>
class Preconditioner {
  public:
    static constexpr std::size_t widest = 1600;

    Preconditioner(Problem& problem, std::span<const double> l2)
        : problem_(problem), l2_(l2), factored_(problem.cols() <= widest) {
        if constexpr (Problem::sparse) {
            factored_ = problem.cols() <= narrow;
        } else {
            const std::size_t numbers = problem.n_outputs() * problem.cols() * problem.cols();
            by_output_ = problem.n_outputs() > 1 && problem.cols() <= widest_by_output &&
                         numbers <= most_by_output;
        }
    }

    // Products of a step beyond which new blocks pay; those of narrow tables cost a few products.
    [[nodiscard]] std::size_t patience() const noexcept { return by_output_ ? 12 : 25; }

    void refresh() {
        const std::size_t cols = problem_.cols();
        const std::size_t stride = problem_.stride();
        if constexpr (!Problem::sparse) {
            if (by_output_) {
                refresh_by_output();
                return;
            }
        }
        if (!factored_) {
            problem_.diagonal(diagonal_);
            for (std::size_t k = 0; k < problem_.n_outputs(); ++k) {
                for (std::size_t j = 0; j < stride; ++j) {
                    double& each = diagonal_[k * stride + j];
                    each += j < cols ? l2_[j] : 0.0;
                    each = each > 0 ? 1 / each : 0.0;
                }
            }
            return;
        }
        std::vector<double> gram;
        problem_.mean_gram(gram);
        scale_.assign(cols, 0.0);
        for (std::size_t j = 0; j < cols; ++j) {
            gram[j * stride + j] += l2_[j];
            const double size = gram[j * stride + j];
            scale_[j] = size > 0 ? 1 / std::sqrt(size) : 0.0;
        }
        lower_.resize(cols * cols);
        factor(gram.data());
    }

    // out = M^-1 r
    void apply(std::span<const double> r, std::span<double> out) const {
        const std::size_t cols = problem_.cols();
        const std::size_t stride = problem_.stride();
        if (!factored_) {
            for (std::size_t i = 0; i < r.size(); ++i) {
                out[i] = diagonal_[i] * r[i];
            }
            return;
        }
        if (by_output_) {
            apply_by_output(r, out);
            return;
        }
        const std::size_t n_outputs = problem_.n_outputs();
        const MatrixView<const double> lower{lower_.data(), cols, cols};
        if (n_outputs == 1) {
            std::fill(out.begin(), out.end(), 0.0);
            const std::span<double> solved = out.first(cols);
            for (std::size_t j = 0; j < cols; ++j) {
                solved[j] = r[j] * scale_[j];
            }
            trsv<double>(Op::none, lower, solved);
            trsv<double>(Op::transpose, lower, solved);
            for (std::size_t j = 0; j < cols; ++j) {
                solved[j] *= scale_[j];
            }
            return;
        }
        std::vector<double> right(cols * n_outputs);
        for (std::size_t j = 0; j < cols; ++j) {
            for (std::size_t k = 0; k < n_outputs; ++k) {
                right[j * n_outputs + k] = r[k * stride + j] * scale_[j];
            }
        }
        const MatrixView<double> view{right.data(), cols, n_outputs};
        trsm<double>(Op::none, lower, view);
        trsm<double>(Op::transpose, lower, view);
        std::fill(out.begin(), out.end(), 0.0);
        for (std::size_t j = 0; j < cols; ++j) {
            for (std::size_t k = 0; k < n_outputs; ++k) {
                out[k * stride + j] = right[j * n_outputs + k] * scale_[j];
            }
        }
    }

  private:
    // inverse_ = L^-1 S for every output, where S^-1 L L' S^-1 is its block of the Hessian.
    void refresh_by_output()
        requires(!Problem::sparse)
    {
        const std::size_t cols = problem_.cols();
        const std::size_t stride = problem_.stride();
        std::vector<double> grams;
        problem_.output_grams(grams);
        inverse_.assign(grams.size(), 0.0);
        lower_.resize(cols * cols);
        std::vector<double> solved(cols * cols);
        scale_.resize(cols);
        for (std::size_t k = 0; k < problem_.n_outputs(); ++k) {
            double* gram = grams.data() + k * stride * stride;
            for (std::size_t j = 0; j < cols; ++j) {
                gram[j * stride + j] += l2_[j];
                const double size = gram[j * stride + j];
                scale_[j] = size > 0 ? 1 / std::sqrt(size) : 0.0;
            }
            factor(gram);
            std::fill(solved.begin(), solved.end(), 0.0);
            for (std::size_t j = 0; j < cols; ++j) {
                solved[j * cols + j] = 1;
            }
            trsm<double>(Op::none, {lower_.data(), cols, cols},
                         MatrixView<double>{solved.data(), cols, cols});
            double* to = inverse_.data() + k * stride * stride;
            for (std::size_t i = 0; i < cols; ++i) {
                for (std::size_t j = 0; j <= i; ++j) {
                    to[i * stride + j] = solved[i * cols + j] * scale_[j];
                }
            }
        }
    }

    // lower_ = the factor of the scaled matrix, with the least ridge that gives one.
    void factor(const double* gram) {
        const std::size_t cols = problem_.cols();
        const std::size_t stride = problem_.stride();
        for (double ridge = 1e-12;; ridge *= 100) {
            for (std::size_t i = 0; i < cols; ++i) {
                for (std::size_t j = 0; j <= i; ++j) {
                    lower_[i * cols + j] = gram[i * stride + j] * scale_[i] * scale_[j];
                }
                lower_[i * cols + i] = 1 + ridge;
            }
            if (potrf(MatrixView<double>{lower_.data(), cols, cols}) || ridge > 1) {
                break;
            }
        }
    }

    // What the outputs have in common, by the penalty; how they differ, by their blocks.
    void apply_by_output(std::span<const double> r, std::span<double> out) const {
        const std::size_t cols = problem_.cols();
        const std::size_t stride = problem_.stride();
        const std::size_t n_outputs = problem_.n_outputs();
        const auto mean_of = [&](std::span<const double> from) {
            std::vector<double> mean(stride);
            for (std::size_t k = 0; k < n_outputs; ++k) {
                for (std::size_t j = 0; j < cols; ++j) {
                    mean[j] += from[k * stride + j];
                }
            }
            for (double& each : mean) {
                each /= static_cast<double>(n_outputs);
            }
            return mean;
        };
        const std::vector<double> common = mean_of(r);
        std::vector<double> own(stride);
        std::vector<double> turned(cols);
        std::fill(out.begin(), out.end(), 0.0);
        for (std::size_t k = 0; k < n_outputs; ++k) {
            const double* inverse = inverse_.data() + k * stride * stride;
            for (std::size_t j = 0; j < cols; ++j) {
                own[j] = r[k * stride + j] - common[j];
            }
            dispatch([&](auto level) {
                using Kernels = LogisticKernels<decltype(level)>;
                Kernels::dots(inverse, stride, cols, own.data(), turned.data());
                Kernels::add_gradient(inverse, stride, cols, turned.data(),
                                      out.data() + k * stride);
            });
        }
        const std::vector<double> left = mean_of(out);
        for (std::size_t k = 0; k < n_outputs; ++k) {
            for (std::size_t j = 0; j < cols; ++j) {
                out[k * stride + j] += (l2_[j] > 0 ? common[j] / l2_[j] : 0.0) - left[j];
            }
        }
    }

    // Beyond it, the blocks of all outputs cost more than the products that they save.
    static constexpr std::size_t widest_by_output = 128;
    static constexpr std::size_t most_by_output = std::size_t{1} << 22;  // numbers in memory

    Problem& problem_;
    std::span<const double> l2_;
    bool factored_;
    bool by_output_ = false;
    std::vector<double> inverse_;
    std::vector<double> diagonal_;
    std::vector<double> lower_;
    std::vector<double> scale_;
};

namespace detail {

[[nodiscard]] inline double dot(std::span<const double> a, std::span<const double> b) noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

}  // namespace detail

// Solves (H + diag(l2)) d = -g to the relative residual `accuracy`; returns the products used.
template <class Problem>
std::size_t conjugate_gradients(Problem& problem, const Preconditioner<Problem>& preconditioner,
                                std::span<const double> l2, std::span<const double> g,
                                double accuracy, std::size_t max_products, std::span<double> d) {
    const std::size_t size = g.size();
    const std::size_t stride = problem.stride();
    std::vector<double> r(size);
    std::vector<double> z(size);
    std::vector<double> turned(size);
    std::fill(d.begin(), d.end(), 0.0);
    for (std::size_t i = 0; i < size; ++i) {
        r[i] = -g[i];
    }
    preconditioner.apply(r, z);
    std::vector<double> direction(z);
    double rz = detail::dot(r, z);
    const double aim = accuracy * accuracy * rz;
    std::size_t products = 0;
    while (products < max_products && rz > aim && rz > 0) {
        problem.turn(direction, turned);
        ++products;
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t j = i % stride;
            turned[i] += j < l2.size() ? l2[j] * direction[i] : 0.0;
        }
        const double curve = detail::dot(direction, turned);
        if (!(curve > 0)) {
            break;
        }
        const double alpha = rz / curve;
        for (std::size_t i = 0; i < size; ++i) {
            d[i] += alpha * direction[i];
            r[i] -= alpha * turned[i];
        }
        preconditioner.apply(r, z);
        const double next = detail::dot(r, z);
        const double beta = next / rz;
        rz = next;
        for (std::size_t i = 0; i < size; ++i) {
            direction[i] = z[i] + beta * direction[i];
        }
    }
    return products;
}

template <class Problem>
Outcome newton_cg(Problem& problem, std::span<const double> l2, std::span<double> theta,
                  const NewtonOptions& options) {
    constexpr std::size_t max_products = 2000;
    const std::size_t cols = problem.cols();
    const std::size_t stride = problem.stride();
    const std::size_t n_outputs = problem.n_outputs();
    const bool free = std::all_of(l2.begin(), l2.end(), [](double each) { return each == 0; });
    Preconditioner<Problem> preconditioner(problem, l2);
    const std::size_t patience = preconditioner.patience();
    std::vector<double> gradient(theta.size());
    std::vector<double> step(theta.size());
    std::vector<double> trial(theta.begin(), theta.end());
    const auto set_gradient = [&] {
        double largest = 0;
        for (std::size_t k = 0; k < n_outputs; ++k) {
            for (std::size_t j = 0; j < cols; ++j) {
                const std::size_t at = k * stride + j;
                gradient[at] = problem.gradient()[at] + l2[j] * theta[at];
                largest = std::max(largest, std::abs(gradient[at]));
            }
        }
        return largest;
    };
    const auto objective = [&](std::span<const double> at) {
        return problem.loss() + quadratic_penalty(at, l2, n_outputs, stride);
    };
    problem.evaluate(theta, false);
    problem.keep();
    Outcome out;
    out.objective = objective(theta);
    double moved = 1;
    std::size_t products = patience + 1;
    for (out.n_iter = 0; out.n_iter < options.max_iter;) {
        out.gradient_norm = set_gradient();
        if (products > patience) {
            preconditioner.refresh();
        }
        const double accuracy = std::clamp(moved, 1e-4, 0.1);
        products = conjugate_gradients(problem, preconditioner, l2, gradient, accuracy,
                                       max_products, step);
        const double slope = detail::dot(gradient, step);
        if (!(slope < 0)) {
            out.stop = out.gradient_norm <= options.tol ? Stop::converged : Stop::stalled;
            return out;
        }
        double t = 1;
        double reached = 0;
        for (;; t /= 2) {
            for (std::size_t i = 0; i < trial.size(); ++i) {
                trial[i] = theta[i] + t * step[i];
            }
            problem.evaluate(trial, false);
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
        moved = t == 1 ? problem.moved() : 1.0;
        if (free && ((problem.separated() && problem.loss() <= options.tol) ||
                     (-slope <= 1e-8 && problem.moved() > 0.5))) {
            out.stop = Stop::separated;
            break;
        }
        // A penalty that is nearly nothing still decides, alone, how sure the sure rows are.
        if (moved <= options.moved_tol / 10 || (free && t == 1 && -slope <= detail::nothing)) {
            out.stop = Stop::converged;
            break;
        }
    }
    out.gradient_norm = set_gradient();
    if (out.stop == Stop::max_iter && free && problem.separated()) {
        out.stop = Stop::separated;
    }
    return out;
}

}  // namespace assay::linear::logit

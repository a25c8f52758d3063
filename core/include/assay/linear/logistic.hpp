// Logistic regression with an L2, L1, mixed or no penalty, for one or many penalties in turn.
//
//     min over w, b   sum_i s_i loss(y_i, X w + b) + l1 ||w||_1 + l2/2 ||w||^2      sum s = 1
//
// Two classes: one output. K classes: softmax with K outputs; columns that no penalty touches
// (the intercept) have outputs that sum to zero.
//
// Every solution is exact to rounding, so it does not depend on where the search starts: penalties
// are solved in the order given, each from the solution before it, and a long dense table from the
// solution of a sixteenth of its rows, which costs half a pass and saves three. A solution that
// was not reached is sought again from zero: what is returned is what a call with that penalty
// alone returns.
//
// Needs   codes in [0, n_classes), every class present with positive weight; weights sum to 1.
// Cost    see newton.hpp, newton_cg.hpp and prox_newton.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/linear/logistic_columns.hpp"
#include "assay/linear/logistic_design.hpp"
#include "assay/linear/logistic_problem.hpp"
#include "assay/linear/newton.hpp"
#include "assay/linear/newton_cg.hpp"
#include "assay/linear/prox_newton.hpp"

namespace assay::linear::logit {

struct LogisticPenalty {
    double l1 = 0;
    double l2 = 0;

    [[nodiscard]] bool none() const noexcept { return l1 == 0 && l2 == 0; }
};

struct LogisticFit {
    std::vector<double> coef;       // n_outputs x n_features, for the user's columns
    std::vector<double> intercept;  // n_outputs
    Outcome outcome;
};

// Coefficients of the user's columns and of the columns of a design.
class Coordinates {
  public:
    Coordinates(const ColumnFrame& frame, bool intercept, std::size_t n_outputs, std::size_t stride)
        : frame_(frame), intercept_(intercept), n_outputs_(n_outputs), stride_(stride) {}

    [[nodiscard]] std::vector<double> inside(std::span<const double> coef,
                                             std::span<const double> intercept) const {
        const std::size_t p = frame_.scale.size();
        std::vector<double> theta(n_outputs_ * stride_);
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            double shift = intercept[k];
            for (std::size_t j = 0; j < p; ++j) {
                theta[k * stride_ + j] = coef[k * p + j] * frame_.scale[j];
                shift += coef[k * p + j] * frame_.centre[j];
            }
            if (intercept_) {
                theta[k * stride_ + p] = shift;
            }
        }
        return theta;
    }

    void outside(std::span<const double> theta, LogisticFit& fit) const {
        const std::size_t p = frame_.scale.size();
        fit.coef.resize(n_outputs_ * p);
        fit.intercept.assign(n_outputs_, 0.0);
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            double shift = intercept_ ? theta[k * stride_ + p] : 0.0;
            for (std::size_t j = 0; j < p; ++j) {
                const double w = theta[k * stride_ + j] / frame_.scale[j];
                fit.coef[k * p + j] = w;
                shift -= w * frame_.centre[j];
            }
            fit.intercept[k] = intercept_ ? shift : 0.0;
        }
    }

    // The same penalty for the columns of the design.
    [[nodiscard]] std::vector<double> l1(double each) const { return scaled(each, 1); }
    [[nodiscard]] std::vector<double> l2(double each) const { return scaled(each, 2); }

  private:
    [[nodiscard]] std::vector<double> scaled(double each, int power) const {
        std::vector<double> out;
        out.reserve(frame_.scale.size() + 1);
        for (const double scale : frame_.scale) {
            out.push_back(power == 1 ? each / scale : each / scale / scale);
        }
        if (intercept_) {
            out.push_back(0);
        }
        return out;
    }

    const ColumnFrame& frame_;
    bool intercept_;
    std::size_t n_outputs_;
    std::size_t stride_;
};

// Zero coefficients, intercepts from the shares of the classes.
[[nodiscard]] inline std::vector<double> logistic_start(std::span<const std::int32_t> codes,
                                                        std::span<const double> weight,
                                                        std::size_t n_classes, bool intercept,
                                                        std::size_t cols, std::size_t stride) {
    const std::size_t n_outputs = n_classes == 2 ? 1 : n_classes;
    std::vector<double> theta(n_outputs * stride);
    if (!intercept) {
        return theta;
    }
    std::vector<double> share(n_classes);
    for (std::size_t i = 0; i < codes.size(); ++i) {
        share[static_cast<std::size_t>(codes[i])] += weight[i];
    }
    double mean = 0;
    for (double& each : share) {
        each = std::log(std::max(each, 1e-12));
        mean += each / static_cast<double>(n_classes);
    }
    if (n_outputs == 1) {
        theta[cols - 1] = share[1] - share[0];
    } else {
        for (std::size_t k = 0; k < n_outputs; ++k) {
            theta[k * stride + cols - 1] = share[k] - mean;
        }
    }
    return theta;
}

// Whether factors of the whole Hessian cost less than conjugate gradients. Dense tables have a
// preconditioner that needs few products (measured: from 64 coefficients on it wins); sparse ones
// the diagonal only, about 15 products a step, while matrix products run about 8 times as fast.
template <class Design>
[[nodiscard]] bool factors_pay(const Design& design, std::size_t n_outputs) noexcept {
    const std::size_t side = n_outputs * design.cols;
    if (side <= 64 || !Design::sparse) {
        return side <= 64;
    }
    const auto n = static_cast<double>(design.rows);
    const auto k = static_cast<double>(n_outputs);
    const auto p = static_cast<double>(side);
    const double width = static_cast<double>(design.entries()) / n + 1;
    const double direct = n * width * width * k * (k + 1) / 2 + p * p * p / 3;
    return side <= 2500 && direct <= 8 * 60 * n * width * k;
}

// The duality gap of a solution with an L1 part, at the point that `problem` evaluated last.
template <class Problem>
[[nodiscard]] double duality_gap(const Problem& problem, std::span<const double> l1,
                                 std::span<const double> l2, double objective) {
    double alpha = 1;
    double conjugate = 0;
    for (std::size_t k = 0; k < problem.n_outputs(); ++k) {
        for (std::size_t j = 0; j < l1.size(); ++j) {
            const double size = std::abs(problem.gradient()[k * problem.stride() + j]);
            if (l2[j] > 0) {
                const double beyond = std::max(size - l1[j], 0.0);
                conjugate += beyond * beyond / (2 * l2[j]);
            } else if (size > l1[j] && l1[j] > 0) {
                alpha = std::min(alpha, l1[j] / size);
            }
        }
    }
    return std::max(objective - (problem.entropy(alpha) - conjugate), 0.0);
}

// A sixteenth of the rows of a table, one drawn from every sixteen by a fixed rule (a fixed place
// would see one day of the week only), with weights that sum to 1. Not for tables so short that the
// start would be poor, nor where a class is missing among the rows drawn: `rows` is then 0.
struct RowSample {
    static constexpr std::size_t every = 16;

    std::size_t rows = 0;
    std::vector<double> values;
    std::vector<std::int32_t> codes;
    std::vector<double> weight;

    RowSample(MatrixView<const double> X, std::span<const std::int32_t> all_codes,
              std::span<const double> all_weight, std::size_t n_classes) {
        constexpr std::size_t fewest = 1000;
        const std::size_t count = X.rows / every;
        if (count < std::max(fewest, 20 * (X.cols + 1) * (n_classes == 2 ? 1 : n_classes))) {
            return;
        }
        std::vector<double> share(n_classes);
        double total = 0;
        values.reserve(count * X.cols);
        codes.reserve(count);
        weight.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t place = (i * 0x9E3779B97F4A7C15ULL) >> 60;
            const std::size_t row = i * every + place;
            values.insert(values.end(), X.data + row * X.cols, X.data + (row + 1) * X.cols);
            codes.push_back(all_codes[row]);
            weight.push_back(all_weight[row]);
            share[static_cast<std::size_t>(codes.back())] += weight.back();
            total += weight.back();
        }
        if (std::all_of(share.begin(), share.end(), [](double each) { return each > 0; })) {
            rows = count;
            for (double& each : weight) {
                each /= total;
            }
        }
    }
};

template <class Design>
std::vector<LogisticFit> fit_logistic(const Design& design, const ColumnFrame& frame,
                                      bool intercept, std::span<const std::int32_t> codes,
                                      std::span<const double> weight, std::size_t n_classes,
                                      std::span<const LogisticPenalty> penalties,
                                      const LogisticFit* start, const NewtonOptions& options,
                                      int n_threads, bool own_start = false) {
    LogisticProblem<Design> problem(design, codes, weight, n_classes, n_threads);
    const Coordinates coordinates(frame, intercept, problem.n_outputs(), design.stride);
    const auto cold =
        logistic_start(codes, weight, n_classes, intercept, design.cols, design.stride);
    std::vector<double> theta =
        start == nullptr ? cold : coordinates.inside(start->coef, start->intercept);
    const bool direct = options.method == Method::by_size ? factors_pay(design, problem.n_outputs())
                                                          : options.method == Method::cholesky;
    // Whether the start is the caller's wish: then no other is tried.
    const bool wished = start != nullptr && !own_start;
    // Up to so many coefficients, a pass with the Hessian of all is cheaper than choosing some.
    constexpr std::size_t whole_set = 96;
    LogisticColumns<Design> columns(problem, intercept, codes, weight, n_classes);
    std::vector<LogisticFit> fits;
    bool warm = start != nullptr;
    for (const LogisticPenalty& penalty : penalties) {
        const auto l1 = coordinates.l1(penalty.l1);
        const auto l2 = coordinates.l2(penalty.l2);
        const auto solve = [&] {
            if (penalty.l1 > 0) {
                return problem.size() <= whole_set ? prox_newton(problem, l1, l2, theta, options)
                                                   : columns.solve(l1, l2, theta, options);
            }
            // Without a penalty the Hessian may be singular: factors cope, if they can be had.
            return direct || (penalty.none() && problem.size() <= 500)
                       ? newton(problem, l2, theta, options)
                       : newton_cg(problem, l2, theta, options);
        };
        // Without a penalty the solution need not be unique: always from zero.
        if (penalty.none() && !wished) {
            theta = cold;
            warm = false;
        }
        Outcome outcome = solve();
        if (warm && outcome.stop != Stop::converged && !wished) {
            theta = cold;
            outcome = solve();
        }
        if (penalty.l1 > 0) {
            outcome.gap = duality_gap(problem, l1, l2, outcome.objective);
        }
        LogisticFit fit;
        fit.outcome = outcome;
        coordinates.outside(theta, fit);
        fits.push_back(std::move(fit));
        warm = true;
        if (outcome.stop != Stop::converged) {
            theta = cold;
            warm = false;
        }
    }
    return fits;
}

// The whole way from a table: frame, design, fits.
inline std::vector<LogisticFit> fit_logistic(MatrixView<const double> X, bool intercept,
                                             std::span<const std::int32_t> codes,
                                             std::span<const double> weight, std::size_t n_classes,
                                             std::span<const LogisticPenalty> penalties,
                                             const LogisticFit* start, const NewtonOptions& options,
                                             int n_threads) {
    // The solution of a smooth problem with a penalty is unique, and Newton's steps find it from
    // anywhere.
    const bool smooth = !penalties.empty() && penalties[0].l1 == 0 && penalties[0].l2 > 0;
    if (start == nullptr && smooth) {
        const RowSample sample(X, codes, weight, n_classes);
        if (sample.rows > 0) {
            const MatrixView<const double> some{sample.values.data(), sample.rows, X.cols};
            // A frame is there for well-conditioned numbers: that of the sample does, and saves a
            // pass.
            const ColumnFrame frame = frame_of(some, intercept, n_threads);
            const DenseDesign part(some, frame, intercept, n_threads);
            NewtonOptions rough = options;
            rough.moved_tol = 1e-2;
            const auto found =
                fit_logistic(part, frame, intercept, sample.codes, sample.weight, n_classes,
                             penalties.first(1), nullptr, rough, n_threads);
            if (found[0].outcome.stop == Stop::converged) {
                const DenseDesign design(X, frame, intercept, n_threads);
                return fit_logistic(design, frame, intercept, codes, weight, n_classes, penalties,
                                    &found[0], options, n_threads, true);
            }
        }
    }
    const ColumnFrame frame = frame_of(X, intercept, n_threads);
    const DenseDesign design(X, frame, intercept, n_threads);
    return fit_logistic(design, frame, intercept, codes, weight, n_classes, penalties, start,
                        options, n_threads);
}

template <class Index>
std::vector<LogisticFit> fit_logistic(const CsrView<const double, Index>& X, bool intercept,
                                      std::span<const std::int32_t> codes,
                                      std::span<const double> weight, std::size_t n_classes,
                                      std::span<const LogisticPenalty> penalties,
                                      const LogisticFit* start, const NewtonOptions& options,
                                      int n_threads) {
    const ColumnFrame frame = frame_of(X);
    const CsrDesign<Index> design(X, frame, intercept);
    return fit_logistic(design, frame, intercept, codes, weight, n_classes, penalties, start,
                        options, n_threads);
}

}  // namespace assay::linear::logit

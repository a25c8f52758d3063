// What the four ways of gradient descent share: options, results, the table's frame.
//
//     F(w, b) = sum_i s_i loss(y_i, x_i . w + b) + R(w)          (descent_problem.hpp)
//
// Every solver starts at the (w, b) it is given, writes the best (w, b) it found back,
// and keeps F and the 0/1 loss after each iteration. The certificate is the
// stationarity of descent_problem.hpp for centred columns x_j - mean_j (the intercept
// takes up the shift), in the metric
//
//     m_j = sum_i s_i (x_ij - mean_j)^2        (mean = 0 without an intercept)
//
// which makes it independent of place and scale of the columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "assay/linear/descent_problem.hpp"
#include "assay/linear/row_products.hpp"
#include "assay/linear/schedule.hpp"

namespace assay::linear {

enum class DescentStop : int { converged, no_decrease, max_iter, diverged };

struct DescentOptions {
    AnyLoss loss;
    AnyPenalty penalty;
    Schedule schedule;
    bool fit_intercept = true;
    bool proximal = true;  // else the penalty's subgradient is a part of the step
    std::int64_t max_iter = 1000;
    double tol = 1e-6;          // of the certificate, relative to its value at w = 0
    double min_decrease = 0;    // relative; scheduled methods
    std::int64_t patience = 5;  // iterations without that decrease before they stop
    std::size_t batch_size = 1;
    bool shuffle = true;
    bool average = false;
    std::uint64_t seed = 0;
    std::uint64_t key = 0;
    std::int64_t first_step = 0;
};

struct DescentResult {
    std::vector<double> loss_history;
    std::vector<double> zero_one_history;
    double gradient_norm = infinity;
    std::int64_t n_iter = 0;
    std::int64_t n_steps = 0;  // first_step of a run that continues this one
    DescentStop stop = DescentStop::max_iter;
};

// A point of the search and what belongs to it.
struct DescentPoint {
    std::vector<double> w;
    double b = 0;
    double objective = infinity;
};

// Place and scale of the columns.
struct Frame {
    std::vector<double> mean;
    std::vector<double> metric;

    // `sum` and `square`: weighted sums of the columns and of their squares (weights sum to 1).
    Frame(std::vector<double> sum, std::vector<double> square, const AnyPenalty& penalty,
          bool fit_intercept)
        : mean(std::move(sum)), metric(std::move(square)) {
        double total = 0;
        for (std::size_t j = 0; j < metric.size(); ++j) {
            mean[j] = fit_intercept ? mean[j] : 0;
            const double spread = metric[j] - mean[j] * mean[j];
            // A column that is constant up to rounding has no scale of its own.
            metric[j] = spread > 1e-10 * metric[j] ? spread : metric[j];
            total += metric[j];
        }
        // The norm is not separable: its prox needs one scale for all columns.
        const double even = total / static_cast<double>(metric.size());
        for (double& m : metric) {
            m = std::holds_alternative<Norm>(penalty) ? even : m;
            m = m > 0 ? m : 1;
        }
    }

    [[nodiscard]] double shift(std::span<const double> w) const noexcept {
        double sum = 0;
        for (std::size_t j = 0; j < w.size(); ++j) {
            sum += mean[j] * w[j];
        }
        return sum;
    }
};

template <class Rows>
[[nodiscard]] Frame frame_of(Rows X, std::span<const double> s, const AnyPenalty& penalty,
                             bool fit_intercept) {
    std::vector<double> sum(X.cols, 0.0), square(X.cols, 0.0);
    for (std::size_t i = 0; i < X.rows; ++i) {
        X.for_each_nonzero(i, [&](std::size_t j, auto value) {
            const auto x = static_cast<double>(value);
            sum[j] += s[i] * x;
            square[j] += s[i] * x * x;
        });
    }
    return {std::move(sum), std::move(square), penalty, fit_intercept};
}

// The certificate at w, where the smooth part has slope g in w and g_b in the intercept.
[[nodiscard]] inline double certificate(std::span<const double> w, std::span<const double> g,
                                        double g_b, const AnyPenalty& penalty, const Frame& frame,
                                        bool fit_intercept) {
    std::vector<double> centred(g.begin(), g.end());
    for (std::size_t j = 0; j < g.size(); ++j) {
        centred[j] -= g_b * frame.mean[j];
    }
    const double worst = stationarity(penalty, w, centred, frame.metric);
    return fit_intercept ? std::max(worst, std::abs(g_b)) : worst;
}

[[nodiscard]] inline double sum_of(std::span<const double> values) noexcept {
    double sum = 0;
    for (const double x : values) {
        sum += x;
    }
    return sum;
}

// Stops a run whose objective falls no more.
class Patience {
  public:
    Patience(double min_decrease, std::int64_t patience) noexcept
        : min_decrease_(min_decrease), patience_(patience) {}

    // True when the last `patience` objectives brought no decrease over the best before.
    [[nodiscard]] bool is_over(double objective) noexcept {
        const double wanted = best_ - min_decrease_ * std::abs(best_);
        waited_ = objective < wanted || best_ == infinity ? 0 : waited_ + 1;
        best_ = std::min(best_, objective);
        return waited_ >= patience_;
    }

  private:
    double min_decrease_;
    std::int64_t patience_;
    std::int64_t waited_ = 0;
    double best_ = infinity;
};

}  // namespace assay::linear

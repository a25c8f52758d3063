// Coordinate-wise gradient descent: each step moves one weight.
//
//     g = dF_loss/dw_j,   w_j <- prox_j(w_j - eta g, eta)
//
// eta is the schedule's, or found by a line search that starts at 1 / (curvature in
// this direction) and is halved until F falls by a hundredth of what is promised.
// An iteration visits the intercept and then every column, in order or shuffled.
//
// For a convex smooth loss and a separable penalty the line search converges to the
// minimum. Kinks of the loss (hinge, absolute) and the literal norm can block every
// single coordinate above the minimum: F never rises, but no more is promised.
//
// Needs   the transpose of the table (row j of Xt is column j): columns in one piece.
// Cost    one pass over column j per step, two more per trial of the line search.
// Source  Tseng and Yun, Mathematical Programming 117 (2009).
#pragma once

#include <numeric>

#include "assay/common/random.hpp"
#include "assay/linear/descent.hpp"

namespace assay::linear {

namespace detail {

template <class Rows>
[[nodiscard]] Frame frame_of_columns(Rows Xt, std::span<const double> s,
                                     const DescentOptions& options) {
    std::vector<double> sum(Xt.rows, 0.0), square(Xt.rows, 0.0);
    for (std::size_t j = 0; j < Xt.rows; ++j) {
        Xt.for_each_nonzero(j, [&](std::size_t i, auto value) {
            const auto x = static_cast<double>(value);
            sum[j] += s[i] * x;
            square[j] += s[i] * x * x;
        });
    }
    return {std::move(sum), std::move(square), options.penalty, options.fit_intercept};
}

template <class Rows>
class CoordinateRun {
  public:
    CoordinateRun(Rows Xt, std::span<const double> y, std::span<const double> s,
                  const DescentOptions& options)
        : Xt_(Xt),
          y_(y),
          s_(s),
          options_(options),
          facts_(facts(options.loss)),
          f_(Xt.cols),
          frame_(frame_of_columns(Xt, s, options)) {}

    DescentResult run(std::span<double> w, double& b) {
        DescentResult result;
        RandomStream stream(options_.seed, options_.key);
        std::vector<std::size_t> order(w.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        start_scores(w, b);
        double objective = mean_loss(options_.loss, y_, s_, f_) + value(options_.penalty, w);
        result.loss_history.push_back(objective);
        result.zero_one_history.push_back(zero_one(y_, s_, f_));
        const bool search = options_.schedule.kind == ScheduleKind::line_search;
        const double target = search ? options_.tol * null_certificate() : 0;
        DescentPoint best{{w.begin(), w.end()}, b, infinity};
        Patience patience(options_.min_decrease, options_.patience);
        result.n_steps = options_.first_step;
        while (result.n_iter < options_.max_iter) {
            if (options_.fit_intercept) {
                move_intercept(b, result.n_steps++);
            }
            if (options_.shuffle) {
                stream.shuffle(std::span<std::size_t>(order));
            }
            for (const std::size_t j : order) {
                move(j, w, result.n_steps++);
            }
            const double now = mean_loss(options_.loss, y_, s_, f_) + value(options_.penalty, w);
            ++result.n_iter;
            result.loss_history.push_back(now);
            result.zero_one_history.push_back(zero_one(y_, s_, f_));
            if (now < best.objective) {
                best = {{w.begin(), w.end()}, b, now};
            }
            if (!std::isfinite(now)) {
                result.stop = DescentStop::diverged;
                break;
            }
            if (search && facts_.smooth && full_certificate(w) <= target) {
                result.stop = DescentStop::converged;
                break;
            }
            if (search ? !(now < objective) : patience.is_over(now)) {
                result.stop = DescentStop::no_decrease;
                break;
            }
            objective = now;
        }
        std::copy(best.w.begin(), best.w.end(), w.begin());
        b = best.b;
        start_scores(w, b);
        result.gradient_norm = full_certificate(w);
        return result;
    }

  private:
    void start_scores(std::span<const double> w, double b) {
        std::fill(f_.begin(), f_.end(), b);
        for (std::size_t j = 0; j < Xt_.rows; ++j) {
            if (w[j] != 0) {
                add_row(Xt_, j, w[j], std::span<double>(f_));
            }
        }
    }

    [[nodiscard]] double certificate_of(std::span<const double> w, std::span<const double> f,
                                        const AnyPenalty& penalty) {
        std::vector<double> u(f.size());
        slopes(options_.loss, y_, s_, f, u);
        std::vector<double> g(w.size());
        scores(Xt_, std::span<const double>(u), 0.0, std::span<double>(g));
        return certificate(w, g, sum_of(u), penalty, frame_, options_.fit_intercept);
    }
    [[nodiscard]] double full_certificate(std::span<const double> w) {
        return certificate_of(w, f_, options_.penalty);
    }
    [[nodiscard]] double null_certificate() {
        const std::vector<double> none(Xt_.rows, 0.0);
        const std::vector<double> zero(Xt_.cols, 0.0);
        return certificate_of(none, zero, None{});
    }

    // Visits (row, value) of column j; the intercept's column is all ones.
    template <class Visit>
    void each(std::size_t j, Visit&& visit) const {
        if (j == intercept) {
            for (std::size_t i = 0; i < f_.size(); ++i) {
                visit(i, 1.0);
            }
        } else {
            Xt_.for_each_nonzero(j,
                                 [&](std::size_t i, auto x) { visit(i, static_cast<double>(x)); });
        }
    }

    struct Slope {
        double first = 0;
        double second = 0;
    };

    [[nodiscard]] Slope slope_of(std::size_t j) const {
        return std::visit(
            [&](const auto& loss) {
                Slope sum;
                each(j, [&](std::size_t i, double x) {
                    if (s_[i] != 0) {
                        sum.first += s_[i] * loss.gradient(y_[i], f_[i]) * x;
                        sum.second += facts_.smooth
                                          ? s_[i] * std::abs(loss.curvature(y_[i], f_[i])) * x * x
                                          : s_[i] * x * x;
                    }
                });
                return sum;
            },
            options_.loss);
    }

    // Change of the mean loss when column j moves by d.
    [[nodiscard]] double change(std::size_t j, double d) const {
        return std::visit(
            [&](const auto& loss) {
                double sum = 0;
                each(j, [&](std::size_t i, double x) {
                    if (s_[i] != 0) {
                        sum +=
                            s_[i] * (loss.value(y_[i], f_[i] + d * x) - loss.value(y_[i], f_[i]));
                    }
                });
                return sum;
            },
            options_.loss);
    }

    void shift(std::size_t j, double d) {
        each(j, [&](std::size_t i, double x) { f_[i] += d * x; });
    }

    // The step of one coordinate at value `old`; `place(v, eta)` is its prox, `cost` its penalty.
    template <class Place, class Cost>
    double step(std::size_t j, double old, std::int64_t t, Place place, Cost cost) {
        const Slope slope = slope_of(j);
        if (options_.schedule.kind != ScheduleKind::line_search) {
            const double eta = options_.schedule.step(t);
            return place(old - eta * slope.first, eta);
        }
        const double floor = 1e-8 * (j == intercept ? 1 : frame_.metric[j]);
        double bend = std::max(slope.second, floor);
        for (int halving = 0; halving < 60; ++halving, bend *= 2) {
            const double next = place(old - slope.first / bend, 1 / bend);
            const double d = next - old;
            if (d == 0) {
                break;
            }
            const double paid = cost(next) - cost(old);
            const double fall = change(j, d) + paid;
            if (std::isfinite(fall) && fall < 0 && fall <= 0.01 * (slope.first * d + paid)) {
                return next;
            }
        }
        return old;
    }

    void move(std::size_t j, std::span<double> w, std::int64_t t) {
        const double old = w[j];
        double next = old;
        if (options_.proximal || options_.schedule.kind == ScheduleKind::line_search) {
            next = step(
                j, old, t,
                [&](double v, double eta) { return prox_at(options_.penalty, j, v, eta, w); },
                [&](double v) { return penalty_with(w, j, v); });
        } else {
            std::vector<double> pull(w.size());
            gradient(options_.penalty, w, pull);
            next = step(
                j, old, t, [&](double v, double eta) { return v - eta * pull[j]; },
                [](double) { return 0.0; });
        }
        if (next != old) {
            w[j] = next;
            shift(j, next - old);
        }
    }

    [[nodiscard]] double penalty_with(std::span<double> w, std::size_t j, double v) const {
        if (std::holds_alternative<Norm>(options_.penalty)) {
            const double kept = w[j];
            w[j] = v;
            const double whole = value(options_.penalty, w);
            w[j] = kept;
            return whole;
        }
        return value(options_.penalty, std::span<const double>(&v, 1));
    }

    void move_intercept(double& b, std::int64_t t) {
        const double next =
            step(intercept, b, t, [](double v, double) { return v; }, [](double) { return 0.0; });
        if (next != b) {
            shift(intercept, next - b);
            b = next;
        }
    }

    static constexpr std::size_t intercept = static_cast<std::size_t>(-1);

    Rows Xt_;
    std::span<const double> y_;
    std::span<const double> s_;
    const DescentOptions& options_;
    LossFacts facts_;
    std::vector<double> f_;
    Frame frame_;
};

}  // namespace detail

template <class Rows>
[[nodiscard]] DescentResult descend_coordinates(Rows Xt, std::span<const double> y,
                                                std::span<const double> s,
                                                const DescentOptions& options, std::span<double> w,
                                                double& b) {
    return detail::CoordinateRun<Rows>(Xt, y, s, options).run(w, b);
}

}  // namespace assay::linear

// Batch gradient descent: each step looks at all rows.
//
// With a schedule, the step of the documents
//
//     w <- prox(w - eta_t grad, eta_t)    or    w <- w - eta_t (grad + subgradient of R)
//
// until F falls no more. The best point seen is kept, so for convex losses the result
// approaches the minimum as 1/sqrt(t) under inverse_scaling even where the loss has
// kinks (Shor), and F never rises in what is returned.
//
// With a line search, accelerated proximal gradient on centred columns in their metric:
// steps are halved until the quadratic bound holds, momentum starts anew when F would
// rise. For a convex smooth loss F converges to the minimum; for one that is not convex
// (no momentum) to a stationary point. A loss with a kink is rounded by a parabola whose
// width shrinks by stages down to `tol` of its natural scale, each stage from the end of
// the one before: at most half the width above the minimum when it has converged. The best
// point by the true loss is kept; the certificate is that of the last rounded loss.
//
// Cost    two passes over the stored values per step (one more per halving).
// Source  Beck and Teboulle, SIAM J. Imaging Sciences 2 (2009), section 4;
//         O'Donoghue and Candes, Found. Comput. Math. 15 (2015), function restart;
//         Nesterov, Mathematical Programming 103 (2005), for rounded kinks.
#pragma once

#include "assay/linear/descent.hpp"

namespace assay::linear {

namespace detail {

template <class Rows>
class BatchRun {
  public:
    BatchRun(Rows X, std::span<const double> y, std::span<const double> s,
             const DescentOptions& options)
        : X_(X),
          y_(y),
          s_(s),
          options_(options),
          true_loss_(options.loss),
          f_(X.rows),
          u_(X.rows),
          g_(X.cols),
          frame_(frame_of(X, s, options.penalty, options.fit_intercept)) {}

    DescentResult scheduled(std::span<double> w, double& b) {
        DescentResult result;
        DescentPoint at{{w.begin(), w.end()}, b, infinity};
        DescentPoint best = at;
        Patience patience(options_.min_decrease, options_.patience);
        std::vector<double> pull(X_.cols);
        const std::vector<double> plain(X_.cols, 1.0);
        result.n_steps = options_.first_step;
        evaluate(at);
        record(result, at);
        while (result.n_iter < options_.max_iter) {
            const double eta = options_.schedule.step(result.n_steps++);
            const double slope_b = all_slopes();
            if (!options_.proximal) {
                gradient(options_.penalty, at.w, pull);
            }
            for (std::size_t j = 0; j < X_.cols; ++j) {
                at.w[j] -= eta * (options_.proximal ? g_[j] : g_[j] + pull[j]);
            }
            if (options_.proximal) {
                prox(options_.penalty, at.w, eta, plain, at.w);
            }
            at.b -= options_.fit_intercept ? eta * slope_b : 0;
            evaluate(at);
            ++result.n_iter;
            record(result, at);
            if (at.objective < best.objective) {
                best = at;
            }
            if (!std::isfinite(at.objective)) {
                result.stop = DescentStop::diverged;
                break;
            }
            if (patience.is_over(at.objective)) {
                result.stop = DescentStop::no_decrease;
                break;
            }
        }
        finish(result, best, w, b);
        return result;
    }

    DescentResult searched(std::span<double> w, double& b) {
        DescentResult result;
        result.n_steps = options_.first_step;
        centred_ = true;
        DescentPoint at{{w.begin(), w.end()}, b + frame_.shift(w), infinity};
        evaluate(at);
        record(result, at);
        if (facts(options_.loss).smooth) {
            search_smooth(result, at, options_.tol);
            finish(result, at, w, b);
            return result;
        }
        const bool hinge = std::holds_alternative<Hinge>(options_.loss);
        const double scale = hinge ? 1 : std::max(mean_loss(Absolute{}, y_, s_, f_), 1e-300);
        const double narrowest = scale * std::max(options_.tol, 1e-12);
        for (double width = 0.3 * scale;; width = std::max(0.2 * width, narrowest)) {
            const bool last = width <= narrowest;
            options_.loss = hinge ? AnyLoss(SmoothHinge{width}) : AnyLoss(SmoothAbsolute{width});
            search_smooth(result, at, last ? options_.tol : std::max(options_.tol, 1e-3));
            if (last || result.stop == DescentStop::max_iter) {
                break;
            }
        }
        finish(result, best_, w, b);
        return result;
    }

  private:
    // Accelerated descent from `at` until the certificate is `tol` of its natural unit.
    void search_smooth(DescentResult& result, DescentPoint& at, double tol) {
        const LossFacts loss = facts(options_.loss);
        evaluate(at);
        std::vector<double> f_before = f_, f_at = f_;
        const double target = tol * null_certificate();
        double scale = std::isfinite(loss.max_curvature) ? loss.max_curvature : 1;
        DescentPoint before = at;
        DescentPoint next = at;
        double momentum = 1;
        bool restarted = true;
        result.stop = DescentStop::max_iter;
        while (result.n_iter < options_.max_iter) {
            // The point of departure: beyond `at`, away from `before`.
            const double grown = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
            const double beta = restarted || !loss.convex ? 0 : (momentum - 1) / grown;
            DescentPoint from = at;
            for (std::size_t j = 0; j < X_.cols; ++j) {
                from.w[j] += beta * (at.w[j] - before.w[j]);
            }
            from.b += beta * (at.b - before.b);
            for (std::size_t i = 0; i < X_.rows; ++i) {
                f_[i] = f_at[i] + beta * (f_at[i] - f_before[i]);
            }
            const double smooth_from = mean_loss(options_.loss, y_, s_, f_);
            const double slope_b = all_slopes();
            if (beta == 0 && certificate_here(at, slope_b) <= target) {
                result.stop = DescentStop::converged;
                break;
            }
            const bool moved = search(from, slope_b, smooth_from, scale, next);
            if (!moved || !(next.objective < at.objective)) {
                if (beta == 0) {  // at the precision of the objective
                    result.stop = DescentStop::no_decrease;
                    break;
                }
                restarted = true;
                continue;
            }
            std::swap(before, at);
            std::swap(at, next);
            std::swap(f_before, f_at);
            f_at = f_;
            momentum = restarted ? 1.6180339887498949 : grown;
            restarted = false;
            ++result.n_steps;
            ++result.n_iter;
            record(result, at);
            scale *= 0.9;
            if (result.n_iter % 10 == 0 && certificate_here(at, all_slopes()) <= target) {
                result.stop = DescentStop::converged;
                break;
            }
        }
    }

    void set_scores(const DescentPoint& at) {
        const double b = at.b - (centred_ ? frame_.shift(at.w) : 0);
        scores(X_, std::span<const double>(at.w), b, std::span<double>(f_));
    }

    // f_ and the objective at a point.
    void evaluate(DescentPoint& at) {
        set_scores(at);
        at.objective = mean_loss(options_.loss, y_, s_, f_) + value(options_.penalty, at.w);
    }

    // g_ = gradient of the smooth part at scores f_; returns the intercept's.
    double all_slopes() {
        slopes(options_.loss, y_, s_, f_, u_);
        std::fill(g_.begin(), g_.end(), 0.0);
        add_products(X_, std::span<const double>(u_), std::span<double>(g_));
        const double sum = sum_of(u_);
        for (std::size_t j = 0; centred_ && j < g_.size(); ++j) {
            g_[j] -= sum * frame_.mean[j];
        }
        return sum;
    }

    [[nodiscard]] double certificate_here(const DescentPoint& at, double slope_b) const {
        if (!centred_) {
            return certificate(at.w, g_, slope_b, options_.penalty, frame_, options_.fit_intercept);
        }
        const double worst = stationarity(options_.penalty, at.w, g_, frame_.metric);
        return options_.fit_intercept ? std::max(worst, std::abs(slope_b)) : worst;
    }

    // What the certificate is at w = 0 without a penalty: its natural unit.
    [[nodiscard]] double null_certificate() {
        const std::vector<double> zero(X_.rows, 0.0), none(X_.cols, 0.0);
        slopes(options_.loss, y_, s_, zero, u_);
        std::fill(g_.begin(), g_.end(), 0.0);
        add_products(X_, std::span<const double>(u_), std::span<double>(g_));
        return certificate(none, g_, sum_of(u_), None{}, frame_, options_.fit_intercept);
    }

    // One prox step from `from`, its size halved until it is short enough; f_ becomes
    // the scores at `next`.
    bool search(const DescentPoint& from, double slope_b, double smooth_from, double& scale,
                DescentPoint& next) {
        for (int halving = 0; halving < 60; ++halving, scale *= 2) {
            double linear = 0;
            double square = 0;
            for (std::size_t j = 0; j < X_.cols; ++j) {
                next.w[j] = from.w[j] - g_[j] / (scale * frame_.metric[j]);
            }
            prox(options_.penalty, next.w, 1 / scale, frame_.metric, next.w);
            next.b = from.b - (options_.fit_intercept ? slope_b / scale : 0);
            for (std::size_t j = 0; j < X_.cols; ++j) {
                const double d = next.w[j] - from.w[j];
                linear += g_[j] * d;
                square += frame_.metric[j] * d * d;
            }
            const double d = next.b - from.b;
            linear += slope_b * d;
            square += d * d;
            if (square == 0) {
                return false;
            }
            set_scores(next);
            const double smooth = mean_loss(options_.loss, y_, s_, f_);
            next.objective = smooth + value(options_.penalty, next.w);
            const double rounding = 4e-16 * (std::abs(smooth) + std::abs(smooth_from));
            if (smooth <= smooth_from + linear + 0.5 * scale * square + rounding &&
                std::isfinite(next.objective)) {
                return true;
            }
        }
        return false;
    }

    // Notes the true F and the 0/1 loss at a point whose scores are f_.
    void record(DescentResult& result, const DescentPoint& at) {
        double objective = at.objective;
        if (options_.loss.index() != true_loss_.index()) {
            objective = mean_loss(true_loss_, y_, s_, f_) + value(options_.penalty, at.w);
        }
        if (objective < best_.objective) {
            best_ = {at.w, at.b, objective};
        }
        result.loss_history.push_back(objective);
        result.zero_one_history.push_back(zero_one(y_, s_, f_));
    }

    void finish(DescentResult& result, DescentPoint& best, std::span<double> w, double& b) {
        evaluate(best);
        const double slope_b = all_slopes();
        result.gradient_norm = certificate_here(best, slope_b);
        std::copy(best.w.begin(), best.w.end(), w.begin());
        b = best.b - (centred_ ? frame_.shift(best.w) : 0);
    }

    Rows X_;
    std::span<const double> y_;
    std::span<const double> s_;
    DescentOptions options_;
    AnyLoss true_loss_;
    DescentPoint best_;
    std::vector<double> f_;
    std::vector<double> u_;
    std::vector<double> g_;
    Frame frame_;
    bool centred_ = false;  // whether points have the intercept of centred columns
};

}  // namespace detail

template <class Rows>
[[nodiscard]] DescentResult descend_batch(Rows X, std::span<const double> y,
                                          std::span<const double> s, const DescentOptions& options,
                                          std::span<double> w, double& b) {
    detail::BatchRun<Rows> run(X, y, s, options);
    return options.schedule.kind == ScheduleKind::line_search ? run.searched(w, b)
                                                              : run.scheduled(w, b);
}

}  // namespace assay::linear

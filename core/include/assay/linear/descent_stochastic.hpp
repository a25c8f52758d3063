// Stochastic and mini-batch gradient descent: each step looks at a few rows.
//
//     c = -eta_t n s_i loss'(y_i, f_i) averaged over the rows i of the batch
//     w <- prox(w + c x_i, eta_t),   b <- b + c
//
// An iteration is one pass over the rows, in order or in a fresh random order. Its
// end is judged by F on all rows: the run stops after `patience` passes without a
// decrease and returns the best pass (or the best average of all points so far).
//
// For CSR rows and L1 or L2 the penalty of a column is paid when its column is next
// seen, and comes to the same: shrinkages add up (L1) or multiply (L2).
//
// Cost    per step: the stored values of the batch, and O(columns) for other penalties,
//         for subgradient steps and for averaging. One more pass for F.
// Source  Robbins and Monro (1951); Polyak and Juditsky (1992); Langford, Li and Zhang,
//         JMLR 10 (2009), for the delayed L1 step.
#pragma once

#include <numeric>
#include <type_traits>

#include "assay/common/random.hpp"
#include "assay/linear/descent.hpp"

namespace assay::linear {

namespace detail {

template <class Rows>
inline constexpr bool is_dense = requires(Rows X) { X.data; };

// Pays the penalty of weights that a step does not touch later, all at once.
class DelayedPenalty {
  public:
    DelayedPenalty(const AnyPenalty& penalty, std::size_t n) {
        if (const auto* l1 = std::get_if<L1>(&penalty)) {
            l1_ = l1->lambda;
            paid_.assign(n, 0.0);
        } else if (const auto* l2 = std::get_if<L2>(&penalty)) {
            l2_ = l2->lambda;
            paid_.assign(n, 0.0);
        }
    }

    [[nodiscard]] bool is_on() const noexcept { return !paid_.empty(); }
    void owe(double eta) noexcept { owed_ += l1_ > 0 ? eta * l1_ : std::log1p(eta * l2_); }
    void pay(std::size_t j, double& w) noexcept {
        const double rest = owed_ - paid_[j];
        if (rest != 0) {
            w = l1_ > 0 ? soft_threshold(w, rest) : w * std::exp(-rest);
            paid_[j] = owed_;
        }
    }
    void pay_all(std::span<double> w) noexcept {
        for (std::size_t j = 0; j < w.size(); ++j) {
            pay(j, w[j]);
        }
        owed_ = 0;
        std::fill(paid_.begin(), paid_.end(), 0.0);
    }

  private:
    double l1_ = 0;
    double l2_ = 0;
    double owed_ = 0;
    std::vector<double> paid_;
};

}  // namespace detail

// w, b: the point where the steps go on; mean_w, mean_b: the average of all points
// (used if options.average), of which `options.first_step` are in already.
template <class Rows>
[[nodiscard]] DescentResult descend_stochastic(Rows X, std::span<const double> y,
                                               std::span<const double> s,
                                               const DescentOptions& options, std::span<double> w,
                                               double& b, std::span<double> mean_w,
                                               double& mean_b) {
    DescentResult result;
    RandomStream stream(options.seed, options.key);
    std::vector<std::size_t> order(X.rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> f(X.rows), u(X.rows), pull(X.cols), c(options.batch_size);
    const std::vector<double> plain(X.cols, 1.0);
    const Frame frame = frame_of(X, s, options.penalty, options.fit_intercept);
    const auto n = static_cast<double>(X.rows);
    // The norm's prox is a search of its own: one per step would be most of the time.
    const bool proximal = options.proximal && !std::holds_alternative<Norm>(options.penalty);
    const bool free = std::holds_alternative<None>(options.penalty);
    detail::DelayedPenalty delayed(options.penalty, X.cols);
    const bool delay = !detail::is_dense<Rows> && delayed.is_on() && proximal && !options.average;
    Patience patience(options.min_decrease, options.patience);
    const DescentPoint start{{w.begin(), w.end()}, b, infinity};
    DescentPoint best;
    // F and the 0/1 loss of the point that would be returned; its scores stay in f.
    const auto judge = [&] {
        const std::span<const double> judged = options.average ? mean_w : w;
        scores(X, judged, options.average ? mean_b : b, std::span<double>(f));
        const double objective = mean_loss(options.loss, y, s, f) + value(options.penalty, judged);
        result.loss_history.push_back(objective);
        result.zero_one_history.push_back(zero_one(y, s, f));
        return objective;
    };
    judge();
    result.n_steps = options.first_step;
    while (result.n_iter < options.max_iter) {
        if (options.shuffle) {
            stream.shuffle(std::span<std::size_t>(order));
        }
        for (std::size_t begin = 0; begin < X.rows; begin += options.batch_size) {
            const std::size_t count = std::min(options.batch_size, X.rows - begin);
            const double eta = options.schedule.step(result.n_steps++);
            double sum = 0;
            for (std::size_t k = 0; k < count; ++k) {
                const std::size_t i = order[begin + k];
                if constexpr (!detail::is_dense<Rows>) {
                    if (delay) {
                        X.for_each_nonzero(i, [&](std::size_t j, auto) { delayed.pay(j, w[j]); });
                    }
                }
                const double score = dot(X, i, std::span<const double>(w)) + b;
                c[k] = s[i] == 0 ? 0
                                 : -eta * n * s[i] * slope(options.loss, y[i], score) /
                                       static_cast<double>(count);
                sum += c[k];
            }
            if (!proximal && !free) {
                gradient(options.penalty, w, pull);
            }
            for (std::size_t k = 0; k < count; ++k) {
                if (c[k] != 0) {
                    add_row(X, order[begin + k], c[k], w);
                }
            }
            b += options.fit_intercept ? sum : 0;
            if (delay) {
                delayed.owe(eta);
            } else if (!free && proximal) {
                prox(options.penalty, w, eta, plain, w);
            } else if (!free) {
                for (std::size_t j = 0; j < X.cols; ++j) {
                    w[j] -= eta * pull[j];
                }
            }
            if (options.average) {
                const double share = 1 / static_cast<double>(result.n_steps);
                for (std::size_t j = 0; j < X.cols; ++j) {
                    mean_w[j] += share * (w[j] - mean_w[j]);
                }
                mean_b += share * (b - mean_b);
            }
        }
        if (delay) {
            delayed.pay_all(w);
        }
        const double objective = judge();
        ++result.n_iter;
        if (!std::isfinite(objective)) {
            result.stop = DescentStop::diverged;
            break;
        }
        if (objective < best.objective) {
            const std::span<const double> judged = options.average ? mean_w : w;
            best = {{judged.begin(), judged.end()}, options.average ? mean_b : b, objective};
        }
        if (patience.is_over(objective)) {
            result.stop = DescentStop::no_decrease;
            break;
        }
    }
    if (result.stop == DescentStop::diverged) {  // nothing to continue from
        std::copy(start.w.begin(), start.w.end(), w.begin());
        b = start.b;
        best = best.w.empty() ? start : best;
    }
    if (!best.w.empty()) {
        std::copy(best.w.begin(), best.w.end(), options.average ? mean_w.begin() : w.begin());
        (options.average ? mean_b : b) = best.b;
    }
    const std::span<const double> found = options.average ? mean_w : w;
    scores(X, found, options.average ? mean_b : b, std::span<double>(f));
    slopes(options.loss, y, s, f, u);
    std::fill(pull.begin(), pull.end(), 0.0);
    add_products(X, std::span<const double>(u), std::span<double>(pull));
    result.gradient_norm =
        certificate(found, pull, sum_of(u), options.penalty, frame, options.fit_intercept);
    return result;
}

}  // namespace assay::linear

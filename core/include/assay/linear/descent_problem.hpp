// What gradient descent minimises, with loss and penalty chosen at run time.
//
//     F(w, b) = sum_i s_i loss(y_i, x_i . w + b) + R(w)          sum_i s_i = 1, s_i >= 0
//
// R is one of the separable penalties or the literal norm lambda (sum_j |w_j|^p)^(1/p).
// The intercept b is never penalised. The choice is made once per pass over rows
// (`std::visit` outside of the loop), so solvers are compiled per layout only, not per
// loss and penalty.
//
// Needs   y, s of X.rows; w of X.cols values.
// Cost    value, slopes: O(n); products: one pass over the stored values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "assay/linear/losses.hpp"
#include "assay/linear/penalties.hpp"

namespace assay::linear {

// lambda ||w||_p, not squared and not separable. Needs p >= 1.
struct Norm {
    double lambda = 1;
    double p = 2;

    [[nodiscard]] double norm(std::span<const double> w) const noexcept {
        double largest = 0;
        for (const double x : w) {
            largest = std::max(largest, std::abs(x));
        }
        if (largest == 0) {
            return 0;
        }
        double sum = 0;
        for (const double x : w) {
            sum += std::pow(std::abs(x) / largest, p);
        }
        return largest * std::pow(sum, 1 / p);
    }

    void gradient(std::span<const double> w, std::span<double> out) const noexcept {
        const double size = norm(w);
        for (std::size_t j = 0; j < w.size(); ++j) {
            out[j] = w[j] == 0
                         ? 0
                         : std::copysign(lambda * std::pow(std::abs(w[j]) / size, p - 1), w[j]);
        }
    }

    // argmin_w 1/2 ||w - v||^2 + step lambda ||w||_p. With s = ||w||_p each weight is
    // Power's prox; s is where the norm of that is s, by bisection.
    void prox(std::span<const double> v, double step, std::span<double> w) const noexcept {
        const double c = step * lambda;
        if (p == 1 || c == 0) {
            for (std::size_t j = 0; j < v.size(); ++j) {
                w[j] = soft_threshold(v[j], c);
            }
            return;
        }
        const double dual = Norm{1, p / (p - 1)}.norm(v);
        if (dual <= c) {  // zero is the minimum: ||v||_q <= c
            std::fill(w.begin(), w.end(), 0.0);
            return;
        }
        if (p == 2) {
            for (std::size_t j = 0; j < v.size(); ++j) {
                w[j] = v[j] * (1 - c / dual);
            }
            return;
        }
        double low = 0;
        double high = norm(v);
        for (int round = 0; round < 100; ++round) {
            const double s = 0.5 * (low + high);
            const Power part{c / std::pow(s, p - 1), p};
            for (std::size_t j = 0; j < v.size(); ++j) {
                w[j] = part.prox(v[j], 1);
            }
            (norm(w) > s ? low : high) = s;
            if (high - low <= 1e-15 * high) {
                break;
            }
        }
    }

    // The same in coordinate j alone: the root of a monotone function, by bisection.
    [[nodiscard]] double prox_at(std::size_t j, double v, double step,
                                 std::span<const double> w) const noexcept {
        const double c = step * lambda;
        double others = 0;  // sum over k != j of (|w_k| / scale)^p
        double scale = std::abs(v);
        for (std::size_t k = 0; k < w.size(); ++k) {
            scale = k == j ? scale : std::max(scale, std::abs(w[k]));
        }
        for (std::size_t k = 0; k < w.size() && scale > 0; ++k) {
            others += k == j ? 0 : std::pow(std::abs(w[k]) / scale, p);
        }
        if (others == 0 || p == 1) {
            return soft_threshold(v, c);
        }
        double low = 0;
        double high = std::abs(v);
        for (int round = 0; round < 100 && high > low; ++round) {
            const double x = 0.5 * (low + high);
            const double part = x / scale;
            const double slope =
                std::pow(part, p - 1) * std::pow(others + std::pow(part, p), 1 / p - 1);
            (x + c * slope > std::abs(v) ? high : low) = x;
            if (high - low <= 1e-16 * high) {
                break;
            }
        }
        return std::copysign(0.5 * (low + high), v);
    }
};

using AnyLoss = std::variant<Squared, Absolute, Huber, Hinge, SquaredHinge, Exponential, Logistic,
                             SquaredLogistic, SmoothHinge, SmoothAbsolute>;
using AnyPenalty = std::variant<None, L1, L2, ElasticNet, Power, Norm>;

// Facts of the chosen loss.
struct LossFacts {
    bool convex;
    bool smooth;
    double max_curvature;
};

[[nodiscard]] inline LossFacts facts(const AnyLoss& loss) noexcept {
    return std::visit(
        [](const auto& l) {
            using L = std::remove_cvref_t<decltype(l)>;
            return LossFacts{L::convex, L::smooth, L::max_curvature};
        },
        loss);
}

// sum_i s_i loss(y_i, f_i)
[[nodiscard]] inline double mean_loss(const AnyLoss& loss, std::span<const double> y,
                                      std::span<const double> s,
                                      std::span<const double> f) noexcept {
    return std::visit(
        [&](const auto& l) {
            double sum = 0;
            for (std::size_t i = 0; i < y.size(); ++i) {
                if (s[i] != 0) {
                    sum += s[i] * l.value(y[i], f[i]);
                }
            }
            return sum;
        },
        loss);
}

// u_i = s_i loss'(y_i, f_i)
inline void slopes(const AnyLoss& loss, std::span<const double> y, std::span<const double> s,
                   std::span<const double> f, std::span<double> u) noexcept {
    std::visit(
        [&](const auto& l) {
            for (std::size_t i = 0; i < y.size(); ++i) {
                u[i] = s[i] == 0 ? 0 : s[i] * l.gradient(y[i], f[i]);
            }
        },
        loss);
}

// Value, first and second derivative of the loss, row by row.
inline void loss_terms(const AnyLoss& loss, std::span<const double> y, std::span<const double> f,
                       std::span<double> value, std::span<double> gradient,
                       std::span<double> curvature) noexcept {
    std::visit(
        [&](const auto& l) {
            for (std::size_t i = 0; i < y.size(); ++i) {
                value[i] = l.value(y[i], f[i]);
                gradient[i] = l.gradient(y[i], f[i]);
                curvature[i] = l.curvature(y[i], f[i]);
            }
        },
        loss);
}

[[nodiscard]] inline double slope(const AnyLoss& loss, double y, double f) noexcept {
    return std::visit([&](const auto& l) -> double { return l.gradient(y, f); }, loss);
}

// Weighted share of rows on the wrong side, y f <= 0.
[[nodiscard]] inline double zero_one(std::span<const double> y, std::span<const double> s,
                                     std::span<const double> f) noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        sum += s[i] * ZeroOne{}.value(y[i], f[i]);
    }
    return sum;
}

[[nodiscard]] inline double value(const AnyPenalty& penalty, std::span<const double> w) noexcept {
    return std::visit(
        [&](const auto& r) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(r)>, Norm>) {
                return r.lambda * r.norm(w);
            } else {
                double sum = 0;
                for (const double x : w) {
                    sum += r.value(x);
                }
                return sum;
            }
        },
        penalty);
}

// A subgradient, 0 where w_j is 0.
inline void gradient(const AnyPenalty& penalty, std::span<const double> w,
                     std::span<double> out) noexcept {
    std::visit(
        [&](const auto& r) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(r)>, Norm>) {
                r.gradient(w, out);
            } else {
                for (std::size_t j = 0; j < w.size(); ++j) {
                    out[j] = r.gradient(w[j]);
                }
            }
        },
        penalty);
}

// w = argmin 1/2 sum_j metric_j (w_j - v_j)^2 + step R(w); v and w may be one array.
// The norm is not separable: there the metric must be constant.
inline void prox(const AnyPenalty& penalty, std::span<const double> v, double step,
                 std::span<const double> metric, std::span<double> w) noexcept {
    std::visit(
        [&](const auto& r) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(r)>, Norm>) {
                const std::vector<double> from(v.begin(), v.end());
                r.prox(from, step / metric[0], w);
            } else {
                for (std::size_t j = 0; j < w.size(); ++j) {
                    w[j] = r.prox(v[j], step / metric[j]);
                }
            }
        },
        penalty);
}

// The new weight j = argmin over x of 1/2 (x - v)^2 + step R(w with w_j = x).
[[nodiscard]] inline double prox_at(const AnyPenalty& penalty, std::size_t j, double v, double step,
                                    std::span<const double> w) noexcept {
    return std::visit(
        [&](const auto& r) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(r)>, Norm>) {
                return r.prox_at(j, v, step, w);
            } else {
                return r.prox(v, step);
            }
        },
        penalty);
}

// Largest |w_j - prox(w_j - g_j / m_j)| sqrt(m_j), m_j = metric_j: 0 exactly at a
// stationary point of the smooth part with gradient g plus the penalty, and in the
// units of the loss per unit of score whatever the scale of the columns.
[[nodiscard]] inline double stationarity(const AnyPenalty& penalty, std::span<const double> w,
                                         std::span<const double> g,
                                         std::span<const double> metric) {
    std::vector<double> moved(w.size());
    for (std::size_t j = 0; j < w.size(); ++j) {
        moved[j] = w[j] - g[j] / metric[j];
    }
    prox(penalty, moved, 1, metric, moved);
    double worst = 0;
    for (std::size_t j = 0; j < w.size(); ++j) {
        worst = std::max(worst, std::abs(w[j] - moved[j]) * std::sqrt(metric[j]));
    }
    return worst;
}

}  // namespace assay::linear

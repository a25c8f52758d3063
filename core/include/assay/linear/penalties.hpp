// Separable penalties on the weights of a linear model: R(w) = sum_j value(w_j).
//
//     value(w)         the penalty of one weight
//     gradient(w)      its derivative; 0 at 0, where that is a subgradient
//     prox(v, step)    argmin_w 1/2 (w - v)^2 + step value(w)
//     conjugate(u)     sup_w u w - value(w); +infinity outside its domain
//
//     None                       0
//     L1{lambda}                 lambda |w|
//     L2{lambda}                 lambda / 2 w^2
//     ElasticNet{lambda, ratio}  lambda (ratio |w| + (1 - ratio) / 2 w^2)
//     Power{lambda, p}           lambda / p |w|^p
//
// The intercept is never penalised: solvers keep it apart.
//
// Needs   lambda >= 0, 0 <= ratio <= 1, p >= 1, step >= 0.
// Cost    O(1); Power's prox takes a few Newton steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>

#include "assay/linear/losses.hpp"

namespace assay::linear {

template <class P>
concept Penalty = requires(const P penalty, double w, double step) {
    { penalty.value(w) } -> std::convertible_to<double>;
    { penalty.gradient(w) } -> std::convertible_to<double>;
    { penalty.prox(w, step) } -> std::convertible_to<double>;
    { penalty.conjugate(w) } -> std::convertible_to<double>;
};

// argmin_w 1/2 (w - v)^2 + threshold |w|
[[nodiscard]] constexpr double soft_threshold(double v, double threshold) noexcept {
    return v > threshold ? v - threshold : v < -threshold ? v + threshold : 0;
}

struct None {
    [[nodiscard]] constexpr double value(double) const noexcept { return 0; }
    [[nodiscard]] constexpr double gradient(double) const noexcept { return 0; }
    [[nodiscard]] constexpr double prox(double v, double) const noexcept { return v; }
    [[nodiscard]] constexpr double conjugate(double u) const noexcept {
        return u == 0 ? 0 : infinity;
    }
};

struct L1 {
    double lambda = 1;

    [[nodiscard]] constexpr double value(double w) const noexcept {
        return lambda * (w < 0 ? -w : w);
    }
    [[nodiscard]] constexpr double gradient(double w) const noexcept {
        return w > 0 ? lambda : w < 0 ? -lambda : 0;
    }
    [[nodiscard]] constexpr double prox(double v, double step) const noexcept {
        return soft_threshold(v, step * lambda);
    }
    [[nodiscard]] constexpr double conjugate(double u) const noexcept {
        return u >= -lambda && u <= lambda ? 0 : infinity;
    }
};

struct L2 {
    double lambda = 1;

    [[nodiscard]] constexpr double value(double w) const noexcept { return 0.5 * lambda * w * w; }
    [[nodiscard]] constexpr double gradient(double w) const noexcept { return lambda * w; }
    [[nodiscard]] constexpr double prox(double v, double step) const noexcept {
        return v / (1 + step * lambda);
    }
    [[nodiscard]] constexpr double conjugate(double u) const noexcept {
        return u == 0 ? 0 : lambda > 0 ? 0.5 * u * u / lambda : infinity;
    }
};

struct ElasticNet {
    double lambda = 1;
    double ratio = 0.5;

    [[nodiscard]] constexpr double value(double w) const noexcept {
        return lambda * (ratio * (w < 0 ? -w : w) + 0.5 * (1 - ratio) * w * w);
    }
    [[nodiscard]] constexpr double gradient(double w) const noexcept {
        const double sign = w > 0 ? 1 : w < 0 ? -1 : 0;
        return lambda * (ratio * sign + (1 - ratio) * w);
    }
    [[nodiscard]] constexpr double prox(double v, double step) const noexcept {
        return soft_threshold(v, step * lambda * ratio) / (1 + step * lambda * (1 - ratio));
    }
    [[nodiscard]] constexpr double conjugate(double u) const noexcept {
        const double rest = std::max((u < 0 ? -u : u) - lambda * ratio, 0.0);
        return L2{lambda * (1 - ratio)}.conjugate(rest);
    }
};

struct Power {
    double lambda = 1;
    double p = 2;

    [[nodiscard]] double value(double w) const noexcept {
        return lambda / p * std::pow(std::abs(w), p);
    }
    [[nodiscard]] double gradient(double w) const noexcept {
        return w == 0 ? 0 : std::copysign(lambda * std::pow(std::abs(w), p - 1), w);
    }
    [[nodiscard]] double prox(double v, double step) const noexcept {
        const double c = step * lambda;
        const double a = std::abs(v);
        if (p == 1) {
            return soft_threshold(v, c);
        }
        if (p == 2 || c == 0 || a == 0) {
            return p == 2 ? v / (1 + c) : v;
        }
        // w + c w^(p-1) = a on w >= 0. For p < 2 in z = w^(p-1): z^k + c z = a.
        const double w =
            p > 2 ? root(1, c, p - 1, a) : std::pow(root(c, 1, 1 / (p - 1), a), 1 / (p - 1));
        return std::copysign(std::min(w, a), v);
    }
    [[nodiscard]] double conjugate(double u) const noexcept {
        const double size = std::abs(u);
        if (p == 1) {
            return size <= lambda ? 0 : infinity;
        }
        if (lambda == 0) {
            return u == 0 ? 0 : infinity;
        }
        const double q = p / (p - 1);
        return lambda / q * std::pow(size / lambda, q);
    }

  private:
    // The root of m z + c z^k = a: convex and increasing, so Newton from the right
    // of the root comes down to it. Needs k > 1, a, c, m > 0.
    [[nodiscard]] static double root(double m, double c, double k, double a) noexcept {
        double z = std::min(a / m, std::pow(a / c, 1 / k));
        for (int step = 0; step < 100; ++step) {
            const double power = c * std::pow(z, k - 1);
            const double next = z - (m * z + power * z - a) / (m + k * power);
            if (!(next < z)) {
                break;
            }
            z = next > 0 ? next : 0.5 * z;
        }
        return z;
    }
};

}  // namespace assay::linear

// Losses of a linear model: small policies of a target y and a score f.
//
//     value(y, f)       the loss
//     gradient(y, f)    d/df; at a kink the flat side (a subgradient)
//     curvature(y, f)   d2/df2 where it exists, 0 at a kink
//     conjugate(y, u)   sup_f u f - value(y, f); +infinity outside its domain
//
// so value(y, f) + conjugate(y, u) >= u f, with equality at u = gradient(y, f)
// (Fenchel and Young): what a duality gap is made of.
//
//     Squared           1/2 (y - f)^2
//     Absolute          |y - f|
//     Huber{delta}      1/2 r^2 while |r| <= delta, else delta |r| - delta^2 / 2,  r = f - y
//     Hinge             max(0, 1 - y f)
//     SquaredHinge      max(0, 1 - y f)^2
//     Exponential       exp(-y f)
//     Logistic          ln(1 + exp(-y f))
//     SquaredLogistic   1/2 ((1 + y) / 2 - sigma(f))^2        not convex, no conjugate
//     ZeroOne           1[y f <= 0]                           value only, to report
//     SmoothHinge{width}, SmoothAbsolute{width}               the kink rounded by a parabola:
//                       at most width / 2 below the loss itself
//
// `convex` and `smooth` (a Lipschitz or at least continuous gradient) are facts of the
// loss; `max_curvature` bounds |curvature|, infinity if nothing does. Losses with a
// margin y f need y in {-1, +1}.
//
// Cost    O(1); Exponential overflows to +infinity, never to NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

namespace assay::linear {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// 1 / (1 + exp(-f)) without overflow.
[[nodiscard]] inline double sigmoid(double f) noexcept {
    if (f >= 0) {
        return 1 / (1 + std::exp(-f));
    }
    const double e = std::exp(f);
    return e / (1 + e);
}

// x ln x, continuous at 0.
[[nodiscard]] inline double x_log_x(double x) noexcept { return x > 0 ? x * std::log(x) : 0; }

template <class L>
concept Loss = requires(const L loss, double y, double f) {
    { loss.value(y, f) } -> std::convertible_to<double>;
    { loss.gradient(y, f) } -> std::convertible_to<double>;
    { loss.curvature(y, f) } -> std::convertible_to<double>;
    { L::convex } -> std::convertible_to<bool>;
    { L::smooth } -> std::convertible_to<bool>;
    { L::max_curvature } -> std::convertible_to<double>;
};

template <class L>
concept ConjugateLoss = Loss<L> && requires(const L loss, double y, double u) {
    { loss.conjugate(y, u) } -> std::convertible_to<double>;
};

struct Squared {
    static constexpr bool convex = true;
    static constexpr bool smooth = true;
    static constexpr double max_curvature = 1;

    [[nodiscard]] constexpr double value(double y, double f) const noexcept {
        return 0.5 * (y - f) * (y - f);
    }
    [[nodiscard]] constexpr double gradient(double y, double f) const noexcept { return f - y; }
    [[nodiscard]] constexpr double curvature(double, double) const noexcept { return 1; }
    [[nodiscard]] constexpr double conjugate(double y, double u) const noexcept {
        return u * (y + 0.5 * u);
    }
};

struct Absolute {
    static constexpr bool convex = true;
    static constexpr bool smooth = false;
    static constexpr double max_curvature = infinity;

    [[nodiscard]] constexpr double value(double y, double f) const noexcept {
        return y > f ? y - f : f - y;
    }
    [[nodiscard]] constexpr double gradient(double y, double f) const noexcept {
        return static_cast<double>(f > y) - static_cast<double>(f < y);
    }
    [[nodiscard]] constexpr double curvature(double, double) const noexcept { return 0; }
    [[nodiscard]] constexpr double conjugate(double y, double u) const noexcept {
        return u >= -1 && u <= 1 ? u * y : infinity;
    }
};

// Needs   delta > 0.
struct Huber {
    static constexpr bool convex = true;
    static constexpr bool smooth = true;
    static constexpr double max_curvature = 1;

    double delta = 1;

    [[nodiscard]] constexpr double value(double y, double f) const noexcept {
        const double size = f > y ? f - y : y - f;
        return size <= delta ? 0.5 * size * size : delta * (size - 0.5 * delta);
    }
    [[nodiscard]] constexpr double gradient(double y, double f) const noexcept {
        return std::clamp(f - y, -delta, delta);
    }
    [[nodiscard]] constexpr double curvature(double y, double f) const noexcept {
        return f - y < delta && y - f < delta ? 1 : 0;
    }
    [[nodiscard]] constexpr double conjugate(double y, double u) const noexcept {
        return u >= -delta && u <= delta ? u * (y + 0.5 * u) : infinity;
    }
};

struct Hinge {
    static constexpr bool convex = true;
    static constexpr bool smooth = false;
    static constexpr double max_curvature = infinity;

    [[nodiscard]] constexpr double value(double y, double f) const noexcept {
        const double slack = 1 - y * f;
        return slack > 0 ? slack : 0;
    }
    [[nodiscard]] constexpr double gradient(double y, double f) const noexcept {
        return y * f < 1 ? -y : 0;
    }
    [[nodiscard]] constexpr double curvature(double, double) const noexcept { return 0; }
    [[nodiscard]] constexpr double conjugate(double y, double u) const noexcept {
        const double s = u * y;
        return s >= -1 && s <= 0 ? s : infinity;
    }
};

// Needs   width > 0.
struct SmoothHinge {
    static constexpr bool convex = true;
    static constexpr bool smooth = true;
    static constexpr double max_curvature = infinity;  // 1 / width

    double width = 1;

    [[nodiscard]] constexpr double value(double y, double f) const noexcept {
        const double slack = 1 - y * f;
        return slack <= 0 ? 0 : slack < width ? 0.5 * slack * slack / width : slack - 0.5 * width;
    }
    [[nodiscard]] constexpr double gradient(double y, double f) const noexcept {
        return -y * std::clamp((1 - y * f) / width, 0.0, 1.0);
    }
    [[nodiscard]] constexpr double curvature(double y, double f) const noexcept {
        const double slack = 1 - y * f;
        return slack > 0 && slack < width ? 1 / width : 0;
    }
    [[nodiscard]] constexpr double conjugate(double y, double u) const noexcept {
        const double s = u * y;
        return s >= -1 && s <= 0 ? s + 0.5 * width * s * s : infinity;
    }
};

// Huber's loss divided by its delta. Needs   width > 0.
struct SmoothAbsolute {
    static constexpr bool convex = true;
    static constexpr bool smooth = true;
    static constexpr double max_curvature = infinity;  // 1 / width

    double width = 1;

    [[nodiscard]] constexpr double value(double y, double f) const noexcept {
        return Huber{width}.value(y, f) / width;
    }
    [[nodiscard]] constexpr double gradient(double y, double f) const noexcept {
        return Huber{width}.gradient(y, f) / width;
    }
    [[nodiscard]] constexpr double curvature(double y, double f) const noexcept {
        return Huber{width}.curvature(y, f) / width;
    }
    [[nodiscard]] constexpr double conjugate(double y, double u) const noexcept {
        return Huber{width}.conjugate(y, u * width) / width;
    }
};

struct SquaredHinge {
    static constexpr bool convex = true;
    static constexpr bool smooth = true;
    static constexpr double max_curvature = 2;

    [[nodiscard]] constexpr double value(double y, double f) const noexcept {
        const double slack = 1 - y * f;
        return slack > 0 ? slack * slack : 0;
    }
    [[nodiscard]] constexpr double gradient(double y, double f) const noexcept {
        const double slack = 1 - y * f;
        return slack > 0 ? -2 * y * slack : 0;
    }
    [[nodiscard]] constexpr double curvature(double y, double f) const noexcept {
        return y * f < 1 ? 2 : 0;
    }
    [[nodiscard]] constexpr double conjugate(double y, double u) const noexcept {
        const double s = u * y;
        return s <= 0 ? s + 0.25 * s * s : infinity;
    }
};

struct Exponential {
    static constexpr bool convex = true;
    static constexpr bool smooth = true;
    static constexpr double max_curvature = infinity;

    [[nodiscard]] double value(double y, double f) const noexcept { return std::exp(-y * f); }
    [[nodiscard]] double gradient(double y, double f) const noexcept {
        return -y * std::exp(-y * f);
    }
    [[nodiscard]] double curvature(double y, double f) const noexcept { return std::exp(-y * f); }
    [[nodiscard]] double conjugate(double y, double u) const noexcept {
        const double t = -u * y;
        return t >= 0 ? x_log_x(t) - t : infinity;
    }
};

struct Logistic {
    static constexpr bool convex = true;
    static constexpr bool smooth = true;
    static constexpr double max_curvature = 0.25;

    [[nodiscard]] double value(double y, double f) const noexcept {
        const double m = y * f;
        return m > 0 ? std::log1p(std::exp(-m)) : std::log1p(std::exp(m)) - m;
    }
    [[nodiscard]] double gradient(double y, double f) const noexcept {
        return -y * sigmoid(-y * f);
    }
    [[nodiscard]] double curvature(double, double f) const noexcept {
        const double p = sigmoid(-std::abs(f));
        return p * (1 - p);
    }
    [[nodiscard]] double conjugate(double y, double u) const noexcept {
        const double t = -u * y;
        return t >= 0 && t <= 1 ? x_log_x(t) + x_log_x(1 - t) : infinity;
    }
};

// A logistic unit trained on the squared error of its probability.
// Source  Russell and Norvig, Artificial Intelligence, 4th ed., eq. 19.8.
struct SquaredLogistic {
    static constexpr bool convex = false;
    static constexpr bool smooth = true;
    // max of s (1 - s)^2 (3 s - 1) at s = (9 + sqrt 33) / 24
    static constexpr double max_curvature = 0.0771;

    [[nodiscard]] double value(double y, double f) const noexcept {
        const double miss = sigmoid(-y * f);  // |t - sigma(f)|, exact in both tails
        return 0.5 * miss * miss;
    }
    [[nodiscard]] double gradient(double y, double f) const noexcept {
        const double miss = sigmoid(-y * f);
        return -y * miss * miss * (1 - miss);
    }
    [[nodiscard]] double curvature(double y, double f) const noexcept {
        const double miss = sigmoid(-y * f);
        return miss * miss * (1 - miss) * (2 - 3 * miss);
    }
};

struct ZeroOne {
    [[nodiscard]] constexpr double value(double y, double f) const noexcept {
        return y * f <= 0 ? 1 : 0;
    }
};

}  // namespace assay::linear

// Minkowski distances, computed directly in float64 in one fixed order.
//
//     S = sum_j t(|a_j - b_j|)      (Chebyshev: max),      distance = root(S)
//
// A metric is a policy: `term` turns a difference into t, `join` adds up, `root`
// ends. The last bits of a power need not ascend: a distance can come out smaller than
// another although its S is larger by up to `root_slack`, relatively.
//
// The order of the sum is part of the definition: term j goes to the partial sum
// j mod 8, and the eight are added as a tree. It vectorises over features as well
// as over rows, and every way of computing it gives the same bits.
//
// Needs   spans of equal size; finite values. S may overflow to infinity and
//         underflow to zero, as float64 does; it is never NaN.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>

#include "assay/common/power.hpp"

namespace assay {

inline constexpr std::size_t n_partials = 8;

struct Euclidean {  // p = 2
    static constexpr double root_slack = 0;

    template <class V>
    [[nodiscard]] static V term(V difference) noexcept {
        return difference * difference;
    }
    template <class V>
    [[nodiscard]] static V join(V a, V b) noexcept {
        return a + b;
    }
    [[nodiscard]] static double root(double sum) noexcept { return std::sqrt(sum); }
};

struct Manhattan {  // p = 1
    static constexpr double root_slack = 0;

    template <class V>
    [[nodiscard]] static V term(V difference) noexcept {
        using std::abs;
        return abs(difference);
    }
    template <class V>
    [[nodiscard]] static V join(V a, V b) noexcept {
        return a + b;
    }
    [[nodiscard]] static double root(double sum) noexcept { return sum; }
};

struct Chebyshev {  // p = infinity
    static constexpr double root_slack = 0;

    template <class V>
    [[nodiscard]] static V term(V difference) noexcept {
        using std::abs;
        return abs(difference);
    }
    template <class V>
    [[nodiscard]] static V join(V a, V b) noexcept {
        using std::fmax;
        return fmax(a, b);
    }
    [[nodiscard]] static double root(double largest) noexcept { return largest; }
};

// p a multiple of 1/2: products and a square root instead of pow.
struct HalfIntegerPower {
    static constexpr double root_slack = 0x1p-40;

    int twice_p;

    template <class V>
    [[nodiscard]] V term(V difference) const noexcept {
        using std::abs;
        using std::sqrt;
        V base = abs(difference);
        int exponent = twice_p / 2;
        V power = base;
        if (twice_p % 2 != 0) {
            power = sqrt(base);
        } else {
            --exponent;
        }
        for (; exponent > 0; exponent /= 2) {
            if (exponent % 2 != 0) {
                power = power * base;
            }
            base = base * base;
        }
        return power;
    }
    template <class V>
    [[nodiscard]] static V join(V a, V b) noexcept {
        return a + b;
    }
    [[nodiscard]] double root(double sum) const noexcept { return power(sum, 2.0 / twice_p); }
};

struct Power {  // any other p
    double p;
    double root_slack = 0x1p-46 * (1 + p);

    template <class V>
    [[nodiscard]] V term(V difference) const noexcept {
        using std::abs;
        if constexpr (std::is_same_v<V, double>) {
            return power(abs(difference), p);
        } else {
            return pow(abs(difference), p);
        }
    }
    template <class V>
    [[nodiscard]] static V join(V a, V b) noexcept {
        return a + b;
    }
    [[nodiscard]] double root(double sum) const noexcept { return power(sum, 1 / p); }
};

// Calls visit(metric) with the policy for p. Needs p >= 1.
template <class Visit>
decltype(auto) with_metric(double p, Visit&& visit) {
    if (p == 2) {
        return visit(Euclidean{});
    }
    if (p == 1) {
        return visit(Manhattan{});
    }
    if (std::isinf(p)) {
        return visit(Chebyshev{});
    }
    if (p <= 16 && 2 * p == std::floor(2 * p)) {
        return visit(HalfIntegerPower{static_cast<int>(2 * p)});
    }
    return visit(Power{p});
}

template <class Metric, class V>
[[nodiscard]] V join_partials(const Metric& metric, const std::array<V, n_partials>& s) noexcept {
    return metric.join(metric.join(metric.join(s[0], s[4]), metric.join(s[2], s[6])),
                       metric.join(metric.join(s[1], s[5]), metric.join(s[3], s[7])));
}

// The sum S (or maximum) whose root is the distance. Always inlined: files in levels/
// use it with flags of their own.
template <class Metric, class T>
[[nodiscard, gnu::always_inline]] inline double reduced_distance(const Metric& metric,
                                                                 std::span<const T> a,
                                                                 std::span<const T> b) noexcept {
    std::array<double, n_partials> partial{};
    const auto add = [&](std::size_t j, std::size_t lane) {
        const double difference = static_cast<double>(a[j]) - static_cast<double>(b[j]);
        partial[lane] = metric.join(partial[lane], metric.term(difference));
    };
    std::size_t j = 0;
    for (; j + n_partials <= a.size(); j += n_partials) {
        for (std::size_t lane = 0; lane < n_partials; ++lane) {
            add(j + lane, lane);
        }
    }
    for (std::size_t lane = 0; j < a.size(); ++j, ++lane) {
        add(j, lane);
    }
    return join_partials(metric, partial);
}

template <class T>
[[nodiscard]] double squared_distance(std::span<const T> a, std::span<const T> b) noexcept {
    return reduced_distance(Euclidean{}, a, b);
}

}  // namespace assay

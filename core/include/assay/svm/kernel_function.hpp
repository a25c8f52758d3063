// Kernel functions of a product or a squared distance, in a vector lane or for one number.
//
//     linear   x.z              poly  (g x.z + r)^p       p a whole number >= 0
//     rbf      exp(-g |x-z|^2)  sigmoid  tanh(g x.z + r)
//
// `shape` applies the function to what the rows gave (a dot product, or for rbf a squared
// distance). The powers are repeated squares and tanh is 1 - 2 / (1 + e^2t), both in a fixed
// order, so that the bits are the same at every CPU level.
//
// Needs   finite gamma and coef0.
// Cost    a few operations per value; rbf and sigmoid one exp2 (exp2.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "assay/svm/exp2.hpp"

namespace assay::svm {

// `distance` is no kernel: the squared distances that rbf kernels of any gamma are made from.
enum class KernelKind : int { linear, poly, rbf, sigmoid, precomputed, distance };

struct KernelFunction {
    KernelKind kind = KernelKind::linear;
    double gamma = 1.0;
    double coef0 = 0.0;
    std::uint32_t degree = 3;

    [[nodiscard]] constexpr bool needs_distance() const noexcept {
        return kind == KernelKind::rbf || kind == KernelKind::distance;
    }
};

// Numbers of one type: T itself or a vector of T, with unsigned integers of the same width.
template <class T, class Real, class Bits>
struct KernelShape {
    [[gnu::always_inline]] static Real exp2(Real x) noexcept {
        if constexpr (std::is_same_v<T, float>) {
            return exp2_float<Real, Bits>(x);
        } else {
            return exp2_double<Real, Bits>(x);
        }
    }

    [[gnu::always_inline]] static Real rbf(Real distance, T rate) noexcept {
        return exp2(distance * rate);
    }

    [[gnu::always_inline]] static Real poly(Real dot, T gamma, T coef0,
                                            std::uint32_t degree) noexcept {
        Real base = dot * gamma + coef0;
        Real power = Real{} + T{1};
        for (std::uint32_t left = degree; left != 0; left >>= 1) {
            if ((left & 1U) != 0) {
                power = power * base;
            }
            base = base * base;
        }
        return power;
    }

    [[gnu::always_inline]] static Real sigmoid(Real dot, T gamma, T coef0) noexcept {
        const Real t = dot * gamma + coef0;
        const Real size = t < T{0} ? Real{} - t : t;
        const Real part = T{2} / (exp2(size * static_cast<T>(2 * log2_e)) + T{1});
        const Real tanh = T{1} - part;
        return t < T{0} ? Real{} - tanh : tanh;
    }
};

// The constant in front of the squared distance inside exp2.
template <class T>
[[nodiscard]] [[gnu::always_inline]] inline T rbf_rate(const KernelFunction& k) noexcept {
    return static_cast<T>(-k.gamma * log2_e);
}

// One value from a dot product (rbf: from a squared distance).
template <class T>
[[nodiscard]] inline T shape(const KernelFunction& k, T from) noexcept {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    using One = KernelShape<T, T, Bits>;
    switch (k.kind) {
        case KernelKind::rbf:
            return One::rbf(from, rbf_rate<T>(k));
        case KernelKind::poly:
            return One::poly(from, static_cast<T>(k.gamma), static_cast<T>(k.coef0), k.degree);
        case KernelKind::sigmoid:
            return One::sigmoid(from, static_cast<T>(k.gamma), static_cast<T>(k.coef0));
        case KernelKind::linear:
            return from * static_cast<T>(k.gamma);
        case KernelKind::precomputed:
        case KernelKind::distance:
            break;
    }
    return from;
}

}  // namespace assay::svm

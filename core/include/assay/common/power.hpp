// x^p for many x at once, with the same bits in a vector lane as for a single number.
//
//     x = 2^e m,  sqrt(1/2) <= m < sqrt(2);      x^p = 2^n 2^f,   n + f = p e + p log2(m)
//
// log2 by its odd series in (m - 1) / (m + 1), 2^f by its power series, both beyond the
// precision of float64; p e is split so that its integer part cancels exactly. Only basic
// operations: unlike a library's pow it vectorises and never changes.
//
// Needs   x >= 0 (not NaN), p > 0. Works on double and on a vector of doubles (GNU vector
//         extension) with the unsigned integers `Bits` of the same size.
// Cost    about 50 operations, no branch. Relative error below (2 + p) 2^-52.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace assay {

template <class Real, class Bits>
[[gnu::always_inline]] inline Real power_of(Real x, double p) noexcept {
    constexpr std::uint64_t one = 0x3FF0000000000000;
    constexpr std::uint64_t root_half = 0x3FE6A09E667F3BCD;
    constexpr std::uint64_t fraction = 0x000FFFFFFFFFFFFF;
    constexpr double to_integer = 0x1.8p52;  // adding it moves the units into the last bit
    constexpr std::uint64_t to_integer_bits = std::bit_cast<std::uint64_t>(to_integer);
    const Real zero = x - x;  // replaced by the end where x is infinite
    const Real infinity = Real{} + std::numeric_limits<double>::infinity();

    const Real normal = x < 0x1p-1022 ? x * 0x1p54 : x;
    const Real shift = x < 0x1p-1022 ? Real{} - 54.0 : Real{};
    const Bits bits = std::bit_cast<Bits>(normal) + (one - root_half);
    const Real e = std::bit_cast<Real>((bits >> 52) | 0x4330000000000000) - (0x1p52 + 1023) + shift;
    const Real m = std::bit_cast<Real>((bits & fraction) + root_half);

    const Real t = (m - 1.0) / (m + 1.0);
    const Real s = t * t;
    Real series = s * (1.0 / 21) + 1.0 / 19;
    series = series * s + 1.0 / 17;
    series = series * s + 1.0 / 15;
    series = series * s + 1.0 / 13;
    series = series * s + 1.0 / 11;
    series = series * s + 1.0 / 9;
    series = series * s + 1.0 / 7;
    series = series * s + 1.0 / 5;
    series = series * s + 1.0 / 3;
    constexpr double two_over_ln2 = 0x1.71547652b82fep+1;
    const Real log2_m = t * two_over_ln2 + t * s * series * two_over_ln2;

    const double p_high =
        std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) & 0xFFFFFFFFF8000000);
    const Real whole = e * p_high;  // exact: 26 and 11 bits
    const Real rest = e * (p - p_high) + log2_m * p;
    const Real exponent = whole + rest;
    const Real shifted = exponent + to_integer;
    const Real n = shifted - to_integer;
    const Real z = ((whole - n) + rest) * 0x1.62e42fefa39efp-1;  // f ln 2

    Real power = z * (1.0 / 6227020800) + 1.0 / 479001600;
    power = power * z + 1.0 / 39916800;
    power = power * z + 1.0 / 3628800;
    power = power * z + 1.0 / 362880;
    power = power * z + 1.0 / 40320;
    power = power * z + 1.0 / 5040;
    power = power * z + 1.0 / 720;
    power = power * z + 1.0 / 120;
    power = power * z + 1.0 / 24;
    power = power * z + 1.0 / 6;
    power = power * z + 0.5;
    power = power * z + 1.0;
    power = power * z + 1.0;

    // 2^n in two factors, so that a denormal result is rounded once.
    const Bits n_bits = std::bit_cast<Bits>(shifted) - to_integer_bits;
    const Bits half = std::bit_cast<Bits>(n * 0.5 + to_integer) - to_integer_bits;
    power = power * std::bit_cast<Real>((half + 1023) << 52) *
            std::bit_cast<Real>((n_bits - half + 1023) << 52);

    power = exponent > 1025.0 ? infinity : power;
    power = exponent < -1080.0 ? Real{} : power;
    power = x == 0.0 ? Real{} : power;
    return zero == 0.0 ? power : infinity;
}

[[nodiscard]] inline double power(double x, double p) noexcept {
    return power_of<double, std::uint64_t>(x, p);
}

}  // namespace assay

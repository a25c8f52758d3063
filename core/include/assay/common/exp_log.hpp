// exp and log(1 + x) from basic operations, with the same bits in a vector lane as for one number.
//
//     exp(x)    = 2^n exp(r),  x = n ln 2 + r, |r| <= ln 2 / 2        power series to degree 13
//     log(x)    = e ln 2 + log(m), x = 2^e m, sqrt(1/2) <= m < sqrt 2  odd series in (m-1)/(m+1)
//     log1p(x)  = log(u) + (x - (u - 1)) / u,  u = 1 + x
//
// A library's functions differ between machines in the last bit; these do not, and they
// vectorise. Works on double and on a vector of doubles with the unsigned integers `Bits`.
//
// Needs   log: x > 0, normal and finite; log1p: 0 <= x, finite. exp: any number; the argument
//         is held to [-708, 709], so that the result is finite and not zero.
// Cost    about 25 operations, no branch. Relative error about 1e-15.
#pragma once

#include <bit>
#include <cstdint>

namespace assay {

template <class Real, class Bits>
[[gnu::always_inline]] inline Real exp_of(Real x) noexcept {
    constexpr double to_integer = 0x1.8p52;  // adding it moves the units into the last bit
    constexpr std::uint64_t to_integer_bits = std::bit_cast<std::uint64_t>(to_integer);
    x = x < -708.0 ? Real{} - 708.0 : x;
    x = x > 709.0 ? Real{} + 709.0 : x;
    const Real shifted = x * 0x1.71547652b82fep+0 + to_integer;
    const Real n = shifted - to_integer;
    const Real r = (x - n * 0x1.62e42fefa38p-1) - n * 0x1.ef35793c7673p-45;
    Real sum = r * (1.0 / 6227020800) + 1.0 / 479001600;
    sum = sum * r + 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    const Bits n_bits = std::bit_cast<Bits>(shifted) - to_integer_bits;
    return sum * std::bit_cast<Real>((n_bits + 1023) << 52);
}

template <class Real, class Bits>
[[gnu::always_inline]] inline Real log_of(Real x) noexcept {
    constexpr std::uint64_t one = 0x3FF0000000000000;
    constexpr std::uint64_t root_half = 0x3FE6A09E667F3BCD;
    constexpr std::uint64_t fraction = 0x000FFFFFFFFFFFFF;
    const Bits bits = std::bit_cast<Bits>(x) + (one - root_half);
    const Real e = std::bit_cast<Real>((bits >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
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
    return e * 0x1.62e42fefa39efp-1 + (t * 2.0 + t * s * series * 2.0);
}

template <class Real, class Bits>
[[gnu::always_inline]] inline Real log1p_of(Real x) noexcept {
    const Real u = x + 1.0;
    return log_of<Real, Bits>(u) + (x - (u - 1.0)) / u;
}

}  // namespace assay

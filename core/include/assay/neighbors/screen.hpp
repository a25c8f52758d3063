// Which rows may be as near as a given distance, by float32 products: never misses one.
//
//     s(q, r) = h(r) - q.r,   h(r) = |r|^2 / 2 - allowance(r)             in float32
//     hits    = all (row, query) with not s > limit(q)
//
// q and r are the data moved by a common centre, scaled by a power of two and rounded
// to float32 (frame.hpp). Without rounding s = (|q - r|^2 - |q|^2) / 2. With u = 2^-24,
// Q = |q| and R = |r| after rounding, a row at true distance D has
//
//     |q - r|  <=  D + u (Q + R)                                rounding of the data
//     s        <=  (|q - r|^2 - Q^2) / 2 + (d + 2) u (R^2 / 2 + Q R)    and of the sum
//
// and, as 2 x y <= x^2 + y^2, all error falls into a part of the row and one of the query:
//
//     allowance(r) = (d + 4) u R^2
//     limit(q)     = ((D + u Q)^2 (1 + 2 u) - Q^2) / 2 + (d + 4) u Q^2 / 2
//
// so that a far outlier costs nothing to the other rows.
//
// Needs   group: 8 queries as one panel of width 8; panels of width 32 (panels.hpp);
//         room for one hit per pair. Rows count from the first panel; lanes behind
//         the last row, and queries without a limit, may hit.
// Cost    d fused multiply-adds per pair, 8 x 32 pairs at a time in registers.
// Source  Higham: Accuracy and stability of numerical algorithms (2002), section 3.1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "assay/neighbors/pairs.hpp"

namespace assay::neighbors {

template <class Level>
struct Screen {
    // half_norms: h of every lane of the panels. Returns the number of hits.
    static std::size_t run(const float* group, const float* panels, const float* half_norms,
                           std::size_t d, std::size_t n_panels, const float* limit,
                           Pair* hits) noexcept;

    // The same, and s of every hit.
    static std::size_t run(const float* group, const float* panels, const float* half_norms,
                           std::size_t d, std::size_t n_panels, const float* limit, Pair* hits,
                           float* score) noexcept;
};

namespace detail {

inline constexpr double unit = 0x1.01p-24;  // u, and room for the float64 steps around it

// Above this size products come near to overflow, below it sums near to underflow (or
// to where a processor may flush them to zero).
inline constexpr double largest = 0x1p60;
[[nodiscard]] inline double tiny(double n) noexcept { return n * 0x1p-100; }

// (d + 4) u: as long as it is small, second-order terms are within its last bits.
inline constexpr double max_features = 0x1p16;
[[nodiscard]] inline double sum_error(double n) noexcept { return (n + 4) * 1.01 * unit; }

}  // namespace detail

// h(r), given |r|. Rows about which nothing can be said always pass.
[[nodiscard]] inline float screen_half_norm(double norm, std::size_t d) noexcept {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const auto n = static_cast<double>(d);
    if (!(norm < detail::largest && n < detail::max_features)) {
        return -infinity;
    }
    const double half = norm * norm * (0.5 - detail::sum_error(n)) - detail::tiny(n) * (1 + norm);
    return std::nextafter(static_cast<float>(half), -infinity);
}

// limit(q) for rows at a float64 distance (distance.hpp, Euclidean) of at most
// `distance`, given |q| and the scale of the frame. Infinite: all rows pass.
[[nodiscard]] inline float screen_limit(double distance, double scale, double norm,
                                        std::size_t d) noexcept {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const auto n = static_cast<double>(d);
    // The true distance can exceed the computed one by rounding and by underflow.
    const double true_distance =
        scale * (distance * (1 + (n + 8) * 0x1p-52) + std::sqrt(n) * 0x1p-536);
    if (!(norm < detail::largest && true_distance < detail::largest && n < detail::max_features)) {
        return infinity;
    }
    const double reach = (true_distance + detail::unit * norm) * (1 + 2 * detail::unit);
    const double limit = (reach - norm) * (reach + norm) / 2 +
                         norm * norm * detail::sum_error(n) / 2 + detail::tiny(n) * (1 + norm);
    // What float64 lost in the norms and in this line.
    const double lost = (n + 8) * 0x1p-51 * (reach * reach + norm * norm);
    return std::nextafter(static_cast<float>(limit + lost), infinity);
}

// The largest float64 distance (distance.hpp, Euclidean) that a row with a finite s <= score
// can have, given |q| and the scale of the frame: the bounds above, read backwards. A row at
// distance D from the query has R <= Q + D, so that its own norm is not needed:
//
//     D^2 (1 - 4 g)  <=  2 s + Q^2 (1 + 5 g),      g = 2.2 (d + 4) u
[[nodiscard]] inline double screen_reach(float score, double scale, double norm,
                                         std::size_t d) noexcept {
    const auto n = static_cast<double>(d);
    const double g = 2.2 * detail::sum_error(n);
    if (!(norm < detail::largest && n < detail::max_features)) {
        return std::numeric_limits<double>::infinity();
    }
    const double square = 2 * static_cast<double>(score) +
                          norm * norm * (1 + 5 * g + (n + 8) * 0x1p-51) + 4 * detail::tiny(n);
    const double distance = std::sqrt(std::max(square, 0.0) / (1 - 4 * g));
    const double moved = distance * (1 + 2 * detail::unit) + 2 * detail::unit * norm;
    return moved / scale * (1 + (n + 8) * 0x1p-52) + std::sqrt(n) * 0x1p-536;
}

}  // namespace assay::neighbors

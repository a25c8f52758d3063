// Bounds of true distances from computed ones, and when they decide an assignment.
//
// A squared distance S (common/distance.hpp) is a sum of squares in float64; with
// g = (d / 8 + 12) 2^-52 and t = 2^-500 for what underflows,
//
//     sqrt(S) (1 - g) - t  <=  true distance  <=  sqrt(S) (1 + g) + t.
//
// If u bounds the distance to one centre from above, l those to all others from below and
//
//     u (1 + 4 g) + 2^-480 < l,
//
// then the computed S of that centre is less than every other computed S: no scan could find
// another nearest centre, nor a tie. So a pruned assignment is the full one, label for label.
//
// When a centre moves by at most m, u may grow by m, and l shrink by it (Hamerly).
//
// Source  Hamerly: Making k-means even faster (SDM 2010), algorithm 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace assay::cluster {

struct DistanceBounds {
    double slack;  // g

    [[gnu::always_inline]] static DistanceBounds of(std::size_t d) noexcept {
        return {(static_cast<double>(d) / 8 + 12) * 0x1p-52};
    }
    [[gnu::always_inline]] double above(double squared) const noexcept {
        return std::sqrt(squared) * (1 + slack) + 0x1p-500;
    }
    // An S that overflowed says only that the distance is about 2^512 or more.
    [[gnu::always_inline]] double below(double squared) const noexcept {
        const double root = squared < 0x1.fp1023 ? std::sqrt(squared) : 0x1p511;
        return root * (1 - slack) - 0x1p-500;
    }
    [[gnu::always_inline]] bool decide(double upper, double lower) const noexcept {
        return upper * (1 + 4 * slack) + 0x1p-480 < lower;
    }
    // Rounded up and down; neither ever leaves the safe side.
    [[gnu::always_inline]] static double moved_up(double upper, double shift) noexcept {
        return (upper + shift) * (1 + 0x1p-51);
    }
    [[gnu::always_inline]] static double moved_down(double lower, double shift) noexcept {
        const double left = lower * (1 - 0x1p-51) - shift * (1 + 0x1p-51);
        return left > 0 ? left : 0;
    }
    // Any centre that may be nearest or second nearest to a row at distance `upper` of centre a
    // lies within this reach of a, whose nearest other centre is at most 2 `half_gap` away.
    [[gnu::always_inline]] double reach(double upper, double gap) const noexcept {
        return (2 * upper + gap) * (1 + 8 * slack) + 0x1p-470;
    }
};

}  // namespace assay::cluster

// The best cut of one numeric column for several classes and integer weights, by Gini.
//
//     score = (a (W - w) + b w) / (w (W - w))      w: weight on the left, W: of the node
//                                                  a, b: sums of squared class weights, both sides
//
// The histogram has a row of `lanes` counts for every bin, one per class and zeros behind, so that
// what the left side gains with a bin is one vector. b needs no counts of its own:
// (T - l)^2 = T^2 - 2 T l + l^2. All sums are integers, so the score has the bits that
// ClassTarget::Scan gives it.
//
// Needs   node weight below class_cut_weight; lanes from class_lanes, counts in rows of lanes.
// Cost    a few cycles per bin; the limit are the three sums over the lanes of a vector.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/common/dispatch.hpp"

namespace assay::tree {

struct ClassCut {
    double score = -1;
    std::int32_t last_left = -1;  // bin; -1: no cut
    std::int32_t first_right = -1;
};

inline constexpr std::size_t most_class_lanes = 64;
// Counts are 16 bits with a sign, their squares add up in 32.
inline constexpr std::uint32_t class_cut_weight = 1U << 15;

// Room for the counts of a bin: 8, 16, 32 or 64; 0: too many classes.
[[nodiscard]] constexpr std::size_t class_lanes(std::size_t n_classes) noexcept {
    std::size_t lanes = 8;
    while (lanes < n_classes) {
        lanes *= 2;
    }
    return lanes <= most_class_lanes ? lanes : 0;
}

// Whether a histogram is cheaper than to sort the rows: measured on digits, letter and covtype,
// where a limit of twice or half as many rows costs up to 6 % more time, mostly nothing.
[[nodiscard]] constexpr bool prefers_class_cut(std::size_t n_rows, std::size_t n_bins,
                                               std::size_t lanes) noexcept {
    return 64 * n_rows >= n_bins * (16 + lanes);
}

template <class Level>
struct ClassCutSearch {
    // At most 256 bins; `total` has `lanes` counts. The first cut with the largest score.
    static ClassCut dense(const std::int16_t* cells, std::size_t n_bins, std::size_t lanes,
                          const std::int16_t* total, double min_weight) noexcept;
};

}  // namespace assay::tree

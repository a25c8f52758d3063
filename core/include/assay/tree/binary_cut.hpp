// The best cut of one numeric column for two classes and integer weights.
//
//     score = (p W - P w)^2 / (w (W - w))      w, p: weight and weight of class 1 on the left
//                                              W, P: the same of the node
//
// which orders cuts as the Gini gain does. `dense` takes the histogram of a byte column,
// `few` up to few_rows rows as keys, (code << 24) + (weight << 12) + weight of class 1, and
// sorts them in registers; `sorted` takes rows in order (presort.hpp), `marked` too, of weight 1
// (marked_rows.hpp). All give the first cut with the largest score.
//
// Needs   dense: node weight below 2^16 (Narrow) or 2^32 (Wide); `few`: below 2^12, keys
//         padded with no_key to a multiple of 16.
// Cost    dense about 2 cycles per bin, sorted about 4 per row, few about 150 cycles for 16 keys
//         (AVX-512). The limit is the division, one per candidate, and its ten companions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/common/dispatch.hpp"

namespace assay::tree {

struct BinaryCut {
    double score = -1;
    std::int32_t last_left = -1;  // bin; -1: no cut
    std::int32_t first_right = -1;
    std::uint32_t left_weight = 0;
    std::uint32_t left_ones = 0;
};

inline constexpr std::size_t few_rows = 32;
inline constexpr std::uint32_t no_key = 0xFF000000U;

template <class Level>
struct BinaryCutSearch {
    // Cells are (weight << 16) + ones, or (weight << 32) + ones; n_bins of them, and zeros up
    // to a multiple of 16.
    static BinaryCut dense(const std::uint32_t* cells, std::size_t n_bins, std::uint32_t weight,
                           std::uint32_t ones, double min_weight) noexcept;
    static BinaryCut dense(const std::uint64_t* cells, std::size_t n_bins, std::uint32_t weight,
                           std::uint32_t ones, double min_weight) noexcept;
    // Elements of presort.hpp, load = (weight << 1) + class.
    static BinaryCut sorted(const std::uint64_t* elements, std::size_t n, std::uint32_t weight,
                            std::uint32_t ones, double min_weight) noexcept;
    // Words of marked_rows.hpp, the label is the class; `last_left` is a place in the list.
    static BinaryCut marked(const std::uint32_t* rows, std::size_t n, std::uint32_t ones,
                            double min_weight) noexcept;
    static BinaryCut few(const std::uint32_t* keys, std::size_t n_keys, std::uint32_t weight,
                         std::uint32_t ones, double min_weight) noexcept;
};

}  // namespace assay::tree

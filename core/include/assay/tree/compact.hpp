// Nodes packed to 16 bytes, for walking many rows: one cache line per step at most.
//
//     inner, numeric    test = threshold;             left = first child
//     inner, nominal    test = bits of the word slot; left = first child; is_nominal set
//     leaf              test = NaN whose low 32 bits are the value slot; left = itself - 1
//
// A comparison x <= NaN is false for every x, so a leaf steps to left + 1 = itself: rows
// that arrived stay where they are, and the walk needs no branch. Places of nodes are
// counted in units of 8 bytes, which an address takes without a shift: node i is at 2 i.
//
// Needs   nodes that passed predict_check.hpp; at most `most_columns` columns.
// Cost    one pass over the nodes of a tree.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "assay/tree/nodes.hpp"

namespace assay::tree {

struct CompactNode {
    static constexpr std::uint16_t missing_left = 1;
    static constexpr std::uint16_t is_nominal = 2;
    static constexpr std::size_t most_columns = 65536;
    static constexpr std::uint32_t units = 2;  // of 8 bytes

    double test;
    std::uint32_t left;
    std::uint16_t column;
    std::uint16_t flags;

    // Value slot of a leaf, word slot of a nominal split.
    [[nodiscard]] std::uint32_t slot() const noexcept {
        return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(test));
    }
};

[[nodiscard]] inline double slot_test(std::int32_t slot) noexcept {
    constexpr std::uint64_t quiet_nan = 0x7FF8000000000000;
    return std::bit_cast<double>(quiet_nan | static_cast<std::uint32_t>(slot));
}

// Nodes of tree t to out[0 ...].
inline void compact_tree(const NodesView& nodes, std::size_t t, CompactNode* out) noexcept {
    const auto first = static_cast<std::size_t>(nodes.start[t]);
    const auto count = static_cast<std::size_t>(nodes.start[t + 1]) - first;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t node = first + i;
        const std::int32_t left = nodes.left[node];
        const std::int32_t slot = nodes.slot[node];
        const bool leaf = left == 0;
        const bool by_slot = slot >= 0;
        const auto place = static_cast<std::uint32_t>(i) * CompactNode::units;
        const auto child = static_cast<std::uint32_t>(left) * CompactNode::units;
        const unsigned flags = (nodes.missing_left[node] != 0 ? CompactNode::missing_left : 0U) |
                               (by_slot ? CompactNode::is_nominal : 0U);
        out[i].test = by_slot ? slot_test(slot) : nodes.threshold[node];
        out[i].left = leaf ? place - CompactNode::units : child;
        out[i].column = static_cast<std::uint16_t>(leaf ? 0 : nodes.feature[node]);
        out[i].flags = static_cast<std::uint16_t>(leaf ? 0U : flags);
    }
}

}  // namespace assay::tree

// Rows down a tree, several at once.
//
// A step needs a node, then the row's value of the node's column: two dependent loads.
// Eight walks that know nothing of each other are kept in flight, so that the loads of
// one hide behind those of the others. A walk that reached its leaf stays there, which
// needs no branch; after some steps the rows still on their way are gathered into new
// groups, so that few steps are wasted on rows that have arrived.
//
// A tree is anything with step(at, row) -> place of the next node (`at` itself at a leaf),
// arrived(at), number(at) and slot(leaf number):
//     CompactTree    packed nodes, for many rows
//     FlatTree       the model's own arrays, for a few rows
//
// Needs   nodes that passed predict_check.hpp.
// Cost    about 1.5 ns per step and thread while the nodes are in L2.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/tree/compact.hpp"
#include "assay/tree/nodes.hpp"

namespace assay::tree {

// Level sets of a model, for nominal splits.
struct LevelSets {
    const std::uint32_t* words = nullptr;
    const std::int32_t* n_levels = nullptr;

    template <class T>
    [[nodiscard]] bool goes_left(std::uint32_t slot, std::uint32_t column, bool missing_left,
                                 T x) const noexcept {
        if (!(x >= 0) || x >= static_cast<T>(n_levels[column])) {
            return missing_left;
        }
        const auto level = static_cast<std::uint32_t>(x);
        return (words[slot + level / 32] >> (level % 32) & 1U) != 0;
    }
};

// Plain: no value is missing and no split is nominal.
template <bool plain>
struct CompactTree {
    const CompactNode* nodes;
    LevelSets sets;

    [[gnu::always_inline]] const CompactNode& node(std::uint32_t at) const noexcept {
        return *reinterpret_cast<const CompactNode*>(reinterpret_cast<const char*>(nodes) +
                                                     std::size_t{at} * 8);
    }
    [[gnu::always_inline]] bool arrived(std::uint32_t at) const noexcept {
        return node(at).left + CompactNode::units == at;
    }
    [[gnu::always_inline]] std::size_t slot(std::uint32_t leaf) const noexcept {
        return nodes[leaf].slot();
    }
    // Number of a node, from its place.
    [[gnu::always_inline]] static std::uint32_t number(std::uint32_t at) noexcept {
        return at / CompactNode::units;
    }

    template <class T>
    [[gnu::always_inline]] std::uint32_t step(std::uint32_t at, const T* row) const noexcept {
        const CompactNode& here = node(at);
        const T x = row[here.column];
        bool stays = static_cast<double>(x) <= here.test;
        if constexpr (!plain) {
            const bool missing_left = (here.flags & CompactNode::missing_left) != 0;
            stays |= (x != x) & missing_left;
            if ((here.flags & CompactNode::is_nominal) != 0) {
                stays = sets.goes_left(here.slot(), here.column, missing_left, x);
            }
        }
        return here.left + (stays ? 0U : CompactNode::units);
    }
};

struct FlatTree {
    const NodesView* nodes;
    std::size_t first;

    [[gnu::always_inline]] bool arrived(std::uint32_t at) const noexcept {
        return nodes->left[first + at] == 0;
    }
    [[gnu::always_inline]] std::size_t slot(std::uint32_t leaf) const noexcept {
        return static_cast<std::size_t>(nodes->slot[first + leaf]);
    }
    [[gnu::always_inline]] static std::uint32_t number(std::uint32_t at) noexcept { return at; }

    template <class T>
    [[gnu::always_inline]] std::uint32_t step(std::uint32_t at, const T* row) const noexcept {
        const std::size_t i = first + at;
        const auto left = static_cast<std::uint32_t>(nodes->left[i]);
        if (left == 0) {
            return at;
        }
        const T x = row[nodes->feature[i]];
        return left + (nodes->goes_left(i, x) ? 0U : 1U);
    }
};

inline constexpr std::size_t walk_lanes = 8;

// Rows on their way: which they are and where.
struct WalkScratch {
    explicit WalkScratch(std::size_t rows) : id(rows + walk_lanes), at(rows + walk_lanes) {}

    std::vector<std::uint32_t> id;
    std::vector<std::uint32_t> at;
};

// `tree(lane)` and `row(lane)` say what each lane walks, for some steps.
template <class TreeOf, class RowOf>
[[gnu::always_inline]] inline void walk_lanes_for(std::size_t steps, TreeOf tree, RowOf row,
                                                  std::uint32_t* at) noexcept {
    std::array<std::uint32_t, walk_lanes> now;
    for (std::size_t lane = 0; lane < walk_lanes; ++lane) {
        now[lane] = at[lane];
    }
    for (std::size_t step = 0; step < steps; ++step) {
#pragma GCC unroll 8
        for (std::size_t lane = 0; lane < walk_lanes; ++lane) {
            now[lane] = tree(lane).step(now[lane], row(lane));
        }
    }
    for (std::size_t lane = 0; lane < walk_lanes; ++lane) {
        at[lane] = now[lane];
    }
}

// Steps of the first round: a little more than a balanced tree is deep.
[[nodiscard]] inline std::size_t first_steps(std::size_t n_nodes) noexcept {
    const auto depth = static_cast<std::size_t>(std::bit_width(n_nodes)) - 1;
    return depth <= 2 ? depth : depth + 2;
}

// leaf[i] of rows i = 0 .. count - 1; `row(i)` are their values.
template <class Tree, class RowOf>
void walk_rows(const Tree& tree, std::size_t n_nodes, std::size_t count, RowOf row,
               std::uint32_t* leaf, WalkScratch& scratch) noexcept {
    std::uint32_t* id = scratch.id.data();
    std::uint32_t* at = scratch.at.data();
    for (std::size_t i = 0; i < count; ++i) {
        id[i] = static_cast<std::uint32_t>(i);
        at[i] = 0;
    }
    std::size_t steps = first_steps(n_nodes);
    for (std::size_t active = count; active > 0;) {
        for (std::size_t i = active; i % walk_lanes != 0; ++i) {  // fill the last group
            id[i] = id[active - 1];
            at[i] = at[active - 1];
        }
        std::size_t left = 0;
        for (std::size_t i = 0; i < active; i += walk_lanes) {
            decltype(row(0)) rows[walk_lanes];
            std::uint32_t ids[walk_lanes];
            std::uint32_t now[walk_lanes];
            for (std::size_t lane = 0; lane < walk_lanes; ++lane) {
                ids[lane] = id[i + lane];
                now[lane] = at[i + lane];
                rows[lane] = row(ids[lane]);
            }
            walk_lanes_for(
                steps, [&](std::size_t) -> const Tree& { return tree; },
                [&](std::size_t lane) { return rows[lane]; }, now);
            for (std::size_t lane = 0; lane < walk_lanes; ++lane) {
                leaf[ids[lane]] = Tree::number(now[lane]);
                id[left] = ids[lane];
                at[left] = now[lane];
                left += static_cast<std::size_t>(!tree.arrived(now[lane])) &
                        static_cast<std::size_t>(i + lane < active);
            }
        }
        active = left;
        steps = steps / 2 + 1;
        steps = steps < 8 ? steps : 8;
    }
}

// Leaves of one row in trees 0 .. count - 1, eight trees at once.
template <class TreeOf, class T>
void walk_trees(std::size_t count, TreeOf tree, const T* row, std::uint32_t* leaf) noexcept {
    for (std::size_t t = 0; t < count; t += walk_lanes) {
        std::uint32_t at[walk_lanes] = {};
        const auto each = [&](std::size_t lane) { return tree(std::min(t + lane, count - 1)); };
        const auto on_their_way = [&] {
            bool any = false;
            for (std::size_t lane = 0; lane < walk_lanes; ++lane) {
                any |= !each(lane).arrived(at[lane]);
            }
            return any;
        };
        while (on_their_way()) {
            walk_lanes_for(4, each, [&](std::size_t) { return row; }, at);
        }
        for (std::size_t lane = 0; lane < walk_lanes && t + lane < count; ++lane) {
            leaf[t + lane] = at[lane];
        }
    }
}

}  // namespace assay::tree

// The shape of a search tree: where it is cut is known from the numbers alone.
//
//     a complete binary tree of `depth` levels of cuts in the middle of the rows,
//     of which every third level is kept: a node has up to eight children
//
// Node i at binary level b holds the places [i n / 2^b, (i + 1) n / 2^b) of the permuted
// rows. So there are no pointers, and the bounds of eight children fill whole vectors.
//
// Needs   rows >= 1, leaf_size >= 1.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

namespace assay::neighbors {

inline constexpr std::size_t fan_out = 8;
inline constexpr int fan_levels = 3;  // 2^3 = 8
inline constexpr std::size_t lane_group = 8;

struct TreeShape {
    std::size_t rows = 0;
    int depth = 0;          // binary levels above the leaves
    std::size_t lanes = 0;  // room for rows in a leaf, a multiple of 8
    // First binary level of each kept level: 0, then steps of 3; the last is `depth`.
    std::vector<int> levels;
    // Number of nodes with children on the kept levels before each.
    std::vector<std::size_t> first_node;

    TreeShape() = default;
    TreeShape(std::size_t n_rows, std::size_t leaf_size) : rows(n_rows) {
        const auto most_in_leaf = [&] { return (rows + n_leaves() - 1) >> depth; };
        while (most_in_leaf() > leaf_size) {
            ++depth;
        }
        const std::size_t most = most_in_leaf();
        lanes = (most + lane_group - 1) / lane_group * lane_group;
        levels.push_back(0);
        for (int level = depth % fan_levels; level <= depth; level += fan_levels) {
            if (level > 0) {
                levels.push_back(level);
            }
        }
        std::size_t nodes = 0;
        for (std::size_t kept = 0; kept + 1 < levels.size(); ++kept) {
            first_node.push_back(nodes);
            nodes += std::size_t{1} << levels[kept];
        }
        first_node.push_back(nodes);
        assert(levels.back() == depth && levels.size() == first_node.size());
    }

    [[nodiscard]] std::size_t n_leaves() const noexcept { return std::size_t{1} << depth; }
    [[nodiscard]] std::size_t n_nodes() const noexcept { return first_node.back(); }

    // First place of node i at binary level b. (i n fits: n < 2^32, i <= 2^32.)
    [[nodiscard]] std::size_t begin(std::size_t node, int level) const noexcept {
        assert(level <= depth && node <= std::size_t{1} << level);
        return node * rows >> level;
    }
    [[nodiscard]] std::size_t leaf_begin(std::size_t leaf) const noexcept {
        return begin(leaf, depth);
    }
    [[nodiscard]] std::size_t leaf_rows(std::size_t leaf) const noexcept {
        return leaf_begin(leaf + 1) - leaf_begin(leaf);
    }
    [[nodiscard]] std::size_t n_children(std::size_t kept) const noexcept {
        return std::size_t{1} << (levels[kept + 1] - levels[kept]);
    }
};

}  // namespace assay::neighbors

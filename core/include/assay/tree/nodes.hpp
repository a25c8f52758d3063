// Grown trees as flat arrays, one after the other.
//
// Nodes of tree t are at start[t] .. start[t + 1] - 1; the first is its root. Children
// come after their parent and side by side, numbered from the root of their tree:
//
//     left[i] = 0                leaf; value row slot[i] is its answer
//     left[i] = c > 0            children c and c + 1
//     slot[i] = -1 (inner)       numeric split: left when x <= threshold[i]
//     slot[i] = w >= 0 (inner)   nominal split: left when the level's bit is set in words[w ...]
//                                (bit l of word w + l / 32 for level code l)
//     missing_left[i]            where a missing value goes, and a level unseen in fit
//
// `value` has n_outputs numbers per row. Leaves may share a row: fully grown forests have
// mostly pure leaves.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::tree {

struct NodesView {
    std::span<const std::int64_t> start;         // n_trees + 1
    std::span<const std::int32_t> left;          // per node
    std::span<const std::int32_t> feature;       // per node, -1 at a leaf
    std::span<const double> threshold;           // per node, 0 where it has no meaning
    std::span<const std::uint8_t> missing_left;  // per node
    std::span<const std::int32_t> slot;          // per node
    std::span<const std::uint32_t> words;        // level sets
    std::span<const std::int32_t> n_levels;      // per column, 0 = numeric
    std::span<const double> value;               // rows of n_outputs
    std::size_t n_outputs = 1;

    [[nodiscard]] std::size_t n_trees() const noexcept { return start.size() - 1; }

    // Whether a value goes left at inner node i (index into the flat arrays).
    template <class T>
    [[nodiscard]] bool goes_left(std::size_t i, T x) const noexcept {
        if (std::isnan(x)) {
            return missing_left[i] != 0;
        }
        if (slot[i] < 0) {
            return static_cast<double>(x) <= threshold[i];
        }
        const auto levels = n_levels[static_cast<std::size_t>(feature[i])];
        if (!(x >= 0) || x >= static_cast<T>(levels)) {
            return missing_left[i] != 0;
        }
        const auto level = static_cast<std::size_t>(x);
        return (words[static_cast<std::size_t>(slot[i]) + level / 32] >> (level % 32) & 1U) != 0;
    }
};

// The same, owned: what a grower fills.
struct Nodes {
    std::vector<std::int64_t> start{0};
    std::vector<std::int32_t> left;
    std::vector<std::int32_t> feature;
    std::vector<double> threshold;
    std::vector<std::uint8_t> missing_left;
    std::vector<std::int32_t> slot;
    std::vector<std::uint32_t> words;
    std::vector<double> value;
    std::size_t n_outputs = 1;
};

}  // namespace assay::tree

// Whether flat trees are sound: what every walk relies on.
//
//     start       0 first, the number of nodes last, every tree has a root
//     left        0, or after the node itself with left + 1 inside the tree
//     sharing     every node but a root is a child exactly once (so: no loops, no orphans)
//     feature     inside the table; -1 at a leaf
//     slot        a value row at a leaf; -1 or a whole level set at an inner node
//     numbers     thresholds and values finite
//
// Cost    one pass over the nodes and one byte per node of working memory.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/tree/nodes.hpp"

namespace assay::tree {

enum class NodeFault : int { none, start, left, sharing, feature, slot, threshold, value };

namespace detail {

[[nodiscard]] inline NodeFault tree_fault(const NodesView& nodes, std::size_t t,
                                          std::vector<std::uint8_t>& has_parent) {
    const auto first = static_cast<std::size_t>(nodes.start[t]);
    const auto count = nodes.start[t + 1] - nodes.start[t];
    const auto n_columns = static_cast<std::int64_t>(nodes.n_levels.size());
    const auto n_rows = static_cast<std::int64_t>(nodes.value.size() / nodes.n_outputs);
    has_parent.assign(static_cast<std::size_t>(count), 0);
    std::int64_t n_children = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::size_t node = first + static_cast<std::size_t>(i);
        const std::int64_t left = nodes.left[node];
        const std::int64_t feature = nodes.feature[node];
        const std::int64_t slot = nodes.slot[node];
        if (!std::isfinite(nodes.threshold[node])) {
            return NodeFault::threshold;
        }
        if (left == 0) {
            if (feature != -1) {
                return NodeFault::feature;
            }
            if (slot < 0 || slot >= n_rows) {
                return NodeFault::slot;
            }
            continue;
        }
        if (left <= i || left + 1 >= count) {
            return NodeFault::left;
        }
        for (std::int64_t child = left; child <= left + 1; ++child) {
            if (has_parent[static_cast<std::size_t>(child)]++ != 0) {
                return NodeFault::sharing;
            }
        }
        n_children += 2;
        if (feature < 0 || feature >= n_columns) {
            return NodeFault::feature;
        }
        if (slot < -1) {
            return NodeFault::slot;
        }
        if (slot >= 0) {
            const std::int64_t levels = nodes.n_levels[static_cast<std::size_t>(feature)];
            const std::int64_t words = (levels + 31) / 32;
            if (levels < 1 || slot + words > static_cast<std::int64_t>(nodes.words.size())) {
                return NodeFault::slot;
            }
        }
    }
    return n_children == count - 1 ? NodeFault::none : NodeFault::sharing;
}

}  // namespace detail

// Needs   arrays of equal length per node, n_outputs >= 1, value.size() a multiple of it.
[[nodiscard]] inline NodeFault node_fault(const NodesView& nodes) {
    const auto n_nodes = static_cast<std::int64_t>(nodes.left.size());
    if (nodes.start.size() < 2 || nodes.start.front() != 0 || nodes.start.back() != n_nodes) {
        return NodeFault::start;
    }
    for (std::size_t t = 0; t < nodes.n_trees(); ++t) {
        if (nodes.start[t + 1] <= nodes.start[t] || nodes.start[t + 1] > n_nodes) {
            return NodeFault::start;
        }
    }
    std::vector<std::uint8_t> has_parent;
    for (std::size_t t = 0; t < nodes.n_trees(); ++t) {
        const NodeFault fault = detail::tree_fault(nodes, t, has_parent);
        if (fault != NodeFault::none) {
            return fault;
        }
    }
    for (const double value : nodes.value) {
        if (!std::isfinite(value)) {
            return NodeFault::value;
        }
    }
    return NodeFault::none;
}

}  // namespace assay::tree

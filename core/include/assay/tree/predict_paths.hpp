// Depths of nodes, and the nodes that rows pass.
//
//     depth[i]         0 at a root, 1 + that of the parent elsewhere
//     path of row i    the nodes from root to leaf in every tree, as flat indices, ascending
//
// Needs   nodes that passed predict_check.hpp.
// Cost    node_depths: one pass. fill_paths: O(rows * trees * depth).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/tree/nodes.hpp"

namespace assay::tree {

inline void node_depths(const NodesView& nodes, std::span<std::int32_t> depth) noexcept {
    for (std::size_t t = 0; t < nodes.n_trees(); ++t) {
        const auto first = static_cast<std::size_t>(nodes.start[t]);
        const auto end = static_cast<std::size_t>(nodes.start[t + 1]);
        depth[first] = 0;
        for (std::size_t i = first; i < end; ++i) {
            if (nodes.left[i] != 0) {
                const std::size_t child = first + static_cast<std::size_t>(nodes.left[i]);
                depth[child] = depth[child + 1] = depth[i] + 1;
            }
        }
    }
}

// Nodes passed by each row, of all trees: begin[i + 1] - begin[i] in the end.
template <class T>
void path_lengths(const NodesView& nodes, MatrixView<const T> X, std::span<std::int64_t> length,
                  int n_threads) {
    parallel_for(X.rows, n_threads, [&](std::size_t i) {
        std::int64_t passed = 0;
        for (std::size_t t = 0; t < nodes.n_trees(); ++t) {
            const auto first = static_cast<std::size_t>(nodes.start[t]);
            std::size_t at = first;
            for (++passed; nodes.left[at] != 0; ++passed) {
                const bool left =
                    nodes.goes_left(at, X(i, static_cast<std::size_t>(nodes.feature[at])));
                at = first + static_cast<std::size_t>(nodes.left[at]) + (left ? 0 : 1);
            }
        }
        length[i] = passed;
    });
}

// begin: X.rows + 1 offsets into index.
template <class T>
void fill_paths(const NodesView& nodes, MatrixView<const T> X, std::span<const std::int64_t> begin,
                std::span<std::int64_t> index, int n_threads) {
    parallel_for(X.rows, n_threads, [&](std::size_t i) {
        auto next = static_cast<std::size_t>(begin[i]);
        for (std::size_t t = 0; t < nodes.n_trees(); ++t) {
            const auto first = static_cast<std::size_t>(nodes.start[t]);
            std::size_t at = first;
            index[next++] = static_cast<std::int64_t>(at);
            while (nodes.left[at] != 0) {
                const bool left =
                    nodes.goes_left(at, X(i, static_cast<std::size_t>(nodes.feature[at])));
                at = first + static_cast<std::size_t>(nodes.left[at]) + (left ? 0 : 1);
                index[next++] = static_cast<std::int64_t>(at);
            }
        }
    });
}

}  // namespace assay::tree

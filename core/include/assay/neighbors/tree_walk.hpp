// The walk of one query through a tree (box_tree.hpp).
//
// First the leaf that the query falls into and those beside it: after that the k-th distance is
// nearly what it will be. Then the rest of the tree, depth first, the nearest node first; what has
// a bound that exceeds the limit is left out.
//
// A sink has `limit()`, and takes rows by `offer(S, row)`, or whole leaves into its `candidates()`.
//
// Cost    about O(log n) for each query in few dimensions, O(n) at worst.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "assay/neighbors/box_tree.hpp"
#include "assay/neighbors/candidates.hpp"
#include "assay/neighbors/tree_kernels.hpp"

namespace assay::neighbors {

// What one thread needs.
template <class Space>
class TreeWalk {
  public:
    using Query = typename Space::Query;

    explicit TreeWalk(const BoxTree<Space>& tree)
        : tree_(&tree),
          calls_(TreeCalls<Query>::in_use()),
          asked_(tree.space().start()),
          hits_(tree.shape().lanes),
          // Of each level at most all children wait.
          stack_(tree.shape().levels.size() * fan_out + 1) {
        if constexpr (Space::has_candidates) {
            take_ = CandidateCalls<Query>::in_use().scan;
        }
    }

    void ask(const double* row) { tree_->space().ask(asked_, row); }

    // The leaf that the query falls into, or is next to.
    [[nodiscard]] std::size_t home() const {
        const TreeShape& shape = tree_->shape();
        std::size_t node = 0;
        double low[fan_out];
        for (std::size_t kept = 0; kept + 1 < shape.levels.size(); ++kept) {
            calls_.bounds(asked_.query, tree_->boxes(kept, node), 0.0, low);
            const std::size_t children = shape.n_children(kept);
            const auto best = std::min_element(low, low + children) - low;
            node = node * children + static_cast<std::size_t>(best);
        }
        return node;
    }

    // Starts at the leaf `home`.
    template <class Sink>
    void visit(Sink& sink, std::size_t home) {
        const TreeShape& shape = tree_->shape();
        const std::size_t bottom = shape.levels.size() - 1;
        scan(home, sink);
        if (bottom == 0) {
            return;
        }
        const std::size_t children = shape.n_children(bottom - 1);
        const Step family{0.0, static_cast<std::uint32_t>(home / children),
                          static_cast<std::uint32_t>(bottom - 1)};
        scan_children(family, sink, home % children);
        if (bottom > 1) {
            descend({0.0, 0, 0}, sink);
            drain(sink, family.node);
        }
    }

    [[nodiscard]] std::size_t rows_seen() const noexcept { return rows_seen_; }

  private:
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    struct Step {
        double low;
        std::uint32_t node;
        std::uint32_t kept;
    };

    // Visits what waits, without the parent `done` of leaves.
    template <class Sink>
    void drain(Sink& sink, std::size_t done) {
        const std::size_t bottom = tree_->shape().levels.size() - 1;
        while (waiting_ > 0) {
            const Step step = stack_[--waiting_];
            if (step.low > sink.limit()) {
                continue;
            }
            if (step.kept + 1 != bottom) {
                descend(step, sink);
            } else if (step.node != done) {
                scan_children(step, sink, none);
            }
        }
    }

    // The children of a node that are within the limit, a bit each, and their bounds.
    template <class Sink>
    [[nodiscard]] std::uint32_t near_children(const Step& step, const Sink& sink,
                                              double* low) const {
        const double* boxes = tree_->boxes(step.kept, step.node);
        return calls_.bounds(asked_.query, boxes, sink.limit(), low) &
               ((1U << tree_->shape().n_children(step.kept)) - 1);
    }

    // Scans the leaves below a node, but for `done`. Near ones first would save 4 % of the rows,
    // and cost more in branches that cannot be foreseen.
    template <class Sink>
    void scan_children(const Step& step, Sink& sink, std::size_t done) {
        const std::size_t first = step.node * tree_->shape().n_children(step.kept);
        double low[fan_out];
        std::uint32_t near = near_children(step, sink, low);
        if (done != none) {
            near &= ~(1U << done);
        }
        for (; near != 0; near &= near - 1) {
            const auto child = static_cast<std::size_t>(std::countr_zero(near));
            if (low[child] <= sink.limit()) {
                scan(first + child, sink);
            }
        }
    }

    // Lets the children of a node wait.
    template <class Sink>
    void descend(const Step& step, const Sink& sink) {
        const std::size_t first = step.node * tree_->shape().n_children(step.kept);
        double low[fan_out];
        std::uint32_t near = near_children(step, sink, low);
        Step* const begin = stack_.data() + waiting_;
        std::size_t count = 0;
        // Sorted from far to near as they come: the nearest lies on top.
        for (; near != 0; near &= near - 1) {
            const auto child = static_cast<std::size_t>(std::countr_zero(near));
            std::size_t at = count++;
            for (; at > 0 && begin[at - 1].low < low[child]; --at) {
                begin[at] = begin[at - 1];
            }
            begin[at] = {low[child], static_cast<std::uint32_t>(first + child), step.kept + 1};
        }
        waiting_ += count;
    }

    template <class Sink>
    void scan(std::size_t leaf, Sink& sink) {
        const TreeShape& shape = tree_->shape();
        const std::size_t place = shape.leaf_begin(leaf);
        const std::size_t rows = shape.leaf_rows(leaf);
        rows_seen_ += rows;
        if constexpr (requires { sink.candidates(); }) {
            take_(asked_.query, tree_->leaf(leaf), shape.lanes, rows,
                  static_cast<std::uint32_t>(place), sink.candidates());
        } else {
            const std::size_t count = calls_.scan(asked_.query, tree_->leaf(leaf), shape.lanes,
                                                  rows, sink.limit(), hits_.data());
            for (std::size_t i = 0; i < count; ++i) {
                if (hits_[i].reduced <= sink.limit()) {
                    sink.offer(hits_[i].reduced, tree_->row(place + hits_[i].lane));
                }
            }
        }
    }

    using Take = void (*)(const Query&, const double*, std::size_t, std::size_t, std::uint32_t,
                          Candidates&) noexcept;

    const BoxTree<Space>* tree_;
    TreeCalls<Query> calls_;
    Take take_ = nullptr;
    typename Space::Asked asked_;
    std::vector<LeafHit> hits_;
    std::vector<Step> stack_;
    std::size_t waiting_ = 0;
    std::size_t rows_seen_ = 0;
};

}  // namespace assay::neighbors

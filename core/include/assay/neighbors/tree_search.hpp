// Nearest rows and rows within a radius, by a tree (box_tree.hpp) or row by row.
//
//     nearest   the k rows smallest by (distance, row), from near to far
//     within    all rows with distance <= radius, in ascending rows
//
// The tree is walked depth first, the nearest child first; a child whose bound exceeds the
// k-th distance so far is left out. Queries are taken in the order of the leaf they fall into,
// so that one finds in the cache what the one before has read. Each query is answered by
// itself: the result depends neither on the other queries nor on n_threads.
//
// Cost    about O(log n) for each query in few dimensions, O(n) at worst; memory k neighbours
//         per thread, and the result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/neighbors/box_tree.hpp"
#include "assay/neighbors/nearest_list.hpp"
#include "assay/neighbors/tree_kernels.hpp"

namespace assay::neighbors {

// Rows within a radius: those of query i are offsets[i] ... offsets[i + 1].
struct Ragged {
    std::vector<std::int64_t> offsets;
    std::vector<std::int64_t> index;
    std::vector<double> distance;
};

// The k best so far; rows may come in any order.
template <class Space>
class NearestSink {
  public:
    NearestSink(const Space& space, std::span<Neighbor> memory) : space_(&space), list_(memory) {}

    [[nodiscard]] double limit() const noexcept { return limit_; }
    void offer(double reduced, std::int64_t row) noexcept {
        list_.offer({space_->distance(reduced), reduced, row});
        if (list_.full()) {
            limit_ = space_->widen(list_.worst().reduced);
        }
    }
    void write(std::span<double> distance, std::span<std::int64_t> index) noexcept {
        list_.write(distance, index);
    }

  private:
    const Space* space_;
    NearestList list_;
    double limit_ = std::numeric_limits<double>::infinity();
};

// All rows within a radius.
template <class Space>
class RadiusSink {
  public:
    struct Hit {
        std::int64_t row;
        double distance;

        [[nodiscard]] friend bool operator<(const Hit& a, const Hit& b) noexcept {
            return a.row < b.row;
        }
    };

    RadiusSink(const Space& space, double radius, std::vector<Hit>& hits)
        : space_(&space), radius_(radius), limit_(space.reduce(radius)), hits_(&hits) {}

    [[nodiscard]] double limit() const noexcept { return limit_; }
    void offer(double reduced, std::int64_t row) {
        const double distance = space_->distance(reduced);
        if (distance <= radius_) {
            hits_->push_back({row, distance});
        }
    }

  private:
    const Space* space_;
    double radius_;
    double limit_;
    std::vector<Hit>* hits_;
};

// What one thread needs to walk a tree.
template <class Space>
class TreeWalk {
  public:
    using Query = typename Space::Query;

    explicit TreeWalk(const BoxTree<Space>& tree)
        : tree_(&tree),
          calls_(TreeCalls<Query>::in_use()),
          asked_(tree.space().start()),
          hits_(tree.shape().lanes) {}

    void ask(const double* row) { tree_->space().ask(asked_, row); }

    // The leaf that the query falls into, or is next to.
    [[nodiscard]] std::size_t home() const {
        const TreeShape& shape = tree_->shape();
        std::size_t node = 0;
        double low[fan_out];
        for (std::size_t kept = 0; kept + 1 < shape.levels.size(); ++kept) {
            calls_.bounds(asked_.query, tree_->boxes(kept, node), low);
            const std::size_t children = shape.n_children(kept);
            const auto best = std::min_element(low, low + children) - low;
            node = node * children + static_cast<std::size_t>(best);
        }
        return node;
    }

    template <class Sink>
    void visit(Sink& sink) {
        const TreeShape& shape = tree_->shape();
        const std::size_t bottom = shape.levels.size() - 1;
        stack_.clear();
        stack_.push_back({0.0, 0, 0});
        while (!stack_.empty()) {
            const Step step = stack_.back();
            stack_.pop_back();
            if (step.low > sink.limit()) {
                continue;
            }
            if (step.kept == bottom) {
                scan(step.node, sink);
            } else {
                descend(step, sink.limit());
            }
        }
    }

    [[nodiscard]] std::size_t rows_seen() const noexcept { return rows_seen_; }

  private:
    struct Step {
        double low;
        std::uint32_t node;
        std::uint32_t kept;
    };

    void descend(const Step& step, double limit) {
        const std::size_t children = tree_->shape().n_children(step.kept);
        double low[fan_out];
        calls_.bounds(asked_.query, tree_->boxes(step.kept, step.node), low);
        const std::size_t first = stack_.size();
        stack_.resize(first + fan_out);
        Step* const begin = stack_.data() + first;
        std::size_t count = 0;
        // Sorted from far to near as they come: the nearest lies on top.
        for (std::size_t child = 0; child < children; ++child) {
            if (low[child] > limit) {
                continue;
            }
            std::size_t at = count++;
            for (; at > 0 && begin[at - 1].low < low[child]; --at) {
                begin[at] = begin[at - 1];
            }
            begin[at] = {low[child], static_cast<std::uint32_t>(step.node * children + child),
                         step.kept + 1};
        }
        stack_.resize(first + count);
    }

    template <class Sink>
    void scan(std::size_t leaf, Sink& sink) {
        const TreeShape& shape = tree_->shape();
        const std::size_t place = shape.leaf_begin(leaf);
        const std::size_t rows = shape.leaf_rows(leaf);
        rows_seen_ += rows;
        const std::size_t count = calls_.scan(asked_.query, tree_->leaf(leaf), shape.lanes, rows,
                                              sink.limit(), hits_.data());
        for (std::size_t i = 0; i < count; ++i) {
            if (hits_[i].reduced <= sink.limit()) {
                sink.offer(hits_[i].reduced, tree_->row(place + hits_[i].lane));
            }
        }
    }

    const BoxTree<Space>* tree_;
    TreeCalls<Query> calls_;
    typename Space::Asked asked_;
    std::vector<LeafHit> hits_;
    std::vector<Step> stack_;
    std::size_t rows_seen_ = 0;
};

// Queries in the order of their leaves.
template <class Space>
[[nodiscard]] std::vector<std::uint32_t> query_order(const BoxTree<Space>& tree,
                                                     MatrixView<const double> queries,
                                                     int n_threads) {
    std::vector<std::uint64_t> keys(queries.rows);
    parallel_chunks(queries.rows, 512, n_threads, [&](Range range) {
        TreeWalk<Space> walk(tree);
        for (std::size_t i = range.begin; i < range.end; ++i) {
            walk.ask(queries.row(i).data());
            keys[i] = static_cast<std::uint64_t>(walk.home()) << 32 | i;
        }
    });
    std::sort(keys.begin(), keys.end());
    std::vector<std::uint32_t> order(queries.rows);
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = static_cast<std::uint32_t>(keys[i]);
    }
    return order;
}

inline constexpr std::size_t query_chunk = 128;

// Returns the number of rows looked at, over all queries.
template <class Space>
std::size_t tree_nearest(const BoxTree<Space>& tree, MatrixView<const double> queries,
                         MatrixView<double> distance, MatrixView<std::int64_t> index,
                         int n_threads) {
    const std::size_t k = distance.cols;
    const auto order = query_order(tree, queries, n_threads);
    std::vector<std::size_t> seen(chunk_count(order.size(), query_chunk));
    parallel_chunks(order.size(), query_chunk, n_threads, [&](Range range) {
        TreeWalk<Space> walk(tree);
        std::vector<Neighbor> memory(k);
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const std::size_t query = order[i];
            walk.ask(queries.row(query).data());
            NearestSink<Space> sink(tree.space(), memory);
            walk.visit(sink);
            sink.write(distance.row(query), index.row(query));
        }
        seen[range.index] = walk.rows_seen();
    });
    return std::accumulate(seen.begin(), seen.end(), std::size_t{0});
}

// Puts the hits of chunks of queries, taken in `order`, into one array in the order of queries.
template <class Hit>
[[nodiscard]] Ragged collect(std::span<const std::uint32_t> order,
                             const std::vector<std::vector<Hit>>& hits,
                             const std::vector<std::size_t>& counts, std::size_t chunk,
                             int n_threads) {
    Ragged found;
    found.offsets.assign(order.size() + 1, 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
        found.offsets[order[i] + 1] = static_cast<std::int64_t>(counts[i]);
    }
    std::partial_sum(found.offsets.begin(), found.offsets.end(), found.offsets.begin());
    found.index.resize(static_cast<std::size_t>(found.offsets.back()));
    found.distance.resize(found.index.size());
    parallel_chunks(order.size(), chunk, n_threads, [&](Range range) {
        const Hit* from = hits[range.index].data();
        for (std::size_t i = range.begin; i < range.end; ++i) {
            auto to = static_cast<std::size_t>(found.offsets[order[i]]);
            for (std::size_t hit = 0; hit < counts[i]; ++hit, ++from, ++to) {
                found.index[to] = from->row;
                found.distance[to] = from->distance;
            }
        }
    });
    return found;
}

template <class Space>
[[nodiscard]] Ragged tree_within(const BoxTree<Space>& tree, MatrixView<const double> queries,
                                 double radius, int n_threads) {
    using Sink = RadiusSink<Space>;
    const auto order = query_order(tree, queries, n_threads);
    std::vector<std::vector<typename Sink::Hit>> hits(chunk_count(order.size(), query_chunk));
    std::vector<std::size_t> counts(order.size());
    parallel_chunks(order.size(), query_chunk, n_threads, [&](Range range) {
        TreeWalk<Space> walk(tree);
        auto& found = hits[range.index];
        Sink sink(tree.space(), radius, found);
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const std::size_t before = found.size();
            walk.ask(queries.row(order[i]).data());
            walk.visit(sink);
            counts[i] = found.size() - before;
            std::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
        }
    });
    return collect<typename Sink::Hit>(order, hits, counts, query_chunk, n_threads);
}

}  // namespace assay::neighbors

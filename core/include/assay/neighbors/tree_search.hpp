// Nearest rows and rows within a radius, by a tree (box_tree.hpp) or row by row.
//
//     nearest   the k rows smallest by (distance, row), from near to far
//     within    all rows with distance <= radius, in ascending rows
//
// Queries are taken in the order of the leaf they fall into,
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
#include "assay/neighbors/candidate_list.hpp"
#include "assay/neighbors/nearest_list.hpp"
#include "assay/neighbors/tree_walk.hpp"

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
    NearestSink(const Space& space, std::size_t k) : space_(&space), memory_(k) {}

    void start() noexcept {
        list_ = NearestList(memory_);
        limit_ = std::numeric_limits<double>::infinity();
    }
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
    std::vector<Neighbor> memory_;
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

// Queries in the order of the leaves they fall into, and these leaves.
struct QueryOrder {
    std::vector<std::uint32_t> query;
    std::vector<std::uint32_t> home;
};

template <class Space>
[[nodiscard]] QueryOrder query_order(const BoxTree<Space>& tree, MatrixView<const double> queries,
                                     int n_threads) {
    std::vector<std::uint32_t> home(queries.rows);
    parallel_chunks(queries.rows, 512, n_threads, [&](Range range) {
        TreeWalk<Space> walk(tree);
        for (std::size_t i = range.begin; i < range.end; ++i) {
            walk.ask(queries.row(i).data());
            home[i] = static_cast<std::uint32_t>(walk.home());
        }
    });
    std::vector<std::uint32_t> next(tree.shape().n_leaves() + 1);
    for (const std::uint32_t leaf : home) {
        ++next[leaf + 1];
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    QueryOrder order{std::vector<std::uint32_t>(home.size()),
                     std::vector<std::uint32_t>(home.size())};
    for (std::size_t i = 0; i < home.size(); ++i) {
        const std::uint32_t at = next[home[i]]++;
        order.query[at] = static_cast<std::uint32_t>(i);
        order.home[at] = home[i];
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
    const QueryOrder order = query_order(tree, queries, n_threads);
    std::vector<std::size_t> seen(chunk_count(queries.rows, query_chunk));
    const auto answer = [&](Range range, auto& sink) {
        TreeWalk<Space> walk(tree);
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const std::size_t query = order.query[i];
            walk.ask(queries.row(query).data());
            sink.start();
            walk.visit(sink, order.home[i]);
            sink.write(distance.row(query), index.row(query));
        }
        seen[range.index] = walk.rows_seen();
    };
    parallel_chunks(queries.rows, query_chunk, n_threads, [&](Range range) {
        if constexpr (Space::has_candidates) {
            if (k <= most_sums) {
                CandidateList<Space> sink(tree.space(), tree.rows(), k, tree.shape().lanes);
                answer(range, sink);
                return;
            }
        }
        NearestSink<Space> sink(tree.space(), k);
        answer(range, sink);
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
    const QueryOrder order = query_order(tree, queries, n_threads);
    std::vector<std::vector<typename Sink::Hit>> hits(chunk_count(queries.rows, query_chunk));
    std::vector<std::size_t> counts(queries.rows);
    parallel_chunks(queries.rows, query_chunk, n_threads, [&](Range range) {
        TreeWalk<Space> walk(tree);
        auto& found = hits[range.index];
        Sink sink(tree.space(), radius, found);
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const std::size_t before = found.size();
            walk.ask(queries.row(order.query[i]).data());
            walk.visit(sink, order.home[i]);
            counts[i] = found.size() - before;
            std::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
        }
    });
    return collect<typename Sink::Hit>(order.query, hits, counts, query_chunk, n_threads);
}

}  // namespace assay::neighbors

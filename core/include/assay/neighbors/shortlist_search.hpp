// Many Euclidean queries with many neighbours each: first a shortlist, then exact sums.
//
// A list of k nearest rows that is kept exactly takes in about k (1 + ln(n / k)) rows, each
// with a float64 sum and a place in a heap. Here the float32 screen alone decides who stays
// (shortlist.hpp, with the bounds of screen.hpp in both directions), and only what is left at
// the end, hardly more than k rows, is computed in float64 and sorted.
//
// Result and order: as brute_force.hpp, bit for bit. A query about which the screen says too
// little (far outside of the data, or with more rows at nearly the k-th distance than a shortlist
// holds) is searched on its own (scan.hpp). When there are many of them, on copies or few
// distinct values, `run` returns false and nothing is to be written.
//
// Needs   as brute_force.hpp.
// Cost    one screen pass per pair, a few nanoseconds per hit, k exact sums per query;
//         shortlists of 2 k + 64 entries for all queries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/distance.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/neighbors/frame.hpp"
#include "assay/neighbors/pairs.hpp"
#include "assay/neighbors/panels.hpp"
#include "assay/neighbors/scan.hpp"
#include "assay/neighbors/screen.hpp"
#include "assay/neighbors/select.hpp"
#include "assay/neighbors/shortlist.hpp"

namespace assay::neighbors {

template <class T>
class ShortlistSearch {
    static constexpr std::size_t max_slice = 2048;
    static constexpr std::size_t queries_per_lost = 16;  // if more are lost, tiles are faster
    static constexpr std::size_t max_counted = 512;      // more: sorting is faster

  public:
    ShortlistSearch(MatrixView<const T> queries, MatrixView<const T> refs, std::size_t k,
                    int n_threads)
        : queries_(queries),
          refs_(refs),
          k_(k),
          n_threads_(n_threads),
          // Enough tasks to balance, each worth more than handing it out.
          task_(std::clamp(queries.rows / 256, std::size_t{1}, std::size_t{16}) * group_width),
          capacity_(2 * k + 64),
          frame_(refs),
          screen_queries_(queries.rows, refs.cols, group_width),
          scores_(queries.rows * capacity_),
          rows_(queries.rows * capacity_) {
        lists_.reserve(queries.rows);
        for (std::size_t i = 0; i < queries.rows; ++i) {
            lists_.emplace_back(std::span(scores_.data() + i * capacity_, capacity_),
                                std::span(rows_.data() + i * capacity_, capacity_));
        }
    }

    [[nodiscard]] bool run() {
        // In float32, half of a second-level cache of 1 MB.
        const std::size_t tile = std::min(
            refs_.rows,
            std::clamp(whole_panels(131072 / (refs_.cols + 1)), 4 * panel_width, 4 * max_slice));
        screen_queries_.pack(queries_, frame_, n_threads_);
        ScreenPanels panels(tile, refs_.cols, panel_width);
        for (std::size_t begin = 0; begin < refs_.rows; begin += tile) {
            const auto rows = refs_.middle_rows(begin, std::min(tile, refs_.rows - begin));
            panels.pack(rows, frame_, n_threads_);
            sift(panels, begin, rows.rows);
            const auto lost = std::count_if(lists_.begin(), lists_.end(),
                                            [](const Shortlist& list) { return list.lost(); });
            if (static_cast<std::size_t>(lost) * queries_per_lost >
                queries_.rows + queries_per_lost) {
                return false;
            }
        }
        return true;
    }

    // Computes the shortlists exactly and writes the k nearest. Ends the search.
    void write(MatrixView<double> distance, MatrixView<std::int64_t> index) {
        parallel_chunks(queries_.rows, task_, n_threads_, [&](Range range) {
            Room room(capacity_);
            for (std::size_t q = range.begin; q < range.end; ++q) {
                settle(q, room, distance.row(q), index.row(q));
            }
        });
    }

  private:
    // Scratch memory of one task.
    struct Room {
        explicit Room(std::size_t capacity)
            : pairs(capacity), sums(capacity), far(capacity), rank(capacity) {}

        std::vector<Pair> pairs;
        std::vector<double> sums;
        std::vector<double> far;
        std::vector<std::uint32_t> rank;
    };

    void sift(const ScreenPanels& panels, std::size_t begin, std::size_t n_rows) {
        parallel_chunks(queries_.rows, task_, n_threads_, [&](Range range) {
            AlignedBuffer<Pair> hits(std::min(whole_panels(n_rows), max_slice) * group_width);
            AlignedBuffer<float> scores(hits.size());
            for (std::size_t q = range.begin; q < range.end; q += group_width) {
                meet(q, std::min(group_width, range.end - q), panels, begin, n_rows, hits.data(),
                     scores.data());
            }
        });
    }

    // One group of queries against one tile, in slices that grow with what was seen, so that
    // the limits are never far behind.
    void meet(std::size_t first, std::size_t n_queries, const ScreenPanels& panels,
              std::size_t begin, std::size_t n_rows, Pair* hits, float* scores) {
        for (std::size_t row = 0, size = 0; row < n_rows; row += size) {
            size = std::clamp(whole_panels((begin + row) / 2), panel_width, max_slice);
            size = std::min(size, whole_panels(n_rows - row));
            float limit[group_width];
            for (std::size_t i = 0; i < group_width; ++i) {
                limit[i] = i < n_queries ? lists_[first + i].limit()
                                         : -std::numeric_limits<float>::infinity();
            }
            const std::size_t n_hits = dispatch([&](auto level) {
                return Screen<decltype(level)>::run(screen_queries_.from(first), panels.from(row),
                                                    panels.half_norms_from(row), refs_.cols,
                                                    size / panel_width, limit, hits, scores);
            });
            for (std::size_t h = 0; h < n_hits; ++h) {
                const Pair hit = hits[h];
                if (hit.query >= n_queries || row + hit.row >= n_rows) {
                    continue;  // a padded lane
                }
                add(first + hit.query, scores[h],
                    static_cast<std::uint32_t>(begin + row + hit.row));
            }
        }
    }

    void add(std::size_t query, float score, std::uint32_t row) noexcept {
        Shortlist& list = lists_[query];
        if (!(score > -std::numeric_limits<float>::infinity())) {
            list.lose();  // also not a number: beyond the range of the screen
            return;
        }
        if (list.full() && score <= list.limit()) {
            list.shrink(k_, [&](float bound) { return limit_of(query, bound); });
            if (list.full()) {
                list.lose();
            }
        }
        if (score <= list.limit()) {
            list.add(score, row);
        }
    }

    // The largest score of a row that is not farther than some row with this score.
    [[nodiscard]] float limit_of(std::size_t query, float score) const noexcept {
        const double norm = screen_queries_.norm(query);
        return screen_limit(screen_reach(score, frame_.scale, norm, refs_.cols), frame_.scale, norm,
                            refs_.cols);
    }

    // Writes the k nearest of one query, from near to far.
    void settle(std::size_t query, Room& room, std::span<double> distance,
                std::span<std::int64_t> index) {
        Shortlist& list = lists_[query];
        if (list.lost()) {
            scan(queries_.middle_rows(query, 1), refs_, Euclidean{},
                 MatrixView<double>{distance.data(), 1, k_},
                 MatrixView<std::int64_t>{index.data(), 1, k_}, 1);
            return;
        }
        if (list.rows().size() > k_) {
            list.shrink(k_, [&](float bound) { return limit_of(query, bound); });
        }
        const auto rows = list.rows();
        for (std::size_t e = 0; e < rows.size(); ++e) {
            room.pairs[e] = {rows[e], 0};
        }
        const Euclidean metric{};
        dispatch([&](auto level) {
            using Level = decltype(level);
            Pairs<Level, T, Euclidean>::run(metric, queries_.row(query).data(), refs_.row(0).data(),
                                            refs_.cols, room.pairs.data(), rows.size(),
                                            room.sums.data());
            for (std::size_t e = 0; e < rows.size(); ++e) {
                room.far[e] = metric.root(room.sums[e]);
            }
            if (rows.size() <= max_counted) {
                // Rows are in ascending order, so equal distances keep it.
                Select<Level>::ranks(room.far.data(), rows.size(), room.rank.data());
            }
        });
        if (rows.size() > max_counted) {
            ranks_by_sorting({room.far.data(), rows.size()}, room.rank);
        }
        for (std::size_t e = 0; e < rows.size(); ++e) {
            const std::size_t rank = room.rank[e];
            if (rank < k_) {
                distance[rank] = room.far[e];
                index[rank] = static_cast<std::int64_t>(rows[e]);
            }
        }
    }

    static void ranks_by_sorting(std::span<const double> far, std::span<std::uint32_t> rank) {
        std::vector<std::uint32_t> order(far.size());
        std::iota(order.begin(), order.end(), std::uint32_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return far[a] < far[b]; });
        for (std::uint32_t t = 0; t < order.size(); ++t) {
            rank[order[t]] = t;
        }
    }

    [[nodiscard]] static constexpr std::size_t whole_panels(std::size_t rows) noexcept {
        return panel_count(rows, panel_width) * panel_width;
    }

    MatrixView<const T> queries_;
    MatrixView<const T> refs_;
    std::size_t k_;
    int n_threads_;
    std::size_t task_;  // queries in one task, whole groups
    std::size_t capacity_;
    Frame frame_;
    ScreenPanels screen_queries_;
    AlignedBuffer<float> scores_;
    AlignedBuffer<std::uint32_t> rows_;
    std::vector<Shortlist> lists_;
};

}  // namespace assay::neighbors

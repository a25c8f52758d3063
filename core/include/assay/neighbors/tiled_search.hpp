// Many queries against all rows, tile by tile: the engine of brute_force.hpp.
//
// For each tile of rows: pack it, then let every group of eight queries meet it, in
// parallel over groups. Within a tile the limits of a group are renewed after slices
// that grow with the number of rows already seen, so they are never far behind.
//
// Needs, result and order: as brute_force.hpp.
// Cost    about one kernel pass per pair; lists and packed queries for all queries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/distance.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/neighbors/direct.hpp"
#include "assay/neighbors/frame.hpp"
#include "assay/neighbors/nearest_list.hpp"
#include "assay/neighbors/pairs.hpp"
#include "assay/neighbors/panels.hpp"
#include "assay/neighbors/screen.hpp"

namespace assay::neighbors {

template <class T, class Metric>
class TiledSearch {
    static constexpr bool can_screen = std::is_same_v<Metric, Euclidean>;
    static constexpr std::size_t min_pairs_per_hit = 16;  // fewer: float64 at once is faster
    static constexpr std::size_t direct_tiles_after = 8;  // then try the screen again
    static constexpr std::size_t max_slice = 2048;

  public:
    TiledSearch(MatrixView<const T> queries, MatrixView<const T> refs, std::size_t k,
                const Metric& metric, int n_threads)
        : queries_(queries),
          refs_(refs),
          k_(k),
          metric_(metric),
          n_threads_(n_threads),
          // Enough tasks to balance, each worth more than handing it out.
          task_(std::clamp(queries.rows / 256, std::size_t{1}, std::size_t{16}) * group_width),
          memory_(queries.rows * k) {
        lists_.reserve(queries.rows);
        for (std::size_t i = 0; i < queries.rows; ++i) {
            lists_.emplace_back(std::span(memory_.data() + i * k, k));
        }
    }

    void run() {
        const std::size_t d = refs_.cols;
        // Until this many rows are seen, many of the next ones are still accepted.
        const std::size_t first =
            std::min(refs_.rows, whole_panels(std::max(8 * k_, 4 * panel_width)));
        // In float32, half of a second-level cache of 1 MB.
        const std::size_t tile = std::min(
            refs_.rows, std::clamp(whole_panels(131072 / (d + 1)), 4 * panel_width, 4 * max_slice));
        exact_queries_.emplace(queries_.rows, d, group_width).pack(queries_, n_threads_);
        ExactPanels exact(tile, d, panel_width);
        std::size_t direct_tiles = 0;
        for (std::size_t begin = 0, end = 0; begin < refs_.rows; begin = end) {
            end = std::min(begin + tile, begin < first ? first : refs_.rows);
            const auto rows = refs_.middle_rows(begin, end - begin);
            if (!can_screen || begin < first || direct_tiles > 0) {
                exact.pack(rows, n_threads_);
                compare(exact, begin, rows.rows);
                direct_tiles -= direct_tiles > 0 ? 1 : 0;
            } else if constexpr (can_screen) {
                if (!screen_) {
                    prepare_screen(tile);
                }
                screen_->pack(rows, *frame_, n_threads_);
                const std::size_t hits = sift(begin, rows.rows);
                if (hits * min_pairs_per_hit > queries_.rows * rows.rows) {
                    direct_tiles = direct_tiles_after;
                }
            }
        }
    }

    void write(MatrixView<double> distance, MatrixView<std::int64_t> index) {
        parallel_for(queries_.rows, n_threads_,
                     [&](std::size_t i) { lists_[i].write(distance.row(i), index.row(i)); });
    }

  private:
    void prepare_screen(std::size_t tile) {
        frame_.emplace(refs_);
        screen_queries_.emplace(queries_.rows, refs_.cols, group_width);
        screen_queries_->pack(queries_, *frame_, n_threads_);
        screen_.emplace(tile, refs_.cols, panel_width);
        limits_.assign(queries_.rows, {-1, nothing});
    }

    // Computes every pair of a tile in float64.
    void compare(const ExactPanels& panels, std::size_t begin, std::size_t n_rows) {
        parallel_chunks(queries_.rows, task_, n_threads_, [&](Range range) {
            AlignedBuffer<DirectHit> hits(max_hits(n_rows));
            for_each_slice(
                range, begin, n_rows, [&](Group group, std::size_t row, std::size_t size) {
                    double limit[group_width];
                    for (std::size_t i = 0; i < group_width; ++i) {
                        limit[i] = i < group.size ? lists_[group.first + i].limit(metric_) : -1;
                    }
                    const std::size_t n_hits = dispatch([&](auto level) {
                        return Direct<decltype(level), Metric>::run(
                            metric_, exact_queries_->from(group.first), panels.from(row),
                            refs_.cols, size / panel_width, limit, hits.data());
                    });
                    for (const DirectHit& hit : std::span(hits.data(), n_hits)) {
                        if (row + hit.row < n_rows) {
                            offer(group.first + hit.query, begin + row + hit.row, hit.reduced);
                        }
                    }
                });
        });
    }

    // Computes the pairs of a tile that pass the screen. Returns their number.
    std::size_t sift(std::size_t begin, std::size_t n_rows) {
        std::vector<std::size_t> sifted(chunk_count(queries_.rows, task_));
        parallel_chunks(queries_.rows, task_, n_threads_, [&](Range range) {
            AlignedBuffer<Pair> hits(max_hits(n_rows));
            AlignedBuffer<double> sums(hits.size());
            for_each_slice(
                range, begin, n_rows, [&](Group group, std::size_t row, std::size_t size) {
                    float limit[group_width];
                    for (std::size_t i = 0; i < group_width; ++i) {
                        limit[i] = i < group.size ? query_limit(group.first + i) : nothing;
                    }
                    const std::size_t n_hits = dispatch([&](auto level) {
                        return Screen<decltype(level)>::run(
                            screen_queries_->from(group.first), screen_->from(row),
                            screen_->half_norms_from(row), refs_.cols, size / panel_width, limit,
                            hits.data());
                    });
                    const auto padded = [&](const Pair& hit) {
                        return row + hit.row >= n_rows || hit.query >= group.size;
                    };
                    const std::span found(
                        hits.data(), std::remove_if(hits.data(), hits.data() + n_hits, padded));
                    dispatch([&](auto level) {
                        Pairs<decltype(level), T, Metric>::run(
                            metric_, queries_.row(group.first).data(),
                            refs_.row(begin + row).data(), refs_.cols, found.data(), found.size(),
                            sums.data());
                    });
                    for (std::size_t h = 0; h < found.size(); ++h) {
                        offer(group.first + found[h].query, begin + row + found[h].row, sums[h]);
                    }
                    sifted[range.index] += found.size();
                });
        });
        return std::accumulate(sifted.begin(), sifted.end(), std::size_t{0});
    }

    struct Group {
        std::size_t first;
        std::size_t size;
    };

    // Calls visit(group, first row of the slice, rows).
    template <class Visit>
    void for_each_slice(Range queries, std::size_t seen, std::size_t n_rows, const Visit& visit) {
        for (std::size_t q = queries.begin; q < queries.end; q += group_width) {
            const Group group{q, std::min(group_width, queries.end - q)};
            for (std::size_t row = 0, size = 0; row < n_rows; row += size) {
                size = std::clamp(whole_panels((seen + row) / 2), panel_width, max_slice);
                size = std::min(size, whole_panels(n_rows - row));
                visit(group, row, size);
            }
        }
    }

    [[nodiscard]] static constexpr std::size_t whole_panels(std::size_t rows) noexcept {
        return panel_count(rows, panel_width) * panel_width;
    }

    [[nodiscard]] static constexpr std::size_t max_hits(std::size_t n_rows) noexcept {
        return std::min(whole_panels(n_rows), max_slice) * group_width;
    }

    void offer(std::size_t query, std::size_t row, double reduced) noexcept {
        lists_[query].offer({metric_.root(reduced), reduced, static_cast<std::int64_t>(row)});
    }

    // The limit of the screen, computed anew only when the list has changed.
    [[nodiscard]] float query_limit(std::size_t query) noexcept {
        const double distance = lists_[query].worst().distance;
        Limit& last = limits_[query];
        if (distance != last.distance) {
            last = {distance, distance == 0
                                  ? nothing  // no row can be nearer
                                  : screen_limit(distance, frame_->scale,
                                                 screen_queries_->norm(query), refs_.cols)};
        }
        return last.value;
    }

    struct Limit {
        double distance;
        float value;
    };

    static constexpr float nothing = -std::numeric_limits<float>::infinity();

    MatrixView<const T> queries_;
    MatrixView<const T> refs_;
    std::size_t k_;
    Metric metric_;
    int n_threads_;
    std::size_t task_;  // queries in one task, whole groups
    AlignedBuffer<Neighbor> memory_;
    std::vector<NearestList> lists_;
    std::optional<ExactPanels> exact_queries_;
    // For the screen, made when it is first used.
    std::optional<Frame> frame_;
    std::optional<ScreenPanels> screen_queries_;
    std::optional<ScreenPanels> screen_;
    std::vector<Limit> limits_;
};

}  // namespace assay::neighbors

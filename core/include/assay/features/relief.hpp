// Relief scores of the columns: what differs among near rows of different classes, not of one.
//
//     classes   W[a] = 1/M sum_i v_i ( sum_{c != c_i} P(c) / (1 - P(c_i)) * mean over misses of
//                      class c of diff(i, j, a)  -  mean over hits of diff(i, j, a) )
//     numbers   W[a] = N_ya / N_y - (N_a - N_ya) / (M - N_y), with the mean over the neighbours j
//               of i of diff(y), diff(a) and their product in N_y, N_a and N_ya
//
// v_i are the weights of the rows, M the sum over the rows asked. Means are weighted by v_j and, if
// sigma > 0, by exp(-(rank / sigma)^2). Neighbours are the k nearest (of each class), or, for
// k = 0, all rows nearer than mean - sd / 2 of the distances from i. A row that lacks hits or
// misses says nothing; a class without neighbours leaves its share to the others.
//
// Needs   rows of the table in order of class; at least 2 rows; queries < rows.
// Cost    O(m n p) time, n p floats and 64 rows of distances per thread. Chunks of 64 queries,
// added
//         in their order: the result does not depend on n_threads.
// Source  Kononenko (1994); Robnik-Sikonja and Kononenko (2003), figures 2 and 3.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/parallel.hpp"
#include "assay/features/relief_distance.hpp"
#include "assay/features/relief_loops.hpp"
#include "assay/features/relief_neighbours.hpp"
#include "assay/features/relief_table.hpp"

namespace assay::features {

struct ReliefOptions {
    std::size_t k = 10;  // 0: by threshold
    double sigma = 0;    // 0: all ranks count the same
};

inline constexpr std::size_t queries_per_chunk = 64;

namespace detail {

// total[a] += sum over the list of weight * diff(i, j, a).
inline void add_differences(const ReliefTable& table, std::size_t i,
                            std::span<const ReliefNeighbour> list, std::span<double> total) {
    const float* x = table.complete.row(i).data();
    dispatch([&](auto level) {
        for (std::size_t t = 0; t < list.size(); t += rows_together) {
            const float* rows[rows_together];
            float weight[rows_together];
            for (std::size_t u = 0; u < rows_together; ++u) {
                const bool is_there = t + u < list.size();
                rows[u] = is_there ? table.complete.row(list[t + u].row).data() : x;
                weight[u] = is_there ? static_cast<float>(list[t + u].weight) : 0.0F;
            }
            ReliefLoops<decltype(level)>::add_weighted(x, rows, weight, table.n_numeric,
                                                       table.complete.cols, total.data());
        }
    });
    if (table.gaps.rows == 0) {
        return;
    }
    const std::size_t own = table.class_of(i);
    for (const ReliefNeighbour& found : list) {
        const std::size_t other = table.class_of(found.row);
        for (std::size_t a = 0; a < table.gaps.rows; ++a) {
            total[table.complete.cols + a] +=
                found.weight *
                static_cast<double>(table.gap_difference(i, found.row, a, own, other));
        }
    }
}

// Calls ask(i, distances of i, chunk) for every query, chunks in parallel.
template <class Ask>
void for_each_query(const ReliefTable& table, std::span<const std::int64_t> queries, int n_threads,
                    Ask&& ask) {
    const ReliefDistance distances(table, n_threads);
    parallel_chunks(queries.size(), queries_per_chunk, n_threads, [&](Range range) {
        const auto some = queries.subspan(range.begin, range.end - range.begin);
        std::vector<float> rows(some.size() * distances.stride());
        distances.write(some, rows.data());
        for (std::size_t q = 0; q < some.size(); ++q) {
            const std::span<const float> row(rows.data() + q * distances.stride(), table.n_rows());
            ask(static_cast<std::size_t>(some[q]), row, range.index);
        }
    });
}

inline void find(std::span<const float> distance, std::size_t begin, std::size_t end,
                 std::size_t self, const ReliefOptions& options, double threshold,
                 std::vector<ReliefNeighbour>& list) {
    if (options.k > 0) {
        nearest(distance, begin, end, self, options.k, list);
    } else {
        within(distance, begin, end, self, threshold, list);
    }
}

[[nodiscard]] inline double threshold_of(std::span<const float> distance, std::size_t self,
                                         const ReliefOptions& options) noexcept {
    return options.k > 0 ? std::numeric_limits<double>::infinity() : surf_threshold(distance, self);
}

}  // namespace detail

inline void relief_classes(const ReliefTable& table, std::span<const double> row_weight,
                           std::span<const std::int64_t> queries, const ReliefOptions& options,
                           std::span<double> scores, int n_threads) {
    const std::size_t n_columns = table.n_columns();
    const std::size_t n_chunks = chunk_count(queries.size(), queries_per_chunk);
    std::vector<double> totals(n_chunks * n_columns), asked(n_chunks);
    std::vector<double> prior(table.n_classes());
    for (std::size_t c = 0; c < prior.size(); ++c) {
        for (std::size_t j = table.begin(c); j < table.end(c); ++j) {
            prior[c] += row_weight[j];
        }
    }
    const auto weight_of = [&](std::size_t row) { return row_weight[row]; };
    detail::for_each_query(
        table, queries, n_threads,
        [&](std::size_t i, std::span<const float> distance, std::size_t chunk) {
            const std::size_t own = table.class_of(i);
            const double threshold = detail::threshold_of(distance, i, options);
            std::vector<ReliefNeighbour> list;
            detail::find(distance, table.begin(own), table.end(own), i, options, threshold, list);
            if (!share_out(list, 0, options.sigma, weight_of)) {
                return;
            }
            for (ReliefNeighbour& hit : list) {
                hit.weight *= -row_weight[i];
            }
            const std::size_t n_hits = list.size();
            double seen = 0;
            for (std::size_t c = 0; c < prior.size(); ++c) {
                const std::size_t first = list.size();
                if (c == own) {
                    continue;
                }
                detail::find(distance, table.begin(c), table.end(c), i, options, threshold, list);
                if (!share_out(list, first, options.sigma, weight_of)) {
                    list.resize(first);
                    continue;
                }
                seen += prior[c];
                for (std::size_t t = first; t < list.size(); ++t) {
                    list[t].weight *= row_weight[i] * prior[c];
                }
            }
            if (!(seen > 0)) {
                return;
            }
            for (std::size_t t = n_hits; t < list.size(); ++t) {
                list[t].weight /= seen;
            }
            asked[chunk] += row_weight[i];
            detail::add_differences(table, i, list, {totals.data() + chunk * n_columns, n_columns});
        });
    double sum = 0;
    std::fill(scores.begin(), scores.end(), 0.0);
    for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
        sum += asked[chunk];
        for (std::size_t a = 0; a < n_columns; ++a) {
            scores[a] += totals[chunk * n_columns + a];
        }
    }
    for (double& score : scores) {
        score = sum > 0 ? score / sum : 0;
    }
}

// Needs   a table of one class; target between 0 and 1.
inline void relief_numbers(const ReliefTable& table, std::span<const double> target,
                           std::span<const double> row_weight,
                           std::span<const std::int64_t> queries, const ReliefOptions& options,
                           std::span<double> scores, int n_threads) {
    const std::size_t n_columns = table.n_columns();
    const std::size_t n_chunks = chunk_count(queries.size(), queries_per_chunk);
    // By chunk: N_a, N_ya, then N_y and M.
    const std::size_t width = 2 * n_columns + 2;
    std::vector<double> totals(n_chunks * width);
    const auto weight_of = [&](std::size_t row) { return row_weight[row]; };
    detail::for_each_query(table, queries, n_threads,
                           [&](std::size_t i, std::span<const float> distance, std::size_t chunk) {
                               std::vector<ReliefNeighbour> list;
                               detail::find(distance, 0, table.n_rows(), i, options,
                                            detail::threshold_of(distance, i, options), list);
                               if (!share_out(list, 0, options.sigma, weight_of)) {
                                   return;
                               }
                               const std::span<double> total(totals.data() + chunk * width, width);
                               for (ReliefNeighbour& found : list) {
                                   found.weight *= row_weight[i];
                               }
                               detail::add_differences(table, i, list, total.first(n_columns));
                               for (ReliefNeighbour& found : list) {
                                   found.weight *= std::fabs(target[i] - target[found.row]);
                                   total[2 * n_columns] += found.weight;
                               }
                               detail::add_differences(table, i, list,
                                                       total.subspan(n_columns, n_columns));
                               total[2 * n_columns + 1] += row_weight[i];
                           });
    std::vector<double> sum(width);
    for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
        for (std::size_t a = 0; a < width; ++a) {
            sum[a] += totals[chunk * width + a];
        }
    }
    const double changed = sum[2 * n_columns];
    const double alike = sum[2 * n_columns + 1] - changed;
    for (std::size_t a = 0; a < n_columns; ++a) {
        const double with_target = changed > 0 ? sum[n_columns + a] / changed : 0;
        const double without = alike > 0 ? (sum[a] - sum[n_columns + a]) / alike : 0;
        scores[a] = with_target - without;
    }
}

}  // namespace assay::features

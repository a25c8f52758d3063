// Nearest rows by hashing: gather the rows of the query's bins, then measure them exactly.
//
//     candidates = rows that lie in at least min_hits of the first n_probes bins (hash_probe.hpp)
//     answer     = the k candidates smallest by (distance, row number)
//
// A query with fewer than k candidates is compared with every row. `examined` says how many
// exact distances each query cost. The distances are those of the brute-force search, bit for bit.
//
// `leave_out` excludes one row from the answer of each query; empty = none.
//
// Needs   k <= rows (k < rows with leave_out); tables built from the same rows, frame and shape.
// Cost    O(d (width + candidates)) per query; n bytes of counters per thread. Queries are
//         independent: the result does not depend on n_threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/neighbors/hash_distance.hpp"
#include "assay/neighbors/hash_probe.hpp"
#include "assay/neighbors/hash_tables.hpp"
#include "assay/neighbors/nearest_list.hpp"

namespace assay::neighbors {

struct HashPlan {
    std::size_t k = 1;
    std::size_t n_probes = 1;  // bins looked into, all tables together
    std::size_t min_hits = 1;
    std::size_t enough = 0;  // candidates after which no further bin is looked into
    std::span<const std::int64_t> leave_out;
};

namespace detail {

// What one thread needs; rows are counted in bytes, as a row lies in one bin of each table.
struct HashScratch {
    HashScratch(const HashShape& shape, std::size_t n_rows)
        : probes(shape), hits(n_rows, std::uint8_t{0}) {}

    // Puts the rows with min_hits hits into `candidates`; calls seen(number of bin, candidates).
    template <class Seen>
    void gather(const float* projected, std::span<const float> shifts, const HashTablesView& tables,
                std::size_t n_probes, std::size_t min_hits, std::size_t enough, Seen&& seen) {
        candidates.clear();
        touched.clear();
        gathered = 0;
        probes.start(projected, shifts);
        HashProbes::Bin bin;
        for (std::size_t b = 0; b < n_probes && candidates.size() < enough && probes.next(bin);
             ++b) {
            const auto rows = tables.bin(bin.table, bin.key);
            gathered += rows.size();
            for (const std::uint32_t row : rows) {
                const std::size_t count = ++hits[row];
                if (count == min_hits) {
                    candidates.push_back(row);
                }
                if (count == 1 && min_hits > 1) {
                    touched.push_back(row);
                }
            }
            seen(b, bin);
        }
        for (const std::uint32_t row : min_hits > 1 ? touched : candidates) {
            hits[row] = 0;
        }
    }

    HashProbes probes;
    std::vector<std::uint8_t> hits;
    std::vector<std::uint32_t> candidates;
    std::vector<std::uint32_t> touched;
    std::size_t gathered = 0;  // rows in the bins, as often as they are met
    std::vector<double> query;
    std::vector<Neighbor> memory;
};

// Scratch of the threads of one call, handed round.
class HashScratches {
  public:
    HashScratches(const HashShape& shape, std::size_t n_rows) : shape_(shape), n_rows_(n_rows) {}

    [[nodiscard]] std::unique_ptr<HashScratch> take() {
        {
            const std::lock_guard lock(mutex_);
            if (!free_.empty()) {
                auto scratch = std::move(free_.back());
                free_.pop_back();
                return scratch;
            }
        }
        return std::make_unique<HashScratch>(shape_, n_rows_);
    }
    void give(std::unique_ptr<HashScratch> scratch) {
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(scratch));
    }

  private:
    HashShape shape_;
    std::size_t n_rows_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<HashScratch>> free_;
};

// Measures the candidates and keeps the nearest.
template <class T>
void rank_candidates(std::span<const double> query, MatrixView<const T> rows,
                     std::span<const std::uint32_t> candidates, NearestList& list) {
    constexpr std::size_t block = 32;
    double sum[block];
    for (std::size_t first = 0; first < candidates.size(); first += block) {
        const auto part = candidates.subspan(first, std::min(block, candidates.size() - first));
        // Sums that differ in the last bits may have one root; then the row number decides.
        const double limit = list.full() ? list.worst().reduced * (1 + 0x1p-50)
                                         : std::numeric_limits<double>::infinity();
        dispatch([&](auto level) {
            HashDistance<decltype(level), T>::run(query.data(), rows.data, rows.cols, part.data(),
                                                  part.size(), limit, sum);
        });
        for (std::size_t c = 0; c < part.size(); ++c) {
            if (sum[c] <= limit) {
                list.offer({std::sqrt(sum[c]), sum[c], static_cast<std::int64_t>(part[c])});
            }
        }
    }
}

}  // namespace detail

template <class T>
void hash_search(MatrixView<const T> queries, MatrixView<const T> rows, const HashFrame& frame,
                 const HashShape& shape, const HashTablesView& tables, const HashPlan& plan,
                 MatrixView<double> distance, MatrixView<std::int64_t> index,
                 std::span<std::int64_t> examined, int n_threads) {
    constexpr std::size_t chunk = 32;
    const std::size_t d = rows.cols;
    detail::HashScratches scratches(shape, rows.rows);
    parallel_chunks(queries.rows, chunk, n_threads, [&](Range range) {
        const std::size_t count = range.end - range.begin;
        auto scratch = scratches.take();
        std::vector<float> room(HashProjection<Baseline, T>::block_rows * d);
        std::vector<float> projected(count * shape.width);
        hash_project(queries.middle_rows(range.begin, count), frame, room.data(), projected.data());
        scratch->query.resize(d);
        scratch->memory.resize(plan.k);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t q = range.begin + i;
            auto& candidates = scratch->candidates;
            scratch->gather(projected.data() + i * shape.width, frame.shifts, tables, plan.n_probes,
                            plan.min_hits, plan.enough, [](std::size_t, const HashProbes::Bin&) {});
            const auto leave_out = [&] {
                if (!plan.leave_out.empty()) {
                    std::erase(candidates, static_cast<std::uint32_t>(plan.leave_out[q]));
                }
            };
            leave_out();
            if (candidates.size() < plan.k) {
                candidates.resize(rows.rows);
                std::iota(candidates.begin(), candidates.end(), 0U);
                leave_out();
            }
            const auto row = queries.row(q);
            std::copy(row.begin(), row.end(), scratch->query.begin());
            NearestList list{std::span<Neighbor>(scratch->memory)};
            detail::rank_candidates(std::span<const double>(scratch->query), rows,
                                    std::span<const std::uint32_t>(candidates), list);
            list.write(distance.row(q), index.row(q));
            examined[q] = static_cast<std::int64_t>(candidates.size());
        }
        scratches.give(std::move(scratch));
    });
}

// What a search would give and cost, summed over queries, for one budget of candidates.
struct HashOutcome {
    std::int64_t found = 0;     // wanted rows among the candidates
    std::int64_t examined = 0;  // candidates
    std::int64_t gathered = 0;  // rows met in bins
    std::int64_t probes = 0;    // bins looked into
};

// The outcome for each of `budgets` (ascending): bins are looked into until there are that many
// candidates. `wanted` are the keys of the n_wanted rows that each query should find, table
// after table.
//
// Needs   outcomes of the size of budgets.
template <class T>
void hash_profile(MatrixView<const T> queries, const HashFrame& frame, const HashShape& shape,
                  const HashTablesView& tables, std::span<const std::uint64_t> wanted,
                  std::size_t n_wanted, std::size_t n_probes, std::size_t min_hits,
                  std::span<const std::int64_t> budgets, std::span<HashOutcome> outcomes) {
    std::fill(outcomes.begin(), outcomes.end(), HashOutcome{});
    detail::HashScratch scratch(shape, tables.n_rows);
    std::vector<float> room(HashProjection<Baseline, T>::block_rows * queries.cols);
    std::vector<float> projected(queries.rows * shape.width);
    hash_project(queries, frame, room.data(), projected.data());
    std::vector<std::size_t> hits(n_wanted);
    const auto enough = static_cast<std::size_t>(budgets.back());
    for (std::size_t q = 0; q < queries.rows; ++q) {
        std::fill(hits.begin(), hits.end(), 0);
        HashOutcome now;
        std::size_t budget = 0;
        const auto write = [&] {
            HashOutcome& sum = outcomes[budget++];
            sum.found += now.found;
            sum.examined += now.examined;
            sum.gathered += now.gathered;
            sum.probes += now.probes;
        };
        scratch.gather(projected.data() + q * shape.width, frame.shifts, tables, n_probes, min_hits,
                       enough, [&](std::size_t b, const HashProbes::Bin& bin) {
                           const std::uint64_t* keys =
                               wanted.data() + (bin.table * queries.rows + q) * n_wanted;
                           for (std::size_t c = 0; c < n_wanted; ++c) {
                               if (keys[c] == bin.key && ++hits[c] == min_hits) {
                                   ++now.found;
                               }
                           }
                           now.examined = static_cast<std::int64_t>(scratch.candidates.size());
                           now.gathered = static_cast<std::int64_t>(scratch.gathered);
                           now.probes = static_cast<std::int64_t>(b + 1);
                           while (budget < budgets.size() && now.examined >= budgets[budget]) {
                               write();
                           }
                       });
        while (budget < budgets.size()) {
            write();
        }
    }
}

// The profile for each number of tables in `table_counts`, one row of outcomes each.
//
// Needs   shape.n_tables = the largest count; wanted: as many rows for each query, in their order.
template <class T>
void hash_profiles(MatrixView<const T> queries, MatrixView<const T> sample,
                   MatrixView<const T> wanted, const HashFrame& frame, const HashShape& shape,
                   std::span<const std::int64_t> table_counts, std::size_t n_probes,
                   std::size_t min_hits, std::span<const std::int64_t> budgets,
                   MatrixView<HashOutcome> outcomes, int n_threads) {
    const HashTables tables = build_tables(sample, frame, shape, n_threads);
    const HashTablesView view{tables.slots, tables.order, sample.rows, tables.capacity};
    std::vector<std::uint64_t> keys(shape.n_tables * wanted.rows);
    hash_keys(wanted, frame, shape, std::span<std::uint64_t>(keys), n_threads);
    parallel_chunks(table_counts.size(), 1, n_threads, [&](Range range) {
        HashShape fewer = shape;
        fewer.n_tables = static_cast<std::size_t>(table_counts[range.begin]);
        hash_profile(queries, frame, fewer, view, std::span<const std::uint64_t>(keys),
                     wanted.rows / queries.rows, n_probes, min_hits, budgets,
                     outcomes.row(range.begin));
    });
}

}  // namespace assay::neighbors

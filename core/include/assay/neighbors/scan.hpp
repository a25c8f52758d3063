// The k nearest rows of a few queries: one pass over the rows as they are.
//
// Chunks of rows are independent; their lists are merged at the end.
//
// Needs, result and order: as brute_force.hpp.
// Cost    O(m n d) time; k neighbours per query and chunk of 16384 rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/neighbors/nearest_list.hpp"
#include "assay/neighbors/pairs.hpp"

namespace assay::neighbors {

// Offers every row of the chunk to the list of one query.
template <class T, class Metric>
void scan_chunk(MatrixView<const T> query, MatrixView<const T> rows, std::size_t first_index,
                const Metric& metric, NearestList& list) {
    constexpr std::size_t slice = 256;
    Pair pairs[slice];
    double sum[slice];
    for (std::size_t i = 0; i < slice; ++i) {
        pairs[i] = {static_cast<std::uint32_t>(i), 0};
    }
    for (std::size_t begin = 0; begin < rows.rows; begin += slice) {
        const auto some = rows.middle_rows(begin, std::min(slice, rows.rows - begin));
        dispatch([&](auto level) {
            Pairs<decltype(level), T, Metric>::run(metric, query.data, some.data, rows.cols, pairs,
                                                   some.rows, sum);
        });
        double limit = list.limit(metric);
        for (std::size_t i = 0; i < some.rows; ++i) {
            if (sum[i] <= limit) {
                list.offer({metric.root(sum[i]), sum[i],
                            static_cast<std::int64_t>(first_index + begin + i)});
                limit = list.limit(metric);
            }
        }
    }
}

template <class T, class Metric>
void scan(MatrixView<const T> queries, MatrixView<const T> refs, const Metric& metric,
          MatrixView<double> distance, MatrixView<std::int64_t> index, int n_threads) {
    constexpr std::size_t chunk = 16384;
    const std::size_t k = distance.cols;
    const std::size_t n_chunks = chunk_count(refs.rows, chunk);
    std::vector<Neighbor> memory(queries.rows * n_chunks * k);
    std::vector<NearestList> lists;
    lists.reserve(queries.rows * n_chunks);
    for (std::size_t t = 0; t < queries.rows * n_chunks; ++t) {
        lists.emplace_back(std::span(memory).subspan(t * k, k));
    }
    parallel_chunks(queries.rows * n_chunks, 1, n_threads, [&](Range task) {
        const std::size_t query = task.index / n_chunks;
        const std::size_t first = task.index % n_chunks * chunk;
        scan_chunk(queries.middle_rows(query, 1),
                   refs.middle_rows(first, std::min(chunk, refs.rows - first)), first, metric,
                   lists[task.index]);
    });
    for (std::size_t i = 0; i < queries.rows; ++i) {
        NearestList& all = lists[i * n_chunks];
        for (std::size_t c = 1; c < n_chunks; ++c) {
            all.merge(lists[i * n_chunks + c]);
        }
        all.write(distance.row(i), index.row(i));
    }
}

}  // namespace assay::neighbors

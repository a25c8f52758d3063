// The k nearest reference rows of every query row, by brute force.
//
//     index(i, .) = the k rows r smallest by (|q_i - refs_r|_p, r), from near to far
//
// The distance is that of common/distance.hpp, computed directly in float64, also
// for float32 data: the result is exact up to the rounding of that sum, ties go to
// the smallest index, and it depends neither on n_threads nor on the CPU level.
//
// A tile of rows is packed once and met by all queries, in groups of eight, while
// it is in the cache. For p = 2 float32 products decide which rows may come into
// question (screen.hpp) and only these few are computed in float64; for other p,
// and on data where that bound says little, every pair is (direct.hpp).
//
// Needs   queries.cols == refs.cols, 1 <= k == distance.cols <= refs.rows, p >= 1
//         (infinity allowed), finite values.
// Cost    O(m n d) time; memory for a tile of rows (at most about 2 MB for d up to
//         1000) and for 8192 queries with their k neighbours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "assay/common/distance.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/neighbors/scan.hpp"
#include "assay/neighbors/shortlist_search.hpp"
#include "assay/neighbors/tiled_search.hpp"

namespace assay::neighbors {

template <class T>
void brute_force(MatrixView<const T> queries, MatrixView<const T> refs, double p,
                 MatrixView<double> distance, MatrixView<std::int64_t> index, int n_threads) {
    constexpr std::size_t block = 8192;
    constexpr std::size_t few = 4;    // queries not worth packing the rows
    constexpr std::size_t many = 12;  // neighbours worth a shortlist
    const double work = static_cast<double>(queries.rows) * static_cast<double>(refs.rows) *
                        static_cast<double>(refs.cols + 4);
    const int threads = work < 1e7 ? 1 : n_threads;  // to wake others would take longer
    with_metric(p, [&](auto metric) {
        if (queries.rows < few) {
            scan(queries, refs, metric, distance, index, threads);
            return;
        }
        bool shortlist = std::is_same_v<decltype(metric), Euclidean> && distance.cols >= many &&
                         refs.rows <= std::numeric_limits<std::uint32_t>::max();
        for (std::size_t begin = 0; begin < queries.rows; begin += block) {
            const std::size_t rows = std::min(block, queries.rows - begin);
            const auto part = queries.middle_rows(begin, rows);
            const auto far = distance.middle_rows(begin, rows);
            const auto found = index.middle_rows(begin, rows);
            if (shortlist) {
                ShortlistSearch<T> search(part, refs, distance.cols, threads);
                if (search.run()) {
                    search.write(far, found);
                    continue;
                }
                shortlist = false;  // the other blocks would most likely fail too
            }
            TiledSearch<T, decltype(metric)> search(part, refs, distance.cols, metric, threads);
            search.run();
            search.write(far, found);
        }
    });
}

}  // namespace assay::neighbors

// The exact distance sums of a list of pairs of rows, in float64.
//
//     sum[i] = S(queries row pair[i].query, refs row pair[i].row)
//
// S is that of common/distance.hpp, bit for bit, at every CPU level.
//
// Cost    O(d) per pair; no allocation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::neighbors {

struct Pair {
    std::uint32_t row;
    std::uint32_t query;
};

template <class Level, class T, class Metric>
struct Pairs {
    static void run(const Metric& metric, const T* queries, const T* refs, std::size_t d,
                    const Pair* pairs, std::size_t n_pairs, double* sum) noexcept;
};

}  // namespace assay::neighbors

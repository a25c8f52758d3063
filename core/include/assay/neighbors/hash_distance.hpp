// Exact Euclidean sums of one query to a list of rows, given up where a limit is passed.
//
//     sum[c] = S(query, rows[candidate[c]])     if that is <= limit, else infinity
//
// S is that of common/distance.hpp, bit for bit, at every CPU level. Partial sums never
// descend, in floating point as in arithmetic, so a row given up is a row above the limit.
//
// Needs   query: d numbers; candidates below the number of rows.
// Cost    O(d) per row, less for far ones; no allocation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::neighbors {

template <class Level, class T>
struct HashDistance {
    static void run(const double* query, const T* rows, std::size_t d,
                    const std::uint32_t* candidate, std::size_t n, double limit,
                    double* sum) noexcept;
};

}  // namespace assay::neighbors

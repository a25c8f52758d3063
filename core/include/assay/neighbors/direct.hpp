// The exact distance sums of a group of queries to panels of rows, in float64.
//
//     hits = all (row, query) with S(row, query) <= limit[query], in ascending rows
//
// S is that of common/distance.hpp, bit for bit, at every CPU level.
//
// Needs   group: 8 queries as one panel of width 8; panels of width 32 (panels.hpp);
//         room for one hit per pair. Rows count from the first panel; the lanes
//         behind the last row also hit.
// Cost    O(d) per pair, 3 vector instructions per feature and vector of rows;
//         no allocation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/common/distance.hpp"

namespace assay::neighbors {

struct DirectHit {
    double reduced;
    std::uint32_t row;
    std::uint32_t query;
};

template <class Level, class Metric>
struct Direct {
    // Returns the number of hits.
    static std::size_t run(const Metric& metric, const double* group, const double* panels,
                           std::size_t d, std::size_t n_panels, const double* limit,
                           DirectHit* hits) noexcept;
};

}  // namespace assay::neighbors

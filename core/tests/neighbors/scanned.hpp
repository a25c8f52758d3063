// The k nearest rows of a table by a list of candidates, leaf by leaf.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "assay/neighbors/candidate_list.hpp"
#include "definition.hpp"

// Scans all rows, a leaf of up to 13 at a time.
template <class Space>
definition::Found scanned(const Space& space, const std::vector<double>& values, std::size_t n,
                          std::size_t k) {
    using namespace assay::neighbors;
    using Query = typename Space::Query;
    constexpr std::size_t lanes = 16;
    const std::size_t d = space.d;
    std::vector<std::uint32_t> row_of(n);
    for (std::size_t r = 0; r < n; ++r) {
        row_of[r] = static_cast<std::uint32_t>(n - 1 - r);  // places are not rows
    }
    definition::Found found(1, k);
    CandidateList<Space> list(space, row_of, k, lanes);
    for (int round = 0; round < 2; ++round) {  // a list serves one query after another
        list.start();
        CHECK(list.limit() == std::numeric_limits<double>::infinity());
        for (std::size_t first = 0; first < n; first += 13) {
            const std::size_t rows = std::min<std::size_t>(13, n - first);
            std::vector<double> leaf(d * lanes);
            for (std::size_t r = 0; r < rows; ++r) {
                for (std::size_t j = 0; j < d; ++j) {
                    leaf[j * lanes + r] = values[(1 + row_of[first + r]) * d + j];
                }
            }
            CandidateCalls<Query>::in_use().scan({space.metric, values.data(), d}, leaf.data(),
                                                 lanes, rows, static_cast<std::uint32_t>(first),
                                                 list.candidates());
        }
        list.write(found.distances().row(0), found.indices().row(0));
    }
    return found;
}

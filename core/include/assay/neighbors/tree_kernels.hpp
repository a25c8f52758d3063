// What a tree search does with vectors: bounds of eight children, and a scan of a leaf.
//
//     bounds   low[c] <= S(query, r) for every row r below child c; says which low[c] <= limit
//     scan     hits = all (S, lane) of a leaf with S <= limit, in ascending lanes
//
// A box of column j and child c is box[(2 j) * 8 + c] and box[(2 j + 1) * 8 + c]: the least
// and the largest value below it. For a nominal column the first holds the bits of a set of
// levels. Feature j of the row in a lane of a leaf is leaf[j * lanes + lane].
//
// Bounds take the same sums in the same order as distances, with terms that are not larger;
// rounding is monotonic, so they hold to the last bit (a power has `root_slack` taken off).
//
// Needs   leaves with room for a multiple of 8 rows; room for a hit per row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/common/dispatch.hpp"
#include "assay/neighbors/tree_shape.hpp"

namespace assay::neighbors {

struct LeafHit {
    double reduced;
    std::uint32_t lane;
};

// A query among points: S of common/distance.hpp.
template <class Metric>
struct PointQuery {
    Metric metric;
    const double* values;
    std::size_t d;
};

// A column of a query among codes. Plain ones come first; those where training rows miss
// values last, and only these look at NaN.
struct CodeColumn {
    enum Kind : std::uint8_t { number, level, table };

    const double* terms;  // of a table: the term for each level of a row
    double value;         // of the query; a level as its code
    double weight;        // what the column counts
    double inside;        // of levels: the least term if the query's level is in the box,
    double outside;       // and if it is not
    std::uint32_t column;
    Kind kind;
    bool may_miss;
};

// A query among codes: S = sum of terms / sum of weights over columns both rows have.
struct CodeQuery {
    const CodeColumn* columns;
    std::size_t n_columns;
    std::size_t n_plain;
    double plain_weight;  // of the plain columns, added in their order
    double weight;        // of all, likewise
};

template <class Level, class Query>
struct TreeKernels {
    // Returns a bit per child.
    static std::uint32_t bounds(const Query& query, const double* box, double limit,
                                double* low) noexcept;
    // Returns the number of hits.
    static std::size_t scan(const Query& query, const double* leaf, std::size_t lanes,
                            std::size_t rows, double limit, LeafHit* hits) noexcept;
};

// The two for the CPU level in use: a search asks for the level once, not per node.
template <class Query>
struct TreeCalls {
    std::uint32_t (*bounds)(const Query&, const double*, double, double*) noexcept;
    std::size_t (*scan)(const Query&, const double*, std::size_t, std::size_t, double,
                        LeafHit*) noexcept;

    [[nodiscard]] static TreeCalls in_use() {
        return dispatch([](auto level) {
            using Kernels = TreeKernels<decltype(level), Query>;
            return TreeCalls{&Kernels::bounds, &Kernels::scan};
        });
    }
};

}  // namespace assay::neighbors

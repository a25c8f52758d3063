// Products of 8 scattered rows with the rows of a sparse matrix, in float64.
//
//     out[8 j + l] = row index_j . query_l,  or  |row_j - query_l|^2 = n_j + m_l - 2 row.query
//
// The queries lie in a table, column by column: table[8 c + l] = value of query l in column c.
// A lane adds the products in ascending columns; columns where the query is zero add zero, so a
// value is the sum over the common columns, whichever of the two rows is the query.
//
// Cost    O(nonzeros of the rows); one vector product per nonzero.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::svm {

inline constexpr std::size_t sparse_queries = 8;

template <class Level>
struct SparseTile {
    static void run(const double* values, const std::int64_t* columns, const std::int64_t* offsets,
                    const std::uint32_t* index, std::size_t n, const double* table,
                    const double* norms, const double* query_norms, double* out) noexcept;
};

}  // namespace assay::svm

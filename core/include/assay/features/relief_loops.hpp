// The hot loops of Relief, compiled once per CPU level (core/levels/features/relief_loops.cpp).
//
//     add_panels   distance[q][j] += sum_a diff(q, j, a)      columns without gaps
//     add_gap      distance[j]    += diff(q, j)               one column with gaps, one class
//     add_weighted total[a]       += sum_t weight_t diff(x, row_t, a)
//
// Sums are float32 in an order that depends on the columns alone: 256 columns one after the
// other, then the blocks; the same bits at every level. `total` is float64.
//
// Needs   panels: panel_rows rows side by side, column by column, padded with any finite value;
//         distance rows of n_panels * panel_rows values.
#pragma once

#include <cstddef>

namespace assay::features {

inline constexpr std::size_t panel_rows = 16;
inline constexpr std::size_t column_block = 256;
inline constexpr std::size_t rows_together = 4;  // of add_weighted

template <class Level>
struct ReliefLoops {
    static void add_panels(const float* const* queries, std::size_t n_queries, const float* panels,
                           std::size_t n_panels, std::size_t n_numeric, std::size_t n_columns,
                           float* distance, std::size_t stride) noexcept;

    // `fallback`: what the query differs from a missing value of this class.
    static void add_gap(float value, float fallback, bool is_numeric, const float* column,
                        std::size_t n_rows, float* distance) noexcept;

    static void add_expected(const float* expected, std::size_t n_rows, float* distance) noexcept;

    static void add_weighted(const float* x, const float* const (&rows)[rows_together],
                             const float (&weight)[rows_together], std::size_t n_numeric,
                             std::size_t n_columns, double* total) noexcept;
};

}  // namespace assay::features

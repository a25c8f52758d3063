// Columns sorted once for all training sets of a table, and bins from them by counting.
//
//     rank(f, i)    position of x_if among the distinct values of column f; -1 = missing
//                   (nominal columns: the level)
//     value         the distinct values, ascending, column f at value_start[f]
//
// `bin_ranks` gives exactly what `bin_table` gives for the rows `rows` of the table.
//
// Needs   as binning.hpp.
// Cost    rank_table: a sort per column. bin_ranks: O(rows + distinct values) per column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/tree/binning.hpp"

namespace assay::tree {

// rank: column f at rank + f * rows. values[f]: the distinct values; empty when nominal.
template <class T>
void rank_table(MatrixView<const T> X, std::span<const std::int32_t> n_levels, std::int32_t* rank,
                std::span<std::vector<double>> values, int n_threads) {
    detail::for_each_column(
        X, n_levels, n_threads,
        [&](std::size_t f, std::span<const SortKey<T>> keys, detail::ColumnScratch& scratch) {
            std::int32_t* column = rank + f * X.rows;
            if (n_levels[f] > 0) {
                for (std::size_t i = 0; i < X.rows; ++i) {
                    column[i] = level_of(X(i, f), n_levels[f]);
                }
                return;
            }
            std::size_t present = 0;
            const std::size_t count = detail::distinct_values<SortKey<T>>(keys, present, scratch);
            if (present < keys.size()) {
                std::fill_n(column, keys.size(), -1);
            }
            values[f].resize(count);
            for (std::size_t j = 0; j < count; ++j) {
                const std::size_t first = scratch.begin[j];
                values[f][j] = key_value<T>(keys[row_of(scratch.items[first])]);
                for (std::size_t i = first; i < scratch.begin[j + 1]; ++i) {
                    column[row_of(scratch.items[i])] = static_cast<std::int32_t>(j);
                }
            }
        });
}

struct RanksView {
    const std::int32_t* rank = nullptr;
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::span<const std::int64_t> value_start;
    std::span<const double> value;
    std::span<const std::int32_t> n_levels;
};

// weight: empty, or one number per entry of `rows`.
template <class Code>
void bin_ranks(const RanksView& ranks, std::span<const std::int64_t> rows,
               std::span<const double> weight, std::size_t max_bins, const BinsOut<Code>& out,
               int n_threads) {
    parallel_chunks(ranks.cols, 1, n_threads, [&](Range range) {
        const std::size_t f = range.begin;
        const std::int32_t* rank = ranks.rank + f * ranks.rows;
        const bool nominal = ranks.n_levels[f] > 0;
        const auto first = static_cast<std::size_t>(ranks.value_start[f]);
        const std::size_t count = nominal
                                      ? static_cast<std::size_t>(ranks.n_levels[f])
                                      : static_cast<std::size_t>(ranks.value_start[f + 1]) - first;
        std::vector<double> mass(count, 0.0);
        bool missing = false;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::int32_t r = rank[rows[i]];
            missing = missing || r < 0;
            if (r >= 0) {
                mass[static_cast<std::size_t>(r)] += weight.empty() ? 1.0 : weight[i];
            }
        }
        Code* codes = out.codes + f * rows.size();
        const auto scatter = [&](const std::int32_t* bin_of) {
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const std::int32_t r = rank[rows[i]];
                codes[i] = static_cast<Code>(r < 0 ? out.n_bins[f] : bin_of[r]);
            }
        };
        if (nominal) {
            detail::bin_levels<Code>(mass, max_bins, missing, f, out);
            scatter(out.level_bin.data() + out.level_start[f]);
            return;
        }
        std::vector<std::int32_t> bin_of(count);
        const std::int32_t n_bins = cut_values(mass, max_bins, bin_of);
        detail::fill_edges(
            mass, bin_of, [&](std::size_t j) { return ranks.value[first + j]; },
            out.open(f, n_bins, missing));
        scatter(bin_of.data());
    });
}

}  // namespace assay::tree

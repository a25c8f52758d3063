// Whole numbers that name levels, replaced by the codes of these levels, in place.
//
//     x  ->  table[x]   where 0 <= x < table.size() and x is whole
//            unseen     for every other number
//            x          where it is NaN: missing stays missing
//
// Needs   columns inside rows; one table per column.
// Cost    one pass over the rows, whatever the number of columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/matrix_view.hpp"

namespace assay {

struct LevelTable {
    std::size_t column;
    std::span<const double> code;
    double unseen;
};

inline void level_codes(MatrixView<double> rows, const std::vector<LevelTable>& tables) noexcept {
    constexpr std::size_t block = 256;  // rows that stay in L1 for the next column
    for (std::size_t first = 0; first < rows.rows; first += block) {
        const std::size_t last = std::min(first + block, rows.rows);
        for (const auto [column, code, unseen] : tables) {
            const auto end = static_cast<double>(code.size());
            for (std::size_t i = first; i < last; ++i) {
                const double x = rows(i, column);
                const bool inside = x >= 0 && x < end;
                const auto level = static_cast<std::int64_t>(inside ? x : 0.0);
                if (inside && static_cast<double>(level) == x) [[likely]] {
                    rows(i, column) = code[static_cast<std::size_t>(level)];
                } else if (x == x) {
                    rows(i, column) = unseen;
                }
            }
        }
    }
}

// Whether the columns hold codes below their number of levels already (or NaN).
[[nodiscard]] inline bool are_codes(MatrixView<const double> rows,
                                    std::span<const std::int64_t> columns,
                                    std::span<const double> n_levels) noexcept {
    for (std::size_t i = 0; i < rows.rows; ++i) {
        bool is_code = true;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const double x = rows(i, static_cast<std::size_t>(columns[c]));
            const bool inside = x >= 0 && x < n_levels[c];
            const auto level = static_cast<std::int64_t>(inside ? x : 0.0);
            is_code = is_code && ((inside && static_cast<double>(level) == x) || x != x);
        }
        if (!is_code) {
            return false;
        }
    }
    return true;
}

}  // namespace assay

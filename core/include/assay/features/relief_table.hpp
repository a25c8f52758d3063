// The table that Relief reads: columns scaled, gaps apart, rows in order of class.
//
//     diff(i, j, a) = |x_ia - x_ja|            numeric column, divided by its range
//                     x_ia != x_ja             nominal column
//                     expected difference      where a value is missing
//
// Columns without gaps lie in `complete`, numeric ones first. A column with gaps is a row of
// `gaps`, NaN where a value is missing; `expected` says, for each class, what a value drawn from
// that class differs from the cell on average (also where the cell itself is missing).
//
// Needs   complete.rows == gaps.cols == rows; expected.rows == classes * gaps.rows;
//         class_start ascending from 0 to rows, one entry more than classes.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/common/matrix_view.hpp"

namespace assay::features {

struct ReliefTable {
    MatrixView<const float> complete;  // rows x columns
    std::size_t n_numeric = 0;         // the other columns of `complete` are nominal
    MatrixView<const float> gaps;      // columns x rows
    std::size_t n_numeric_gaps = 0;    // the other rows of `gaps` are nominal
    MatrixView<const float> expected;  // (class, column) x rows
    std::span<const std::int64_t> class_start;

    [[nodiscard]] std::size_t n_rows() const noexcept { return complete.rows; }
    [[nodiscard]] std::size_t n_columns() const noexcept { return complete.cols + gaps.rows; }
    [[nodiscard]] std::size_t n_classes() const noexcept { return class_start.size() - 1; }
    [[nodiscard]] std::size_t begin(std::size_t c) const noexcept {
        return static_cast<std::size_t>(class_start[c]);
    }
    [[nodiscard]] std::size_t end(std::size_t c) const noexcept { return begin(c + 1); }
    [[nodiscard]] std::size_t class_of(std::size_t row) const noexcept {
        std::size_t c = 0;
        while (end(c) <= row) {
            ++c;
        }
        return c;
    }

    // A difference in a column with gaps.
    [[nodiscard]] float gap_difference(std::size_t i, std::size_t j, std::size_t a,
                                       std::size_t class_i, std::size_t class_j) const noexcept {
        const float x = gaps(a, i);
        const float y = gaps(a, j);
        if (std::isnan(x)) {
            return expected(class_i * gaps.rows + a, j);
        }
        if (std::isnan(y)) {
            return expected(class_j * gaps.rows + a, i);
        }
        if (a < n_numeric_gaps) {
            return std::fabs(x - y);
        }
        return x != y ? 1.0F : 0.0F;
    }
};

}  // namespace assay::features

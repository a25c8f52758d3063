// A sparse matrix in compressed rows (SciPy's CSR), in the caller's memory.
//
//     row i = the pairs (columns[t], values[t]) for offsets[i] <= t < offsets[i + 1]
//
// Needs   offsets.size() == rows + 1, offsets ascending from 0 to values.size(),
//         columns.size() == values.size(), every column < cols, and columns
//         ascending within a row (SciPy: sum_duplicates and sort_indices).
// Cost    three spans; copying a view copies no values.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>

namespace assay {

template <class T, class Index>
struct CsrView {
    using value_type = std::remove_const_t<T>;

    std::span<T> values;
    std::span<const Index> columns;
    std::span<const Index> offsets;
    std::size_t rows = 0;
    std::size_t cols = 0;

    [[nodiscard]] constexpr std::size_t row_size(std::size_t i) const noexcept {
        assert(i < rows && offsets[i] <= offsets[i + 1]);
        return static_cast<std::size_t>(offsets[i + 1] - offsets[i]);
    }

    [[nodiscard]] constexpr std::span<T> row_values(std::size_t i) const noexcept {
        return values.subspan(static_cast<std::size_t>(offsets[i]), row_size(i));
    }

    [[nodiscard]] constexpr std::span<const Index> row_columns(std::size_t i) const noexcept {
        return columns.subspan(static_cast<std::size_t>(offsets[i]), row_size(i));
    }

    // Visits (column, value) of the stored entries of row i in ascending columns.
    template <class Visit>
    constexpr void for_each_nonzero(std::size_t i, Visit&& visit) const {
        const auto row = row_values(i);
        const auto where = row_columns(i);
        for (std::size_t t = 0; t < row.size(); ++t) {
            assert(static_cast<std::size_t>(where[t]) < cols);
            visit(static_cast<std::size_t>(where[t]), row[t]);
        }
    }

    constexpr operator CsrView<const T, Index>() const noexcept
        requires(!std::is_const_v<T>)
    {
        return {values, columns, offsets, rows, cols};
    }
};

}  // namespace assay

// A dense row-major matrix in the caller's memory.
//
// Needs   `data` points to rows * cols values that outlive the view.
// Cost    a pointer and two sizes; copying a view copies no values.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>

namespace assay {

template <class T>
struct MatrixView {
    using value_type = std::remove_const_t<T>;

    T* data = nullptr;
    std::size_t rows = 0;
    std::size_t cols = 0;

    [[nodiscard]] constexpr std::span<T> row(std::size_t i) const noexcept {
        assert(i < rows);
        return {data + i * cols, cols};
    }

    [[nodiscard]] constexpr T& operator()(std::size_t i, std::size_t j) const noexcept {
        assert(i < rows && j < cols);
        return data[i * cols + j];
    }

    [[nodiscard]] constexpr MatrixView middle_rows(std::size_t first,
                                                   std::size_t count) const noexcept {
        assert(first <= rows && count <= rows - first);
        return {data + first * cols, count, cols};
    }

    // Visits (column, value) of row i in ascending columns; the same call on a
    // CsrView skips the zeros, so one template serves both layouts.
    template <class Visit>
    constexpr void for_each_nonzero(std::size_t i, Visit&& visit) const {
        for (std::size_t j = 0; j < cols; ++j) {
            visit(j, (*this)(i, j));
        }
    }

    constexpr operator MatrixView<const T>() const noexcept
        requires(!std::is_const_v<T>)
    {
        return {data, rows, cols};
    }
};

}  // namespace assay

// Tables of linear models at the border: dense rows, or the three arrays of a CSR matrix.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arrays.hpp"
#include "assay/common/csr_view.hpp"

namespace assay::bindings {

// A CSR matrix with 32-bit indices. The structure is checked, for kernels trust it.
template <class T>
CsrView<const T, std::int32_t> csr(const InVector<T>& values, const InVector<std::int32_t>& columns,
                                   const InVector<std::int32_t>& offsets, std::size_t n_columns) {
    require(offsets.shape(0) >= 1, "offsets is empty");
    require(columns.shape(0) == values.shape(0), "columns and values differ in length");
    const auto ends = span(offsets);
    const auto where = span(columns);
    require(ends.front() == 0 && std::is_sorted(ends.begin(), ends.end()) &&
                static_cast<std::size_t>(ends.back()) == values.shape(0),
            "offsets must ascend from 0 to the number of values");
    require(std::all_of(
                where.begin(), where.end(),
                [&](std::int32_t j) { return j >= 0 && static_cast<std::size_t>(j) < n_columns; }),
            "a column index is out of range");
    return {span(values), where, ends, ends.size() - 1, n_columns};
}

}  // namespace assay::bindings

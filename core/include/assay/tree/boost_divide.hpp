// Rows of a node divided in two by a set of codes, both sides in their old order.
//
//     left, right = rows whose code is in the set, rows whose code is not
//
// Needs   room for `count` rows in left and in right; both are written past what they end
//         up with, but never past `count`. `codes` has one byte per row of the table; with
//         `peek` 1, 3 bytes may be read after any of them, with -1 before, with 0 neither.
// Cost    O(count), no branch on the data; vectors of the processor's level
//         (core/levels/tree/boost_divide.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::tree {

template <class Level>
struct BoostDivide {
    // set: 256 bits. Returns the number of rows on the left.
    static std::size_t run(const std::uint8_t* codes, int peek, const std::uint32_t* set,
                           const std::int32_t* rows, std::size_t count, std::int32_t* left,
                           std::int32_t* right) noexcept;
};

}  // namespace assay::tree

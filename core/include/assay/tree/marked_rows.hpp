// Rows in the order of a column, one word each: same << 31 | label << 30 | row.
//
//     same    whether the row has the value of the row before it in the list
//     label   a bit of the row that searches want at hand (its class)
//
// part_marked parts a list by the side of each row, in order. Two rows that become neighbours have
// the same value exactly when every link between them said so.
//
// Needs   rows < 2^30; the first row of a list is not `same`; scratch as long as the list.
// Cost    one pass without branches, bound by the loads of sides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::tree {

using MarkedRow = std::uint32_t;

inline constexpr MarkedRow same_mark = MarkedRow{1} << 31;
inline constexpr MarkedRow label_mark = MarkedRow{1} << 30;

[[nodiscard]] constexpr MarkedRow marked_row(std::uint32_t row, bool same, bool label) noexcept {
    return row | (same ? same_mark : 0U) | (label ? label_mark : 0U);
}
[[nodiscard]] constexpr std::uint32_t row_of_mark(MarkedRow marked) noexcept {
    return marked & (label_mark - 1);
}
[[nodiscard]] constexpr bool is_same(MarkedRow marked) noexcept {
    return (marked & same_mark) != 0;
}

// `side` (1: left), one byte per row of the table.
inline void part_marked(std::span<MarkedRow> list, const std::uint8_t* side,
                        MarkedRow* scratch) noexcept {
    std::size_t left = 0;
    // Whether all links since the last row of each side hold; none before its first row.
    MarkedRow left_link = 0;
    MarkedRow right_link = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const MarkedRow marked = list[i];
        const MarkedRow goes_left = side[row_of_mark(marked)];
        const MarkedRow to_left = MarkedRow{0} - goes_left;  // all bits, or none
        left_link &= marked;
        right_link &= marked;
        const MarkedRow link = (left_link & to_left) | (right_link & ~to_left);
        const MarkedRow out = (marked & ~same_mark) | (link & same_mark);
        left_link |= to_left;
        right_link |= ~to_left;
        scratch[i - left] = out;
        list[left] = out;  // left <= i: never overwrites a row to come
        left += goes_left;
    }
    std::copy(scratch, scratch + (list.size() - left),
              list.begin() + static_cast<std::ptrdiff_t>(left));
}

}  // namespace assay::tree

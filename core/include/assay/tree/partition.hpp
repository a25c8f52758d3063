// Rows of a node parted into those that go left and those that go right, in order.
//
//     entries = [left rows][right rows]       both in their former order
//
// Needs   scratch as long as entries.
// Cost    one pass, without branches: each row is written to both sides and one of the
//         two places moves on. Bound by the loads of codes.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace assay::tree {

template <class Entry, class GoesLeft>
std::size_t partition_rows(std::span<Entry> entries, Entry* scratch, GoesLeft&& goes_left) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Entry e = entries[i];
        scratch[i - left] = e;
        entries[left] = e;  // left <= i: never overwrites a row to come
        left += static_cast<std::size_t>(goes_left(e.row));
    }
    assert(left <= entries.size());
    const std::size_t right = entries.size() - left;
    std::copy(scratch, scratch + right, entries.begin() + static_cast<std::ptrdiff_t>(left));
    return left;
}

}  // namespace assay::tree

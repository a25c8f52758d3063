// Parts items at a rank: what std::nth_element does, without mispredicted branches.
//
//     after part_at(items, at): items before `at` < items[at] <= items behind it
//
// The order is total (by value, then by row), so which items stand on which side depends on the
// items alone. The pivot comes from a sample, at the rank that is looked for; the partition
// advances by the truth of a comparison instead of jumping on it.
//
// Needs   distinct rows, at < items.size().
// Cost    about 1.7 n comparisons; O(n log n) at worst.
// Source  Floyd, Rivest: Algorithm 489: The algorithm SELECT. Communications of the ACM 18 (1975).
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace assay::neighbors {

// A row and its key, as one number: one comparison sorts by both.
struct CutItem {
    __extension__ using Number = __int128;

    std::uint64_t row;
    std::int64_t key;

    CutItem() = default;
    CutItem(double value, std::uint32_t at) noexcept : row(at), key(ascending(value)) {}

    [[nodiscard]] friend bool operator<(const CutItem& a, const CutItem& b) noexcept {
        return a.number() < b.number();
    }

  private:
    // Integers in the order of the doubles; -0 is less than 0.
    [[nodiscard]] static std::int64_t ascending(double value) noexcept {
        const auto bits = std::bit_cast<std::int64_t>(value);
        return bits ^ ((bits >> 63) & std::numeric_limits<std::int64_t>::max());
    }
    [[nodiscard]] Number number() const noexcept { return static_cast<Number>(key) << 64 | row; }
};

namespace detail {

// Where the pivot for rank `at` stands: that of a small sample.
[[nodiscard]] inline std::size_t pivot_for(std::span<const CutItem> items, std::size_t at) {
    constexpr std::size_t most = 25;
    const std::size_t n = items.size();
    const std::size_t size = n < 64 ? 5 : (n < 1024 ? 9 : most);
    std::size_t places[most];
    for (std::size_t i = 0; i < size; ++i) {
        std::size_t place = n * (2 * i + 1) / (2 * size);
        std::size_t to = i;
        for (; to > 0 && items[place] < items[places[to - 1]]; --to) {
            places[to] = places[to - 1];
        }
        places[to] = place;
    }
    // Far from the middle: a step inward, so that the side with the rank will be the small one.
    std::size_t rank = at * size / n;
    rank = rank + 1 < (size + 1) / 2 ? rank + 1 : rank;
    rank = rank > size / 2 + 1 ? rank - 1 : rank;
    return places[rank];
}

}  // namespace detail

// `room` has a place for every item.
inline void part_at(std::span<CutItem> items, std::size_t at, CutItem* room) {
    assert(at < items.size());
    for (int round = 0; items.size() > 12; ++round) {
        if (round == 40) {  // an unlucky order: what follows has a better worst case
            break;
        }
        std::swap(items[detail::pivot_for(items, at)], items.back());
        const CutItem pivot = items.back();
        // Each item is written to both sides; one of them is written over by the next.
        std::size_t less = 0;
        const std::size_t n = items.size() - 1;
        for (std::size_t i = 0; i < n; ++i) {
            const CutItem item = items[i];
            items[less] = item;
            room[i - less] = item;
            less += item < pivot ? 1 : 0;
        }
        std::copy(room, room + (n - less), items.data() + less);
        std::swap(items[less], items.back());
        if (at == less) {
            return;
        }
        if (at < less) {
            items = items.first(less);
        } else {
            items = items.subspan(less + 1);
            at -= less + 1;
        }
    }
    std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(at), items.end());
}

}  // namespace assay::neighbors

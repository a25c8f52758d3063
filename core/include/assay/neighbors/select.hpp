// Selection by counting: vectors make n comparisons cheaper than log n unpredictable branches.
//
//     bound(x, n, k)          some b with  k <= #{i : x_i <= b},  and not many more
//     keep(x, row, n, limit)  moves the entries with x <= limit to the front, in order
//     ranks(x, n, rank)       rank_i = #{j : x_j < x_i or (x_j = x_i and j < i)}
//
// Needs   1 <= k <= n; numbers (no NaN).
// Cost    O(n) per halving of the range, at most 24 of them, for bound; O(n) for keep; O(n^2)
//         comparisons for ranks, which beats a sort up to about 500 numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::neighbors {

template <class Level>
struct Select {
    [[nodiscard]] static float bound(const float* x, std::size_t n, std::size_t k) noexcept;
    static std::size_t keep(float* x, std::uint32_t* row, std::size_t n, float limit) noexcept;
    static void ranks(const double* x, std::size_t n, std::uint32_t* rank) noexcept;
};

}  // namespace assay::neighbors

// How the rows of a table are cut: parts with a sum of their own, blocks that stay in the cache.
//
//     part_count(n, k)    parts for sums of k numbers each
//     block_rows(d)       rows of d numbers that fill about 256 KB
//
// Both depend on the shape alone, and the sums of the parts are added in their order: so no bit
// depends on the number of threads.
//
// Needs   nothing. Cost: none.
#pragma once

#include <algorithm>
#include <cstddef>

namespace assay::decomposition {

// Parts are worth their memory (64 MB at most) from a thousand rows on.
[[nodiscard]] constexpr std::size_t part_count(std::size_t n, std::size_t k) noexcept {
    constexpr std::size_t max_parts = 16;
    constexpr std::size_t rows_per_part = 1024;
    constexpr std::size_t max_numbers = std::size_t{1} << 23;
    const std::size_t fitting = max_numbers / std::max<std::size_t>(k, 1);
    return std::max<std::size_t>(1, std::min({max_parts, n / rows_per_part, fitting}));
}

[[nodiscard]] constexpr std::size_t block_rows(std::size_t d) noexcept {
    return std::clamp<std::size_t>((std::size_t{1} << 15) / std::max<std::size_t>(d, 1), 64, 1024);
}

}  // namespace assay::decomposition

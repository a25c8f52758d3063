// What extra-trees ask of a column: its range, and the sums below a cut.
//
//     range     smallest and largest of n codes
//     weights   sum of (weight << 32) + ones over the rows with code <= last
//
// Needs   n >= 1. Entries are the pairs (row, weight << 16 | ones) of BinaryTarget.
// Cost    about 1/30 and 1 cycle per row, 2 for four columns (AVX-512).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "assay/common/dispatch.hpp"

namespace assay::tree {

struct Pair {
    std::uint32_t row;
    std::uint32_t load;
};

template <class Level>
struct Below {
    static std::pair<int, int> range(const std::uint8_t* codes, std::size_t n) noexcept;
    static std::pair<int, int> range(const std::uint16_t* codes, std::size_t n) noexcept;
    static std::uint64_t weights(const Pair* entries, const std::uint8_t* codes, std::size_t n,
                                 std::uint8_t last) noexcept;
    // Of four columns at once: codes of column g begin at codes + g * n.
    static void weights4(const Pair* entries, const std::uint8_t* codes, std::size_t n,
                         const std::uint8_t* last, std::uint64_t* sums) noexcept;
};

}  // namespace assay::tree

// Up to 32 numbers sorted: the rows of a small node by their codes.
//
// Needs   n <= 32; room for the next multiple of 16.
// Cost    about 60 cycles up to 16 numbers, 130 up to 32 (AVX-512); insertion elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/common/dispatch.hpp"

namespace assay::tree {

inline constexpr std::size_t small_sort_rows = 32;

template <class Level>
struct SmallSort {
    static void run(std::uint32_t* keys, std::size_t n) noexcept;
};

}  // namespace assay::tree

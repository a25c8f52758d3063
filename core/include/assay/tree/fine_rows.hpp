// Columns with more values than bins, as numbers: for random cuts in nodes of few rows.
//
// Where a bin holds many values, small nodes cannot be cut between them, and trees that grow to
// the last row lose by it. So small blocks (block.hpp) have such columns as numbers of 32 bits,
// rounded down. A cut x of these, v <= x, is the cut
//
//     value < next number of 32 bits after x     of the values themselves
//
// which a threshold says exactly. Values that rounding makes equal go together.
//
// Needs   finite values within the range of 32 bits.
// Cost    4 bytes per row and such column; one pass over the table.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "assay/common/parallel.hpp"

namespace assay::tree {

struct FineRows {
    std::span<const std::int32_t> slots;  // of each column of the table; -1: its bins are enough
    const float* values = nullptr;        // row by row
    std::size_t step = 0;                 // from row to row, a multiple of 4

    static constexpr std::size_t most_rows = 512;  // of the blocks that have them

    [[nodiscard]] bool empty() const noexcept { return step == 0; }
};

// The largest number of 32 bits that is not above x.
[[nodiscard]] inline float rounded_down(double x) noexcept {
    const auto near = static_cast<float>(x);
    const bool is_above = static_cast<double>(near) > x;
    // The number before it, as std::nextafter would say, but not by a call for every value. There
    // is none before 0 in this order of bits; x is then below 0 by less than a number can be.
    const auto bits = std::bit_cast<std::int32_t>(near);
    const float before = near == 0 ? -std::numeric_limits<float>::denorm_min()
                                   : std::bit_cast<float>(bits > 0 ? bits - 1 : bits + 1);
    return is_above ? before : near;
}

// What parts the values that are at most x when rounded down from the others.
[[nodiscard]] inline double fine_threshold(float x) noexcept {
    const float next = std::nextafter(x, std::numeric_limits<float>::infinity());
    return std::nextafter(static_cast<double>(next), -std::numeric_limits<double>::infinity());
}

// A cut between low < high, uniform but for rounding; `high` goes right in any case.
[[nodiscard]] constexpr float fine_cut(float low, float high, double share) noexcept {
    const double drawn = static_cast<double>(low) * (1 - share) + static_cast<double>(high) * share;
    const auto x = static_cast<float>(drawn);
    return x >= low && x < high ? x : low;
}

// Fills the values of FineRows from a table of `cols` columns, row by row.
template <class Real>
void fill_fine_rows(std::span<const Real> table, std::size_t cols,
                    std::span<const std::int32_t> slots, std::size_t step, std::span<float> values,
                    int n_threads) {
    constexpr std::size_t chunk = 4096;
    const std::size_t rows = cols == 0 ? 0 : table.size() / cols;
    parallel_chunks(rows, chunk, n_threads, [&](Range range) {
        for (std::size_t i = range.begin; i < range.end; ++i) {
            for (std::size_t f = 0; f < cols; ++f) {
                if (slots[f] >= 0) {
                    values[i * step + static_cast<std::size_t>(slots[f])] =
                        rounded_down(static_cast<double>(table[i * cols + f]));
                }
            }
        }
    });
}

}  // namespace assay::tree

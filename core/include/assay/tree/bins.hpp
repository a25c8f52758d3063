// A table whose columns are cut into bins: what every grower reads.
//
//     code(f, i) in 0 .. n_bins[f] - 1      bin of row i in column f, ascending with the value
//     code(f, i) = n_bins[f]                missing (only where has_missing[f])
//
// A numeric column with at most max_bins distinct values has one bin per value, and a
// split between two bins is then an exact split of the table. `lower` and `upper` are
// the smallest and the largest training value of each bin; the threshold between bins
// a < b (neighbours among the bins that occur in a node) is half way from upper[a] to
// lower[b], as CART has it. A nominal column has one bin per level; with more levels
// than bins the rarest share the last one, and level_bin says where each level went.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::tree {

template <class Code>  // std::uint8_t or std::uint16_t
struct BinnedView {
    const Code* codes = nullptr;  // column-major: column f begins at codes + f * rows
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::span<const std::int32_t> n_bins;       // per column, the bin of missing values not counted
    std::span<const std::uint8_t> nominal;      // per column
    std::span<const std::uint8_t> has_missing;  // per column
    std::span<const std::int64_t> bin_start;    // cols + 1; bins of column f in lower and upper
    std::span<const double> lower;
    std::span<const double> upper;
    std::span<const std::int64_t> level_start;  // cols + 1; levels of column f in level_bin
    std::span<const std::int32_t> level_bin;    // bin of each level of each nominal column

    [[nodiscard]] std::span<const Code> column(std::size_t f) const noexcept {
        return {codes + f * rows, rows};
    }

    // Half way between two bins; never rounds up to the larger value.
    [[nodiscard]] double threshold(std::size_t f, std::int32_t a, std::int32_t b) const noexcept {
        const auto first = static_cast<std::size_t>(bin_start[f]);
        const double low = upper[first + static_cast<std::size_t>(a)];
        const double high = lower[first + static_cast<std::size_t>(b)];
        const double middle = low / 2 + high / 2;
        return middle < high && middle >= low ? middle : low;
    }
};

}  // namespace assay::tree

// Rows as bits: what random cuts ask of a node, without its rows being listed anywhere.
//
// A block is a table of codes of one byte, column by column; a node is a bitmap, bit i % 64 of
// word i / 64 says that row i of the block is in it. A cut is one comparison of 64 rows at a
// time, a side is a bitmap, a count is a population count, and to part the rows costs nothing.
//
//     cuts     a random cut of each column (split.hpp), and its left side
//     counts   (rows << 32) + rows of class 1, of each set of rows
//     sums     sum over each set of rows, of numbers that belong to the rows of the block
//     squares  sum over a set of rows of (number - mean)^2
//
// Needs   words = ceil(rows of the block / 64); bits beyond the last row are 0; at least one
//         row in a node. No code or number beyond the last row is read.
// Cost    AVX-512: about 2 cycles per word and column for a cut and its side, 1 for a count, 10
//         for a sum; and 25 per column. Sums have a fixed order, the same at every level.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/common/dispatch.hpp"
#include "assay/tree/cut_guide.hpp"

namespace assay::tree {

inline constexpr std::size_t word_rows = 64;

struct BlockCodes {
    const std::uint8_t* codes;
    std::size_t stride;  // between columns
    std::size_t rows;

    [[nodiscard]] std::size_t words() const noexcept { return (rows + word_rows - 1) / word_rows; }
};

// Random cuts of columns that are not constant in a node.
struct BlockCuts {
    static constexpr std::size_t most = 16;
    std::size_t n;
    std::uint32_t column[most];
    std::uint8_t last_left[most];
    double drawn[most];
};

// Random cuts of columns that are numbers (fine_rows.hpp).
struct FineCuts {
    std::size_t n;
    std::uint32_t column[BlockCuts::most];
    float drawn[BlockCuts::most];
};

template <class Level>
struct Block {
    // Draws a cut for each of n <= BlockCuts::most columns that is not constant, the k-th of these
    // by shares[k]; sets the flags of the constant ones. `left` has n sets of rows.
    static void cuts(const CutTables& guide, const BlockCodes& block, const std::uint32_t* columns,
                     std::size_t n, const std::uint64_t* rows, const double* shares,
                     std::uint64_t* constant, BlockCuts& out, std::uint64_t* left) noexcept;
    // The same for columns that are numbers: values[slot * stride + i], slots[g] of columns[g].
    static void fine_cuts(const float* values, std::size_t stride, const std::uint32_t* columns,
                          const std::uint32_t* slots, std::size_t n, const std::uint64_t* rows,
                          std::size_t words, const double* shares, std::uint64_t* constant,
                          FineCuts& out, std::uint64_t* left) noexcept;
    // Rows of `step` numbers, a multiple of 4, to columns: out[f * stride + i] is number f of row
    // place[i], or of row i where `place` is nullptr. n rounded up to 4 is written.
    static void fine_columns(const float* table, std::size_t step, const std::uint32_t* place,
                             std::size_t n, float* out, std::size_t stride) noexcept;
    // Smallest and largest code of a column in a set of rows that is not empty.
    static void range(const BlockCodes& block, std::size_t column, const std::uint64_t* rows,
                      std::uint8_t& low, std::uint8_t& high) noexcept;
    // The rows with code <= last; whether there are any.
    static bool side(const BlockCodes& block, std::size_t column, std::uint8_t last,
                     const std::uint64_t* rows, std::uint64_t* left) noexcept;
    // n sets of rows, one after the other.
    static void counts(const std::uint64_t* sets, std::size_t n, std::size_t words,
                       const std::uint64_t* ones, std::uint64_t* cells) noexcept;
    // Rows of each set in each class: out[s * n_classes + k].
    static void class_counts(const std::uint64_t* sets, std::size_t n, std::size_t words,
                             const std::uint64_t* classes, std::size_t n_classes,
                             std::uint32_t* out) noexcept;
    // Pairs (rows, sum of the numbers). `numbers` has one for each of n_rows rows of the block.
    static void sums(const std::uint64_t* sets, std::size_t n, const double* numbers,
                     std::size_t n_rows, double* cells) noexcept;
    static double squares(const std::uint64_t* rows, const double* numbers, std::size_t n_rows,
                          double mean) noexcept;
    // Whether the numbers of all rows are the same.
    static bool are_equal(const std::uint64_t* rows, const double* numbers,
                          std::size_t n_rows) noexcept;
    // Records of `step` bytes, a multiple of 16: out[i] = records[place[i]].
    static void copy_records(const std::uint8_t* records, std::size_t step,
                             const std::uint32_t* place, std::size_t n, std::uint8_t* out) noexcept;
    // Records to columns: out[f * stride + i] is byte f of record place[i], or of record i where
    // `place` is nullptr. n rounded up to 16 is written.
    static void transpose(const std::uint8_t* records, std::size_t step, const std::uint32_t* place,
                          std::size_t n, std::uint8_t* out, std::size_t stride) noexcept;
};

}  // namespace assay::tree

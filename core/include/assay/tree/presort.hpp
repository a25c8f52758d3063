// Columns kept in sorted order down a tree: for fine bins, where histograms would be mostly
// empty and sorting every node anew would cost the most.
//
//     element = code << 48 | load << 32 | row      ascending in code, then in row
//     narrow  = code << 16 | row                   of tables with at most 2^16 rows, without load
//
// Every column is sorted once, by counting; a split parts the run of each column into its
// left and right rows, in order, so a node of n rows costs O(n) per column: no sort below
// the root. `load` is what the target wants at hand (see Target::load).
//
// Needs   rows < 2^32; `side` and `scratch` as in part().
// Cost    8 or 4 bytes per row and column; one pass per level and column, bound by the loads of
//         sides (one byte per row, at random places in the cache).
// Source  Shafer, Agrawal, Mehta: SPRINT: a scalable parallel classifier (1996).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/parallel.hpp"
#include "assay/tree/bins.hpp"

namespace assay::tree {

using Element = std::uint64_t;
using NarrowElement = std::uint32_t;
inline constexpr std::size_t narrow_rows = std::size_t{1} << 16;

[[nodiscard]] constexpr std::int32_t element_code(Element e) noexcept {
    return static_cast<std::int32_t>(e >> 48);
}
[[nodiscard]] constexpr std::int32_t element_code(NarrowElement e) noexcept {
    return static_cast<std::int32_t>(e >> 16);
}
[[nodiscard]] constexpr std::uint32_t element_row(Element e) noexcept {
    return static_cast<std::uint32_t>(e);
}
[[nodiscard]] constexpr std::uint32_t element_row(NarrowElement e) noexcept { return e & 0xFFFFU; }

template <class Item>  // Element or NarrowElement
class Presorted {
  public:
    // Sorts the rows of `entries` by each of `columns`; up to `n_shares` lists are parted at once.
    template <class Code, class Target>
    void sort(const BinnedView<Code>& bins, const Target& target,
              std::span<const typename Target::Entry> entries,
              const std::vector<std::uint32_t>& columns, int n_threads, std::size_t n_shares) {
        assert(std::is_sorted(columns.begin(), columns.end()));
        assert((std::is_same_v<Item, Element> || bins.rows <= narrow_rows));
        n_rows_ = entries.size();
        scratch_ = AlignedBuffer<Item>(n_rows_ * n_shares);
        place_.assign(bins.cols, no_place);
        elements_ = AlignedBuffer<Item>(columns.size() * n_rows_);
        run_tasks(columns.size(), n_threads, [&](std::size_t c) {
            const std::size_t f = columns[c];
            place_[f] = c;
            const Code* codes = bins.codes + f * bins.rows;
            std::vector<std::uint32_t> next(static_cast<std::size_t>(bins.n_bins[f]) + 2, 0);
            for (const auto& e : entries) {
                ++next[std::size_t{codes[e.row]} + 1];
            }
            for (std::size_t b = 1; b < next.size(); ++b) {
                next[b] += next[b - 1];
            }
            Item* out = elements_.data() + c * n_rows_;
            for (const auto& e : entries) {
                const Item code = codes[e.row];
                if constexpr (std::is_same_v<Item, Element>) {
                    out[next[code]++] = code << 48 | Element{target.load(e)} << 32 | e.row;
                } else {
                    out[next[code]++] = code << 16 | e.row;
                }
            }
        });
    }
    void clear() noexcept { place_.clear(); }

    [[nodiscard]] bool has(std::size_t f) const noexcept {
        return f < place_.size() && place_[f] != no_place;
    }
    [[nodiscard]] bool has_any() const noexcept { return !place_.empty(); }
    // The rows of a node, which are begin .. end - 1 in every column.
    [[nodiscard]] std::span<const Item> run(std::size_t f, std::size_t begin,
                                            std::size_t end) const noexcept {
        assert(has(f) && begin <= end && end <= n_rows_);
        return {elements_.data() + place_[f] * n_rows_ + begin, end - begin};
    }
    void part_run(std::size_t f, std::size_t begin, std::size_t end, const std::uint8_t* side,
                  std::size_t share) noexcept {
        assert(has(f) && begin <= end && end <= n_rows_);
        assert((share + 1) * n_rows_ <= scratch_.size());
        part({elements_.data() + place_[f] * n_rows_ + begin, end - begin}, side,
             scratch_.data() + share * n_rows_);
    }

    // Parts a run by `side` (1: left), one byte per row of the table.
    static void part(std::span<Item> run, const std::uint8_t* side, Item* scratch) noexcept {
        std::size_t left = 0;
        for (std::size_t i = 0; i < run.size(); ++i) {
            const Item e = run[i];
            scratch[i - left] = e;
            run[left] = e;
            left += side[element_row(e)];
        }
        std::copy(scratch, scratch + (run.size() - left),
                  run.begin() + static_cast<std::ptrdiff_t>(left));
    }

  private:
    static constexpr std::size_t no_place = static_cast<std::size_t>(-1);
    std::size_t n_rows_ = 0;
    std::vector<std::size_t> place_;
    AlignedBuffer<Item> elements_;
    AlignedBuffer<Item> scratch_;
};

}  // namespace assay::tree

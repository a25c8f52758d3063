// The bins of one column that occur in a node, ascending, with what their rows add up to.
//
//     bin[j], rows[j], cell[j]      j = 0 .. count - 1; missing values, if any, come last
//
// A node with many rows fills a histogram over all bins; one with few sorts its rows by their
// codes, so the cost never depends on the number of bins alone. Sums run over rows in the
// node's order, bin by bin: the same numbers for any number of threads.
//
// Needs   entries not empty.
// Cost    O(rows + bins), or O(rows) for the sort; scratch is reused.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/tree/bins.hpp"
#include "assay/tree/presort.hpp"
#include "assay/tree/small_sort.hpp"

namespace assay::tree {

template <class Unit>
struct Cells {
    std::size_t count = 0;
    std::size_t width = 1;
    bool has_missing = false;
    std::vector<std::int32_t> bin;
    std::vector<std::uint32_t> rows;
    std::vector<Unit> units;

    [[nodiscard]] const Unit* cell(std::size_t j) const noexcept {
        return units.data() + j * width;
    }
    [[nodiscard]] std::size_t n_values() const noexcept { return count - (has_missing ? 1 : 0); }

    void start(std::size_t unit_width, std::size_t capacity) {
        width = unit_width;
        count = 0;
        has_missing = false;
        if (bin.size() < capacity) {
            bin.resize(capacity);
            rows.resize(capacity);
        }
        if (units.size() < capacity * width) {
            units.resize(capacity * width);
        }
    }
};

template <class Unit>
struct HistogramScratch {
    std::vector<Unit> units;          // zero between calls
    std::vector<std::uint32_t> rows;  // zero between calls
    std::vector<Element> sorted;
    std::vector<Element> spare;
};

// For asserts.
template <class T>
[[nodiscard]] bool is_zero(std::span<T> values) noexcept {
    return std::all_of(values.begin(), values.end(), [](const auto& v) { return v == T{}; });
}

// Whether a histogram is cheaper than to sort the rows.
[[nodiscard]] inline bool prefers_histogram(std::size_t n_rows, std::size_t n_bins,
                                            std::size_t width) noexcept {
    return 8 * n_rows >= n_bins * width;
}

template <class Code, class Target>
void collect_cells(const BinnedView<Code>& bins, std::size_t f, const Target& target,
                   std::span<const typename Target::Entry> entries,
                   HistogramScratch<typename Target::Unit>& scratch,
                   Cells<typename Target::Unit>& out) {
    using Unit = typename Target::Unit;
    const Code* codes = bins.codes + f * bins.rows;
    const auto n_bins = static_cast<std::size_t>(bins.n_bins[f]) + 1;  // with missing
    const std::size_t width = target.width();
    assert(!entries.empty());
    out.start(width, std::min(n_bins, entries.size()));
    if (scratch.rows.size() < n_bins) {
        scratch.rows.assign(n_bins, 0);
    }
    if (scratch.units.size() < n_bins * width) {
        scratch.units.assign(n_bins * width, Unit{});
    }
    assert(is_zero(std::span(scratch.units)) && is_zero(std::span(scratch.rows)));
    for (const auto& e : entries) {
        const std::size_t code = codes[e.row];
        assert(code < n_bins);
        ++scratch.rows[code];
        target.add(scratch.units.data() + code * width, e);
    }
    for (std::size_t b = 0; b < n_bins; ++b) {
        if (scratch.rows[b] != 0) {
            out.bin[out.count] = static_cast<std::int32_t>(b);
            out.rows[out.count] = scratch.rows[b];
            Unit* from = scratch.units.data() + b * width;
            std::copy(from, from + width, out.units.data() + out.count * width);
            std::fill(from, from + width, Unit{});
            scratch.rows[b] = 0;
            ++out.count;
        }
    }
    out.has_missing = out.bin[out.count - 1] == bins.n_bins[f];
}

// The entries by code, as elements (code << 48 | place among the entries): a small sort, or
// counting by one byte of the code after the other.
template <class Code, class Entry>
[[nodiscard]] std::span<const Element> sorted_rows(const Code* codes, std::int32_t n_bins,
                                                   std::span<const Entry> entries,
                                                   std::vector<Element>& out,
                                                   std::vector<Element>& spare) {
    const std::size_t n = entries.size();
    if (out.size() < n) {
        out.resize(n);
        spare.resize(n);
    }
    if (n <= small_sort_rows) {
        alignas(cache_line) std::uint32_t keys[small_sort_rows];
        for (std::size_t i = 0; i < n; ++i) {
            keys[i] = std::uint32_t{codes[entries[i].row]} << 16 | static_cast<std::uint32_t>(i);
        }
        dispatch([&](auto level) { SmallSort<decltype(level)>::run(keys, n); });
        for (std::size_t i = 0; i < n; ++i) {
            out[i] = Element{keys[i] >> 16} << 48 | (keys[i] & 0xFFFFU);
        }
        return {out.data(), n};
    }
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = Element{codes[entries[i].row]} << 48 | i;
    }
    for (unsigned shift = 48; shift < (n_bins < 256 ? 56U : 64U); shift += 8) {
        std::uint32_t next[257] = {};
        for (std::size_t i = 0; i < n; ++i) {
            ++next[(out[i] >> shift & 0xFFU) + 1];
        }
        for (std::size_t b = 1; b < 257; ++b) {
            next[b] += next[b - 1];
        }
        for (std::size_t i = 0; i < n; ++i) {
            spare[next[out[i] >> shift & 0xFFU]++] = out[i];
        }
        out.swap(spare);
    }
    return {out.data(), n};
}

// Cells from rows in order; `entries` is what the elements number.
template <class Target, class Item, class Entries>
void collect_sorted(std::span<const Item> run, std::int32_t missing, const Target& target,
                    Entries entries, Cells<typename Target::Unit>& out) {
    using Unit = typename Target::Unit;
    const std::size_t width = target.width();
    out.start(width, std::min(run.size(), static_cast<std::size_t>(missing) + 1));
    assert(!run.empty());
    std::int32_t last = -1;
    for (const Item e : run) {
        assert(element_code(e) >= last && element_code(e) <= missing);
        Unit* cell = out.units.data() + out.count * width;
        if (element_code(e) != last) {
            last = element_code(e);
            out.bin[out.count] = last;
            out.rows[out.count] = 0;
            std::fill(cell, cell + width, Unit{});
            ++out.count;
        } else {
            cell -= width;
        }
        ++out.rows[out.count - 1];
        target.add(cell, entries[element_row(e)]);
    }
    out.has_missing = last == missing;
}

}  // namespace assay::tree

// A table cut into bins: what every grower reads (bins.hpp says how it looks).
//
// Numeric columns are sorted once (radix_sort.hpp), their distinct values cut
// (binning_cuts.hpp), and the codes scattered back from the sorted order: no search.
// Nominal columns hold level codes 0 .. L - 1 and keep one bin per level; with more
// levels than bins the heaviest keep theirs (of equal ones the lower level), the others
// share the last. NaN, and a level outside 0 .. L - 1, is missing. A row of weight 0 gets
// a code but has no say in the bins.
//
// Needs   max_bins < the largest code; fewer than 2^32 rows; every numeric value finite;
//         weight empty or one number >= 0 per row.
// Cost    O(n d): about 6 ns per value; working memory of 4 columns of keys, and 24 bytes per row
//         and thread. All rows take part, whatever their number. Parallel over columns; the result
//         does not depend on n_threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/tree/binning_cuts.hpp"
#include "assay/tree/radix_sort.hpp"

namespace assay::tree {

// The smallest and the largest value of each bin of a column.
struct BinEdges {
    std::vector<double> lower;
    std::vector<double> upper;
};

// Where the bins of a table go; all arrays are the caller's.
template <class Code>
struct BinsOut {
    Code* codes = nullptr;  // column f at codes + f * rows
    std::span<std::int32_t> n_bins;
    std::span<std::uint8_t> has_missing;
    std::span<BinEdges> edges;
    std::span<const std::int64_t> level_start;  // cols + 1, by n_levels
    std::span<std::int32_t> level_bin;

    // Makes room for the bins of column f; an empty column has one empty bin.
    BinEdges& open(std::size_t f, std::int32_t count, bool missing) const {
        n_bins[f] = std::max(count, 1);
        has_missing[f] = missing ? 1 : 0;
        edges[f].lower.assign(static_cast<std::size_t>(n_bins[f]), 0.0);
        edges[f].upper.assign(static_cast<std::size_t>(n_bins[f]), 0.0);
        return edges[f];
    }
};

// Level of a stored value, -1 when it is none.
template <class T>
[[nodiscard]] inline std::int32_t level_of(T x, std::int32_t n_levels) noexcept {
    return x >= 0 && x < static_cast<T>(n_levels) ? static_cast<std::int32_t>(x) : -1;
}

namespace detail {

// Bins of the levels by their weights; writes level_bin and the bins of column f.
template <class Code>
void bin_levels(std::span<const double> weight, std::size_t max_bins, bool missing, std::size_t f,
                const BinsOut<Code>& out) {
    const std::size_t n_levels = weight.size();
    const auto level_bin =
        out.level_bin.subspan(static_cast<std::size_t>(out.level_start[f]), n_levels);
    if (n_levels <= max_bins) {
        std::iota(level_bin.begin(), level_bin.end(), 0);
    } else {
        std::vector<std::size_t> heaviest(n_levels);
        std::iota(heaviest.begin(), heaviest.end(), std::size_t{0});
        std::stable_sort(heaviest.begin(), heaviest.end(),
                         [&](std::size_t a, std::size_t b) { return weight[a] > weight[b]; });
        std::fill(level_bin.begin(), level_bin.end(), -1);
        for (std::size_t i = 0; i + 1 < max_bins; ++i) {
            level_bin[heaviest[i]] = 0;
        }
        std::int32_t next = 0;
        for (std::int32_t& bin : level_bin) {
            bin = bin == 0 ? next++ : static_cast<std::int32_t>(max_bins) - 1;
        }
    }
    const auto count = static_cast<std::int32_t>(std::min(n_levels, max_bins));
    auto& [lower, upper] = out.open(f, count, missing);
    for (std::size_t level = n_levels; level-- > 0;) {
        lower[static_cast<std::size_t>(level_bin[level])] = static_cast<double>(level);
    }
    for (std::size_t level = 0; level < n_levels; ++level) {
        upper[static_cast<std::size_t>(level_bin[level])] = static_cast<double>(level);
    }
}

// Lower and upper values of the bins, given the bin of each distinct value with weight.
template <class Value>
void fill_edges(std::span<const double> weight, std::span<const std::int32_t> bin_of, Value value,
                BinEdges& edges) {
    auto& [lower, upper] = edges;
    std::int32_t last = -1;
    std::size_t before = 0;  // the value before with weight
    for (std::size_t j = 0; j < bin_of.size(); ++j) {
        if (!(weight[j] > 0)) {
            continue;
        }
        if (bin_of[j] != last) {
            if (last >= 0) {
                upper[static_cast<std::size_t>(last)] = value(before);
            }
            lower[static_cast<std::size_t>(bin_of[j])] = value(j);
            last = bin_of[j];
        }
        before = j;
    }
    if (last >= 0) {
        upper[static_cast<std::size_t>(last)] = value(before);
    }
}

// Working memory of one column.
struct ColumnScratch {
    explicit ColumnScratch(std::size_t rows)
        : items(rows), spare(rows), begin(rows + 1), bin_of(rows) {}

    AlignedBuffer<SortItem> items;
    AlignedBuffer<SortItem> spare;
    AlignedBuffer<std::uint32_t> begin;  // where each distinct value begins in the order
    AlignedBuffer<std::int32_t> bin_of;

    // The weight of each distinct value, where the sort is done with its spare items.
    [[nodiscard]] double* weight() noexcept {
        static_assert(sizeof(double) == sizeof(SortItem));
        return reinterpret_cast<double*>(spare.data());
    }
};

// Scratch for as many columns as are at work at once, made when it is first needed.
class ScratchPool {
  public:
    explicit ScratchPool(std::size_t rows) : rows_(rows) {}

    template <class Call>
    void with(Call&& call) {
        std::unique_ptr<ColumnScratch> scratch;
        {
            const std::lock_guard lock(mutex_);
            if (!idle_.empty()) {
                scratch = std::move(idle_.back());
                idle_.pop_back();
            }
        }
        if (!scratch) {
            scratch = std::make_unique<ColumnScratch>(rows_);
        }
        call(*scratch);
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(scratch));
    }

  private:
    std::size_t rows_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<ColumnScratch>> idle_;
};

// Sorts the column and finds its distinct values; returns how many there are.
template <class Key>
[[nodiscard]] std::size_t distinct_values(std::span<const Key> keys, std::size_t& present,
                                          ColumnScratch& scratch) noexcept {
    const std::size_t n = keys.size();
    present = sort_column<Key>(keys, {scratch.items.data(), n}, {scratch.spare.data(), n});
    std::size_t count = 0;
    for (std::size_t i = 0; i < present; ++i) {
        const SortItem item = scratch.items[i];
        const bool is_new = i == 0 || lead_of(item) != lead_of(scratch.items[i - 1]) ||
                            keys[row_of(item)] != keys[row_of(scratch.items[i - 1])];
        scratch.begin[count] = static_cast<std::uint32_t>(i);
        count += is_new ? 1 : 0;
    }
    scratch.begin[count] = static_cast<std::uint32_t>(present);
    return count;
}

template <class T, class Code>
void bin_numeric(std::span<const SortKey<T>> keys, std::span<const double> row_weight,
                 std::size_t max_bins, std::size_t f, ColumnScratch& scratch,
                 const BinsOut<Code>& out) {
    using Key = SortKey<T>;
    const std::size_t n = keys.size();
    std::size_t present = 0;
    const std::size_t count = distinct_values<Key>(keys, present, scratch);
    const std::span<double> weight(scratch.weight(), count);
    for (std::size_t j = 0; j < count; ++j) {
        const std::size_t first = scratch.begin[j];
        const std::size_t end = scratch.begin[j + 1];
        if (row_weight.empty()) {
            weight[j] = static_cast<double>(end - first);
            continue;
        }
        double sum = 0;  // in ascending order of rows, as ranks.hpp has it
        for (std::size_t i = first; i < end; ++i) {
            sum += row_weight[row_of(scratch.items[i])];
        }
        weight[j] = sum;
    }
    const std::span<std::int32_t> bin_of(scratch.bin_of.data(), count);
    const std::int32_t n_bins = cut_values(weight, max_bins, bin_of);
    const auto value = [&](std::size_t j) {
        return static_cast<double>(key_value<T>(keys[row_of(scratch.items[scratch.begin[j]])]));
    };
    fill_edges(weight, bin_of, value, out.open(f, n_bins, present < n));
    Code* codes = out.codes + f * n;
    if (present < n) {
        const auto missing = static_cast<Code>(out.n_bins[f]);
        for (std::size_t i = 0; i < n; ++i) {
            codes[i] = missing;
        }
    }
    for (std::size_t j = 0; j < count; ++j) {
        const auto code = static_cast<Code>(bin_of[j]);
        for (std::size_t i = scratch.begin[j]; i < scratch.begin[j + 1]; ++i) {
            codes[row_of(scratch.items[i])] = code;
        }
    }
}

template <class T, class Code>
void bin_nominal(MatrixView<const T> X, std::int32_t n_levels, std::span<const double> row_weight,
                 std::size_t max_bins, std::size_t f, const BinsOut<Code>& out) {
    std::vector<double> weight(static_cast<std::size_t>(n_levels), 0.0);
    bool missing = false;
    for (std::size_t i = 0; i < X.rows; ++i) {
        const std::int32_t level = level_of(X(i, f), n_levels);
        missing = missing || level < 0;
        if (level >= 0) {
            weight[static_cast<std::size_t>(level)] += row_weight.empty() ? 1.0 : row_weight[i];
        }
    }
    bin_levels<Code>(weight, max_bins, missing, f, out);
    const auto* level_bin = out.level_bin.data() + out.level_start[f];
    Code* codes = out.codes + f * X.rows;
    for (std::size_t i = 0; i < X.rows; ++i) {
        const std::int32_t level = level_of(X(i, f), n_levels);
        codes[i] = static_cast<Code>(level < 0 ? out.n_bins[f] : level_bin[level]);
    }
}

inline constexpr std::size_t column_group = 4;  // half a cache line of doubles

// Calls body(f, keys, scratch) for every numeric column and body(f, {}, scratch) for every nominal
// one. Keys are made for a group of columns at a time, so that rows are read by cache lines.
template <class T, class Body>
void for_each_column(MatrixView<const T> X, std::span<const std::int32_t> n_levels, int n_threads,
                     Body&& body) {
    using Key = SortKey<T>;
    const std::size_t n = X.rows;
    // A small table stays in the cache: no groups, and no thread that would wait for memory of its
    // own.
    const bool is_small = n * X.cols * sizeof(T) <= std::size_t{1} << 21;
    n_threads = is_small ? 1 : n_threads;
    const std::size_t group =
        is_small ? 1 : std::max(column_group, static_cast<std::size_t>(n_threads));
    AlignedBuffer<Key> keys(std::min(group, X.cols) * n);
    ScratchPool pool(n);
    for (std::size_t first = 0; first < X.cols; first += group) {
        const std::size_t count = std::min(group, X.cols - first);
        parallel_chunks(n, 4096, n_threads, [&](Range range) {
            for (std::size_t i = range.begin; i < range.end; ++i) {
                const T* row = X.data + i * X.cols + first;
                for (std::size_t c = 0; c < count; ++c) {
                    keys[c * n + i] = sort_key(row[c]);
                }
            }
        });
        parallel_chunks(count, 1, n_threads, [&](Range range) {
            const std::size_t c = range.begin;
            const bool nominal = n_levels[first + c] > 0;
            pool.with([&](ColumnScratch& scratch) {
                body(
                    first + c,
                    nominal ? std::span<const Key>{} : std::span<const Key>(keys.data() + c * n, n),
                    scratch);
            });
        });
    }
}

}  // namespace detail

template <class T, class Code>
void bin_table(MatrixView<const T> X, std::span<const std::int32_t> n_levels,
               std::span<const double> weight, std::size_t max_bins, const BinsOut<Code>& out,
               int n_threads) {
    detail::for_each_column(
        X, n_levels, n_threads,
        [&](std::size_t f, std::span<const SortKey<T>> keys, detail::ColumnScratch& scratch) {
            if (n_levels[f] > 0) {
                detail::bin_nominal(X, n_levels[f], weight, max_bins, f, out);
            } else {
                detail::bin_numeric<T>(keys, weight, max_bins, f, scratch, out);
            }
        });
}

}  // namespace assay::tree

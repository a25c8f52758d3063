// Python border of assay::tree, part "bins": tables cut into bins, and columns sorted once.
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "assay/tree/binning.hpp"
#include "assay/tree/fine_rows.hpp"
#include "assay/tree/ranks.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

using Owned = nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig>;

// The edges of all columns, one after the other; one array where each bin has one value.
nb::object joined(std::vector<tree::BinEdges>& edges) {
    std::vector<double> lower;
    std::vector<double> upper;
    {
        nb::gil_scoped_release unlocked;
        std::size_t total = 0;
        bool is_lossless = true;
        for (const auto& column : edges) {
            total += column.lower.size();
            is_lossless = is_lossless && column.lower == column.upper;
        }
        lower.reserve(total);
        upper.reserve(is_lossless ? 0 : total);
        for (auto& column : edges) {
            lower.insert(lower.end(), column.lower.begin(), column.lower.end());
            if (!is_lossless) {
                upper.insert(upper.end(), column.upper.begin(), column.upper.end());
            }
            column = {};
        }
    }
    const bool is_lossless = upper.empty();
    const nb::object first = owned(std::move(lower));
    return nb::make_tuple(first, is_lossless ? first : owned(std::move(upper)));
}

// Arrays of the right sizes, and levels that add up.
template <class Code>
void check_out(const tree::BinsOut<Code>& out, const OutMatrix<Code>& codes,
               const InVector<std::int32_t>& n_levels, std::size_t rows, std::size_t weights,
               std::size_t max_bins) {
    const std::size_t cols = n_levels.shape(0);
    require(codes.shape(0) == cols && codes.shape(1) == rows,
            "codes needs one row per column of the table");
    require(rows < (std::size_t{1} << 31), "a table has fewer than 2^31 rows");
    require(max_bins >= 2 && max_bins <= std::numeric_limits<Code>::max(),
            "max_bins must fit the codes");
    require(out.n_bins.size() == cols && out.has_missing.size() == cols,
            "n_bins and has_missing need one entry per column");
    require(out.level_start.size() == cols + 1 && out.level_start[0] == 0,
            "level_start needs one entry per column and one more");
    require(weights == 0 || weights == rows, "weight needs one number per row");
    for (std::size_t f = 0; f < cols; ++f) {
        require(n_levels.data()[f] >= 0 &&
                    out.level_start[f + 1] - out.level_start[f] == n_levels.data()[f],
                "level_start does not add up n_levels");
    }
    require(out.level_bin.size() == static_cast<std::size_t>(out.level_start[cols]),
            "level_bin needs one entry per level");
}

template <class T, class Code>
void bind_table(nb::module_& m) {
    m.def(
        "bin_table",
        [](InMatrix<T> X, InVector<std::int32_t> n_levels, InVector<double> weight,
           std::size_t max_bins, OutMatrix<Code> codes, OutVector<std::int32_t> n_bins,
           OutVector<std::uint8_t> has_missing, InVector<std::int64_t> level_start,
           OutVector<std::int32_t> level_bin, int n_threads) {
            std::vector<tree::BinEdges> edges(n_levels.shape(0));
            const tree::BinsOut<Code> out{codes.data(), span(n_bins),      span(has_missing),
                                          edges,        span(level_start), span(level_bin)};
            require(n_levels.shape(0) == X.shape(1), "n_levels needs one entry per column");
            check_out(out, codes, n_levels, X.shape(0), weight.shape(0), max_bins);
            require(n_threads >= 1, "n_threads must be at least 1");
            {
                nb::gil_scoped_release unlocked;
                tree::bin_table(view(X), span(n_levels), span(weight), max_bins, out, n_threads);
            }
            return joined(edges);
        },
        "X"_a.noconvert(), "n_levels"_a.noconvert(), "weight"_a.noconvert(), "max_bins"_a,
        "codes"_a.noconvert(), "n_bins"_a.noconvert(), "has_missing"_a.noconvert(),
        "level_start"_a.noconvert(), "level_bin"_a.noconvert(), "n_threads"_a = 1,
        "Cut the columns of a table into bins; returns the lowest and highest values of the bins.");
}

template <class T>
void bind_fine_rows(nb::module_& m) {
    m.def(
        "fine_rows",
        [](InMatrix<T> X, InVector<std::int32_t> slots, OutMatrix<float> values, int n_threads) {
            require(slots.shape(0) == X.shape(1), "slots needs one entry per column");
            require(values.shape(0) == X.shape(0), "values needs one row per row of the table");
            for (const std::int32_t slot : span(slots)) {
                require(slot < static_cast<std::int32_t>(values.shape(1)),
                        "slots must be below the number of columns of values");
            }
            require(n_threads >= 1, "n_threads must be at least 1");
            nb::gil_scoped_release unlocked;
            tree::fill_fine_rows(std::span<const T>(X.data(), X.size()), X.shape(1), span(slots),
                                 values.shape(1), std::span<float>(values.data(), values.size()),
                                 n_threads);
        },
        "X"_a.noconvert(), "slots"_a.noconvert(), "values"_a.noconvert(), "n_threads"_a = 1,
        "Write some columns of a table as numbers of 32 bits, rounded down.");
}

template <class Code>
void bind_ranks(nb::module_& m) {
    m.def(
        "bin_ranks",
        [](InMatrix<std::int32_t> rank, InVector<std::int64_t> value_start, InVector<double> value,
           InVector<std::int32_t> n_levels, InVector<std::int64_t> rows, InVector<double> weight,
           std::size_t max_bins, OutMatrix<Code> codes, OutVector<std::int32_t> n_bins,
           OutVector<std::uint8_t> has_missing, InVector<std::int64_t> level_start,
           OutVector<std::int32_t> level_bin, int n_threads) {
            std::vector<tree::BinEdges> edges(n_levels.shape(0));
            const tree::BinsOut<Code> out{codes.data(), span(n_bins),      span(has_missing),
                                          edges,        span(level_start), span(level_bin)};
            require(n_levels.shape(0) == rank.shape(0), "n_levels needs one entry per column");
            check_out(out, codes, n_levels, rows.shape(0), weight.shape(0), max_bins);
            require(
                value_start.shape(0) == rank.shape(0) + 1 && value_start.data()[0] == 0 &&
                    value_start.data()[rank.shape(0)] == static_cast<std::int64_t>(value.shape(0)),
                "value_start does not divide value");
            for (std::size_t f = 0; f < rank.shape(0); ++f) {
                require(value_start.data()[f] <= value_start.data()[f + 1],
                        "value_start must not fall");
            }
            for (std::size_t i = 0; i < rows.shape(0); ++i) {
                require(rows.data()[i] >= 0 &&
                            rows.data()[i] < static_cast<std::int64_t>(rank.shape(1)),
                        "rows has a number outside the table");
            }
            require(n_threads >= 1, "n_threads must be at least 1");
            const tree::RanksView ranks{rank.data(),       rank.shape(1), rank.shape(0),
                                        span(value_start), span(value),   span(n_levels)};
            {
                nb::gil_scoped_release unlocked;
                tree::bin_ranks(ranks, span(rows), span(weight), max_bins, out, n_threads);
            }
            return joined(edges);
        },
        "rank"_a.noconvert(), "value_start"_a.noconvert(), "value"_a.noconvert(),
        "n_levels"_a.noconvert(), "rows"_a.noconvert(), "weight"_a.noconvert(), "max_bins"_a,
        "codes"_a.noconvert(), "n_bins"_a.noconvert(), "has_missing"_a.noconvert(),
        "level_start"_a.noconvert(), "level_bin"_a.noconvert(), "n_threads"_a = 1,
        "Cut some rows of a ranked table into bins and return their edges, as bin_table would.");
}

template <class T>
void bind_rank_table(nb::module_& m) {
    m.def(
        "rank_table",
        [](InMatrix<T> X, InVector<std::int32_t> n_levels, OutMatrix<std::int32_t> rank,
           OutVector<std::int64_t> value_start, int n_threads) {
            const std::size_t cols = X.shape(1);
            require(X.shape(0) < (std::size_t{1} << 31), "a table has fewer than 2^31 rows");
            require(n_levels.shape(0) == cols, "n_levels needs one entry per column");
            require(rank.shape(0) == cols && rank.shape(1) == X.shape(0),
                    "rank needs one row per column of the table");
            require(value_start.shape(0) == cols + 1,
                    "value_start needs one entry per column and one more");
            require(n_threads >= 1, "n_threads must be at least 1");
            auto joined = std::make_unique<std::vector<double>>();
            {
                nb::gil_scoped_release unlocked;
                std::vector<std::vector<double>> values(cols);
                tree::rank_table(view(X), span(n_levels), rank.data(), values, n_threads);
                std::size_t total = 0;
                for (std::size_t f = 0; f < cols; ++f) {
                    value_start.data()[f] = static_cast<std::int64_t>(total);
                    total += values[f].size();
                }
                value_start.data()[cols] = static_cast<std::int64_t>(total);
                joined->reserve(total);
                for (auto& column : values) {
                    joined->insert(joined->end(), column.begin(), column.end());
                    std::vector<double>().swap(column);
                }
            }
            std::vector<double>* values = joined.release();
            nb::capsule owner(
                values, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
            return Owned(values->data(), {values->size()}, owner);
        },
        "X"_a.noconvert(), "n_levels"_a.noconvert(), "rank"_a.noconvert(),
        "value_start"_a.noconvert(), "n_threads"_a = 1,
        "Rank the values of every column; returns the distinct values.");
}

}  // namespace

void bind_tree_bins(nb::module_& m) {
    bind_table<double, std::uint8_t>(m);
    bind_table<double, std::uint16_t>(m);
    bind_table<float, std::uint8_t>(m);
    bind_table<float, std::uint16_t>(m);
    bind_fine_rows<double>(m);
    bind_fine_rows<float>(m);
    bind_ranks<std::uint8_t>(m);
    bind_ranks<std::uint16_t>(m);
    bind_rank_table<double>(m);
    bind_rank_table<float>(m);
}

}  // namespace assay::bindings

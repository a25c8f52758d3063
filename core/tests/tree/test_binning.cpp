#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/binning.hpp"
#include "assay/tree/binning_cuts.hpp"
#include "assay/tree/radix_sort.hpp"
#include "assay/tree/ranks.hpp"

using namespace assay::tree;
using assay::MatrixView;

namespace {

struct Binned {
    Binned(std::size_t rows, std::size_t cols, std::vector<std::int32_t> levels)
        : codes(rows * cols),
          n_bins(cols),
          has_missing(cols),
          edges(cols),
          level_start(cols + 1, 0) {
        for (std::size_t f = 0; f < cols; ++f) {
            level_start[f + 1] = level_start[f] + levels[f];
        }
        level_bin.resize(static_cast<std::size_t>(level_start[cols]));
        out = {codes.data(), n_bins, has_missing, edges, level_start, level_bin};
    }

    std::vector<std::uint8_t> codes;
    std::vector<std::int32_t> n_bins;
    std::vector<std::uint8_t> has_missing;
    std::vector<BinEdges> edges;
    std::vector<std::int64_t> level_start;
    std::vector<std::int32_t> level_bin;
    BinsOut<std::uint8_t> out;
};

}  // namespace

TEST_CASE("sort keys keep the order of floats and join both zeros") {
    const std::vector<double> values{
        -std::numeric_limits<double>::infinity(), -1e300, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1e300};
    for (std::size_t i = 1; i < values.size(); ++i) {
        CHECK(sort_key(values[i - 1]) < sort_key(values[i]));
        CHECK(key_value<double>(sort_key(values[i])) == values[i]);
    }
    CHECK(sort_key(-0.0) == sort_key(0.0));
    CHECK_FALSE(std::signbit(key_value<double>(sort_key(-0.0))));
    CHECK(sort_key(std::nan("")) == missing_key<std::uint64_t>);
    CHECK(sort_key(-std::nanf("")) == missing_key<std::uint32_t>);
}

TEST_CASE("sorting a column equals a stable sort by value") {
    assay::RandomStream stream(1, 0);
    for (const std::size_t n : {1U, 50U, 97U, 3000U, 9000U}) {
        for (const int kind : {0, 1, 2, 3}) {
            std::vector<std::uint64_t> keys(n);
            for (auto& key : keys) {
                const double x = kind == 0   ? stream.normal()
                                 : kind == 1 ? static_cast<double>(stream.below(3U))
                                 : kind == 2 ? 1.0 + 0x1p-52 * stream.below(500U)
                                             : std::exp(300 * stream.normal());
                key = stream.uniform() < 0.1 ? missing_key<std::uint64_t> : sort_key(x);
            }
            if (n > 10) {
                keys[3] = sort_key(-1e308);  // an outlier squeezes all others into one run
            }
            std::vector<SortItem> items(n);
            std::vector<SortItem> spare(n);
            const std::size_t present = sort_column<std::uint64_t>(keys, items, spare);
            std::vector<std::uint32_t> expected;
            for (std::uint32_t i = 0; i < n; ++i) {
                if (keys[i] != missing_key<std::uint64_t>) {
                    expected.push_back(i);
                }
            }
            std::stable_sort(expected.begin(), expected.end(),
                             [&](auto a, auto b) { return keys[a] < keys[b]; });
            REQUIRE(present == expected.size());
            for (std::size_t i = 0; i < present; ++i) {
                CHECK(row_of(items[i]) == expected[i]);
                if (i > 0 && lead_of(items[i]) != lead_of(items[i - 1])) {
                    CHECK(keys[row_of(items[i])] != keys[row_of(items[i - 1])]);
                }
            }
        }
    }
}

TEST_CASE("cuts keep values whole, never exceed max_bins and balance light values") {
    assay::RandomStream stream(2, 0);
    for (int round = 0; round < 300; ++round) {
        const std::size_t m = 1 + stream.below(60U);
        const std::size_t max_bins = 2 + stream.below(20U);
        std::vector<double> weight(m);
        for (auto& w : weight) {
            w = stream.uniform() < 0.2 ? 100.0 * stream.below(4U) : stream.below(5U);
        }
        std::vector<std::int32_t> bin_of(m);
        const std::int32_t n_bins = cut_values(weight, max_bins, bin_of);
        const auto present = static_cast<std::size_t>(
            std::count_if(weight.begin(), weight.end(), [](double w) { return w > 0; }));
        CHECK(static_cast<std::size_t>(n_bins) <= max_bins);
        if (present <= max_bins) {
            CHECK(static_cast<std::size_t>(n_bins) == present);
        }
        std::int32_t last = 0;
        for (const std::int32_t bin : bin_of) {
            CHECK((bin == last || bin == last + 1));
            last = bin;
        }
        CHECK(last == std::max(n_bins, 1) - 1);
    }
    std::vector<double> even(1000, 1.0);
    std::vector<std::int32_t> bin_of(1000);
    CHECK(cut_values(even, 10, bin_of) == 10);
    for (std::size_t j = 0; j < 1000; ++j) {
        CHECK(bin_of[j] == static_cast<std::int32_t>(j / 100));
    }
}

TEST_CASE("bins of a table by definition, from its rows and from ranks of a larger one") {
    assay::RandomStream stream(3, 0);
    constexpr std::size_t n = 500;
    constexpr std::size_t d = 10;  // more than one group of columns
    constexpr std::size_t max_bins = 20;
    std::vector<double> values(n * d);
    std::vector<std::int32_t> n_levels(d, 0);
    n_levels[4] = 30;
    n_levels[9] = 3;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t f = 0; f < d; ++f) {
            double x = f % 2 == 0 ? stream.normal() : static_cast<double>(stream.below(9U)) - 4;
            if (n_levels[f] != 0) {
                x = static_cast<double>(stream.below(static_cast<std::uint32_t>(n_levels[f]) + 1));
            }
            values[i * d + f] = stream.uniform() < 0.05 ? std::nan("") : x;
        }
    }
    std::vector<std::int64_t> rows;
    std::vector<double> part;
    for (std::size_t i = 0; i < n; ++i) {
        if (stream.uniform() < 0.7) {
            rows.push_back(static_cast<std::int64_t>(i));
            part.insert(part.end(), values.begin() + static_cast<std::ptrdiff_t>(i * d),
                        values.begin() + static_cast<std::ptrdiff_t>((i + 1) * d));
        }
    }
    const MatrixView<const double> X{part.data(), rows.size(), d};
    Binned direct(rows.size(), d, n_levels);
    bin_table(X, n_levels, {}, max_bins, direct.out, 2);

    std::vector<std::int32_t> rank(n * d);
    std::vector<std::vector<double>> distinct(d);
    rank_table(MatrixView<const double>{values.data(), n, d}, n_levels, rank.data(), distinct, 2);
    std::vector<std::int64_t> start{0};
    std::vector<double> all;
    for (const auto& column : distinct) {
        all.insert(all.end(), column.begin(), column.end());
        start.push_back(static_cast<std::int64_t>(all.size()));
    }
    Binned counted(rows.size(), d, n_levels);
    bin_ranks({rank.data(), n, d, start, all, n_levels}, rows, {}, max_bins, counted.out, 1);
    CHECK(counted.codes == direct.codes);
    CHECK(counted.n_bins == direct.n_bins);
    CHECK(counted.has_missing == direct.has_missing);
    CHECK(counted.level_bin == direct.level_bin);

    for (std::size_t f = 0; f < d; ++f) {
        const auto n_bins = static_cast<std::size_t>(direct.n_bins[f]);
        CHECK(direct.edges[f].lower.size() == n_bins);
        CHECK(counted.edges[f].lower == direct.edges[f].lower);
        CHECK(counted.edges[f].upper == direct.edges[f].upper);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double x = X(i, f);
            const std::size_t code = direct.codes[f * rows.size() + i];
            const bool missing = std::isnan(x) || (n_levels[f] != 0 && x >= n_levels[f]);
            CHECK(missing == (code == n_bins));
            if (!missing && n_levels[f] == 0) {
                CHECK(direct.edges[f].lower[code] <= x);
                CHECK(x <= direct.edges[f].upper[code]);
            }
        }
    }
}

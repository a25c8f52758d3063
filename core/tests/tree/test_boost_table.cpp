// Histograms by rows, bundled or not, equal counting column by column.
#include <doctest/doctest.h>

#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/boost_table.hpp"
#include "boost_example.hpp"

using namespace assay;
using namespace assay::tree;

namespace {

void check_histograms(const tests::BoostExample& example, const BoostTable& table) {
    std::vector<std::int64_t> word(example.rows);
    std::vector<std::int32_t> rows;
    std::int64_t total = 0;
    RandomStream random(3, 0);
    for (std::size_t i = 0; i < example.rows; ++i) {
        word[i] = static_cast<std::int64_t>(random.below(1000U)) - 500;
        if (random.below(3U) != 0) {
            rows.push_back(static_cast<std::int32_t>(i));
            total += word[i];
        }
    }
    std::vector<std::int64_t> hist(table.n_slots(), 0);
    table.add(hist.data(), rows.data(), 0, rows.size(), [&](std::size_t r) { return word[r]; });
    std::vector<std::int64_t> scratch(256);
    for (std::size_t f = 0; f < example.cols; ++f) {
        std::vector<std::int64_t> expected(256, 0);
        for (const std::int32_t row : rows) {
            const auto r = static_cast<std::size_t>(row);
            expected[example.view().column(f)[r]] += word[r];
        }
        const auto code_of = table.codes_of_bytes(f);
        for (std::size_t row = 0; row < example.rows; ++row) {
            CHECK(code_of[table.bytes(f)[row]] == example.view().column(f)[row]);
        }
        const std::int64_t* got = table.histogram(hist.data(), total, f, scratch.data());
        for (std::int32_t code = 0; code < table.column(f).n_codes; ++code) {
            CHECK(got[code] == expected[static_cast<std::size_t>(code)]);
        }
    }
}

}  // namespace

TEST_CASE("row-wise histograms equal column-wise counting") {
    const tests::BoostExample example(3000, 11, 40, true);
    for (const int n_threads : {1, 2}) {
        const BoostTable table(example.view(), n_threads);
        CHECK(table.n_groups() == 11);
        check_histograms(example, table);
    }
}

TEST_CASE("the columns of a one-hot coding share one byte") {
    tests::BoostExample example(2000, 12, 30, false);
    example.make_one_hot(8, 8);
    const BoostTable table(example.view(), 1);
    CHECK(table.n_groups() == 5);  // one bundle and the four others
    check_histograms(example, table);
}

TEST_CASE("columns that overlap in one row are not bundled") {
    tests::BoostExample example(5000, 2, 2, false);
    std::fill(example.codes.begin(), example.codes.end(), std::uint8_t{0});
    example.codes[4999] = 1;
    example.codes[5000 + 4999] = 1;  // the same row, far behind the sample
    const BoostTable table(example.view(), 1);
    CHECK(table.n_groups() == 2);
    check_histograms(example, table);
}

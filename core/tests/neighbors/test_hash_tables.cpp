#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/neighbors/hash_tables.hpp"

using namespace assay::neighbors;

TEST_CASE("a bin holds the rows of its key, ascending, for any number of threads") {
    constexpr std::size_t n = 3000;
    constexpr std::size_t n_tables = 3;
    assay::RandomStream stream(9, 0);
    std::vector<std::uint64_t> keys(n * n_tables);
    for (std::uint64_t& key : keys) {
        key = stream.below(700U) * 0x9E3779B97F4A7C15U;  // many slots would clash
    }
    const HashTables tables = group_keys(keys, n_tables, 1);
    const HashTables again = group_keys(keys, n_tables, 2);
    CHECK(tables.order == again.order);
    const HashTablesView view{tables.slots, tables.order, n, tables.capacity};
    for (std::uint32_t table = 0; table < n_tables; ++table) {
        std::map<std::uint64_t, std::vector<std::uint32_t>> expected;
        for (std::size_t i = 0; i < n; ++i) {
            expected[keys[table * n + i]].push_back(static_cast<std::uint32_t>(i));
        }
        bool equal = true;
        for (const auto& [key, rows] : expected) {
            const auto bin = view.bin(table, key);
            equal = equal && std::vector<std::uint32_t>(bin.begin(), bin.end()) == rows;
        }
        CHECK(equal);
        CHECK(view.bin(table, 12345).empty());
    }
}

TEST_CASE("keys of rows are those of their projections") {
    const std::vector<double> rows{0.2, 1.7, -3.1};
    const std::vector<double> centre{0};
    std::vector<float> directions(16, 1.0F);
    const std::vector<float> shifts(16, 0.5F);
    const HashFrame frame{centre, 1.0, {directions.data(), 1, 16}, shifts};
    const HashShape shape{2, 3, 16, 1.0F, false};
    std::vector<std::uint64_t> keys(6);
    hash_keys(assay::MatrixView<const double>{rows.data(), 3, 1}, frame, shape,
              std::span<std::uint64_t>(keys), 2);
    for (std::size_t i = 0; i < 3; ++i) {
        const std::vector<float> projected(3, static_cast<float>(rows[i]));
        CHECK(keys[i] == hash_key(shape, projected.data(), shifts.data()));
        CHECK(keys[3 + i] == keys[i]);
    }
}

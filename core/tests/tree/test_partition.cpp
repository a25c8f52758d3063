#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/below.hpp"
#include "assay/tree/partition.hpp"
#include "assay/tree/presort.hpp"

using namespace assay::tree;

TEST_CASE("rows are parted in their order") {
    assay::RandomStream stream(1, 0);
    for (std::size_t n = 1; n < 200; n += 3) {
        std::vector<Pair> rows(n);
        std::vector<std::uint8_t> side(n);
        std::vector<Element> run(n);
        for (std::size_t i = 0; i < n; ++i) {
            rows[i] = {static_cast<std::uint32_t>(i), stream()};
            side[i] = static_cast<std::uint8_t>(stream() >> 31);
            run[i] = Element{i / 3} << 48 | i;
        }
        std::vector<Pair> expected = rows;
        const auto is_left = [&](const Pair& p) { return side[p.row] != 0; };
        const auto middle = std::stable_partition(expected.begin(), expected.end(), is_left);
        std::vector<Pair> scratch(n);
        const std::size_t left = partition_rows<Pair>(
            rows, scratch.data(), [&](std::size_t row) { return side[row] != 0; });
        CHECK(left == static_cast<std::size_t>(middle - expected.begin()));
        std::vector<Element> spare(n);
        std::vector<NarrowElement> narrow(n);
        std::vector<NarrowElement> narrow_spare(n);
        for (std::size_t i = 0; i < n; ++i) {
            narrow[i] = static_cast<NarrowElement>(i / 3 << 16 | i);
        }
        Presorted<Element>::part(run, side.data(), spare.data());
        Presorted<NarrowElement>::part(narrow, side.data(), narrow_spare.data());
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(rows[i].row == expected[i].row);
            CHECK(rows[i].load == expected[i].load);
            CHECK(element_row(run[i]) == expected[i].row);
            CHECK(element_row(narrow[i]) == expected[i].row);
            CHECK(element_code(narrow[i]) == element_code(run[i]));
        }
    }
}

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "assay/tree/cut_guide.hpp"
#include "toy_table.hpp"

using namespace assay::tree;

TEST_CASE("the guide finds the bin that a search from the start finds") {
    assay::RandomStream stream(1, 0);
    ToyTable<std::uint16_t> table(1, 2);
    table.add_column(stream, 700, false, false);
    table.add_column(stream, 2, false, false);
    // Uneven bins: most of them in a small part of the range.
    for (std::size_t b = 0; b < 700; ++b) {
        table.lower[b] = static_cast<double>(b * b * b) * 1e-3 - 5;
    }
    const auto bins = table.view();
    const CutGuide guide(bins);
    for (int round = 0; round < 5000; ++round) {
        const auto first = static_cast<std::int32_t>(stream.below(690U));
        const std::int32_t last = first + 1 + static_cast<std::int32_t>(stream.below(9U));
        const double x = (stream.uniform() * 1.2 - 0.1) * table.lower[699];
        std::int32_t expected = first;
        while (expected + 1 < last && table.lower[static_cast<std::size_t>(expected) + 1] <= x) {
            ++expected;
        }
        CHECK(guide.bin_below(0, first, last, x) == expected);
        CHECK(guide.bin_below(1, 0, 1, x) == 0);
    }
}

#include <doctest/doctest.h>

#include "assay/tree/row_copy.hpp"
#include "toy_table.hpp"

using namespace assay::tree;
using assay::RandomStream;

TEST_CASE("the copy by rows has every code, and zeros behind them") {
    RandomStream stream(1, 0);
    ToyTable<std::uint8_t> table(2500, 18);
    for (std::size_t f = 0; f < 18; ++f) {
        table.add_column(stream, 200, false, f == 3);
    }
    const RowCopy copy(table.view(), 2);
    CHECK(RowCopy().empty());
    CHECK(!copy.empty());
    REQUIRE(copy.step() == 32);
    bool same = true;
    for (std::size_t i = 0; i < table.rows; ++i) {
        for (std::size_t f = 0; f < 32; ++f) {
            const int expected = f < 18 ? table.codes[f * table.rows + i] : 0;
            same = same && copy.data()[i * 32 + f] == expected;
        }
    }
    CHECK(same);
}

#include <doctest/doctest.h>

#include "assay/decomposition/row_blocks.hpp"

using assay::decomposition::block_rows;
using assay::decomposition::part_count;

TEST_CASE("few rows are one part, and large sums are few parts") {
    CHECK(part_count(0, 4) == 1);
    CHECK(part_count(1500, 4) == 1);
    CHECK(part_count(4096, 4) == 4);
    CHECK(part_count(1000000, 4) == 16);
    CHECK(part_count(1000000, std::size_t{1} << 21) == 4);
    CHECK(part_count(1000000, std::size_t{1} << 30) == 1);
}

TEST_CASE("blocks fill a cache and are never tiny") {
    CHECK(block_rows(1) == 1024);
    CHECK(block_rows(100) == 327);
    CHECK(block_rows(100000) == 64);
}

#include <doctest/doctest.h>

#include "assay/features/relief_table.hpp"
#include "relief_example.hpp"

using assay::features::testing::Example;

TEST_CASE("relief table finds the class of a row, empty classes too") {
    const Example example({0, 3, 3, 7}, 2, 1);
    const auto table = example.table();
    CHECK(table.n_classes() == 3);
    CHECK(table.class_of(2) == 0);
    CHECK(table.class_of(3) == 2);
    CHECK(table.class_of(6) == 2);
    CHECK(table.n_columns() == 3);
}

TEST_CASE("relief table takes the expected difference where a value is missing") {
    const Example example({0, 5, 12}, 0, 0, 2, 2);
    const auto table = example.table();
    for (std::size_t i = 0; i < 12; ++i) {
        for (std::size_t j = 0; j < 12; ++j) {
            for (std::size_t a = 0; a < 4; ++a) {
                CHECK(table.gap_difference(i, j, a, table.class_of(i), table.class_of(j)) ==
                      doctest::Approx(example.difference(i, j, a)));
            }
        }
    }
}

#include <doctest/doctest.h>

#include <vector>

#include "assay/neighbors/point_space.hpp"

using namespace assay::neighbors;

TEST_CASE("the cut is across the widest column, the first of equal ones") {
    const PointSpace<assay::Euclidean> space{{}, 3};
    const std::vector<double> values = {0, 5, 1, 9, 4, 10, 3, -4, 2};
    const std::vector<std::uint32_t> items = {0, 1, 2};
    CHECK(space.cut_column(assay::MatrixView<const double>{values.data(), 3, 3}, items) == 0);
    const std::vector<std::uint32_t> two = {0, 2};
    CHECK(space.cut_column(assay::MatrixView<const double>{values.data(), 3, 3}, two) == 1);
}

TEST_CASE("limits are wide enough for sums whose roots coincide") {
    const PointSpace<assay::Euclidean> space{{}, 1};
    double sum = 2.0;
    while (space.distance(sum) == space.distance(2.0)) {
        CHECK(sum <= space.widen(2.0));
        sum = std::nextafter(sum, 3.0);
    }
    CHECK(space.widen(0.0) == 0.0);
    CHECK(space.reduce(1e-200) > 0);
    CHECK(space.reduce(3.0) >= 9.0);
}

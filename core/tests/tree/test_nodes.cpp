#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "assay/tree/nodes.hpp"

using assay::tree::NodesView;

TEST_CASE("numbers, levels, missing values and unseen levels find their side") {
    const std::vector<std::int32_t> feature{0, 1};
    const std::vector<double> threshold{2.5, 0.0};
    const std::vector<std::uint8_t> missing_left{0, 1};
    const std::vector<std::int32_t> slot{-1, 1};
    // The set of node 1 begins at word 1: levels 1 and 33 of 40.
    const std::vector<std::uint32_t> words{~0U, 0b10U, 0b10U};
    const std::vector<std::int32_t> n_levels{0, 40};
    NodesView nodes;
    nodes.feature = feature;
    nodes.threshold = threshold;
    nodes.missing_left = missing_left;
    nodes.slot = slot;
    nodes.words = words;
    nodes.n_levels = n_levels;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(nodes.goes_left(0, 2.5));
    CHECK_FALSE(nodes.goes_left(0, 2.6));
    CHECK_FALSE(nodes.goes_left(0, nan));
    CHECK(nodes.goes_left(1, 1.0));
    CHECK(nodes.goes_left(1, 33.0F));
    CHECK_FALSE(nodes.goes_left(1, 0.0));
    CHECK_FALSE(nodes.goes_left(1, 39.0));
    for (const double unseen : {nan, 40.0, 1e300, -1.0}) {
        CHECK(nodes.goes_left(1, unseen));
    }
}

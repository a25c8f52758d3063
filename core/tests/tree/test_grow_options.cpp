#include <doctest/doctest.h>

#include <limits>

#include "assay/tree/grow_options.hpp"

TEST_CASE("by default a tree grows until its leaves are pure") {
    const assay::tree::GrowOptions options;
    CHECK(options.max_depth == std::numeric_limits<std::int32_t>::max());
    CHECK(options.max_leaf_nodes == 0);
    CHECK(options.min_samples_split == 2);
    CHECK(options.min_samples_leaf == 1);
    CHECK(options.min_impurity_decrease == 0);
    CHECK(options.n_draws == 0);
    CHECK(options.monotone.empty());
}

#include <doctest/doctest.h>

#include "assay/neighbors/tree_shape.hpp"

using assay::neighbors::TreeShape;

TEST_CASE("leaves divide the rows and hold at most leaf_size") {
    for (const std::size_t rows : {1UL, 2UL, 7UL, 8UL, 9UL, 100UL, 1000UL, 12345UL}) {
        for (const std::size_t leaf_size : {1UL, 3UL, 8UL, 30UL, 20000UL}) {
            const TreeShape shape(rows, leaf_size);
            CHECK(shape.leaf_begin(0) == 0);
            CHECK(shape.leaf_begin(shape.n_leaves()) == rows);
            CHECK(shape.lanes % 8 == 0);
            for (std::size_t leaf = 0; leaf < shape.n_leaves(); ++leaf) {
                CHECK(shape.leaf_rows(leaf) <= leaf_size);
                CHECK(shape.leaf_rows(leaf) <= shape.lanes);
            }
        }
    }
}

TEST_CASE("kept levels go from the root to the leaves in steps of at most three") {
    for (std::size_t rows = 1; rows < 3000; rows += 7) {
        const TreeShape shape(rows, 2);
        CHECK(shape.levels.front() == 0);
        CHECK(shape.levels.back() == shape.depth);
        std::size_t nodes = 0;
        for (std::size_t kept = 0; kept + 1 < shape.levels.size(); ++kept) {
            CHECK(shape.n_children(kept) <= 8);
            CHECK(shape.n_children(kept) >= 2);
            CHECK(shape.first_node[kept] == nodes);
            nodes += std::size_t{1} << shape.levels[kept];
        }
        CHECK(shape.n_nodes() == nodes);
    }
}

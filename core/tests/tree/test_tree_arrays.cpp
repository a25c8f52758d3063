#include <doctest/doctest.h>

#include "assay/tree/tree_arrays.hpp"

using namespace assay::tree;

TEST_CASE("a new node is a leaf without a value, and clearing forgets it") {
    Tree tree;
    CHECK(tree.add_leaf() == 0);
    CHECK(tree.add_leaf() == 1);
    CHECK(tree.left[1] == 0);
    CHECK(tree.feature[1] == -1);
    CHECK(tree.slot[1] == -1);
    tree.add_value(2)[1] = 3;
    tree.add_value(2)[0] = 4;
    CHECK(tree.value == std::vector<double>{0, 3, 4, 0});
    tree.clear();
    CHECK(tree.left.empty());
    CHECK(tree.value.empty());
}

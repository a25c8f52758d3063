#include <doctest/doctest.h>

#include <vector>

#include "assay/tree/compact.hpp"

using namespace assay::tree;

TEST_CASE("packed nodes say what the arrays say, and leaves lead to themselves") {
    // Tree 1 of two: a numeric root, a leaf, a nominal node with two leaves.
    const std::vector<std::int64_t> start{0, 1, 6};
    const std::vector<std::int32_t> left{0, 1, 0, 3, 0, 0};
    const std::vector<std::int32_t> feature{-1, 2, -1, 70, -1, -1};
    const std::vector<double> threshold{0, 1.5, 0, 0, 0, 0};
    const std::vector<std::uint8_t> missing_left{0, 1, 0, 0, 0, 0};
    const std::vector<std::int32_t> slot{9, -1, 4, 12, 0, 123456};
    NodesView nodes;
    nodes.start = start;
    nodes.left = left;
    nodes.feature = feature;
    nodes.threshold = threshold;
    nodes.missing_left = missing_left;
    nodes.slot = slot;
    std::vector<CompactNode> packed(5);
    compact_tree(nodes, 1, packed.data());
    CHECK(packed[0].test == 1.5);
    CHECK(packed[0].left == 1 * CompactNode::units);
    CHECK(packed[0].column == 2);
    CHECK(packed[0].flags == CompactNode::missing_left);
    CHECK(packed[2].flags == CompactNode::is_nominal);
    CHECK(packed[2].slot() == 12);
    CHECK(packed[2].column == 70);
    for (const std::uint32_t leaf : {1U, 3U, 4U}) {
        CHECK(packed[leaf].left + CompactNode::units == leaf * CompactNode::units);
        CHECK(packed[leaf].test != packed[leaf].test);
    }
    CHECK(packed[1].slot() == 4);
    CHECK(packed[3].slot() == 0);
    CHECK(packed[4].slot() == 123456);
}

// Rows that walk together reach the leaves that each reaches alone.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/predict_walk.hpp"

using namespace assay;
using namespace assay::tree;

namespace {

// A random tree of numeric splits, some of them in a long chain.
struct Example {
    std::vector<std::int64_t> start{0};
    std::vector<std::int32_t> left, feature, slot;
    std::vector<double> threshold;
    std::vector<std::uint8_t> missing_left;
    std::vector<std::int32_t> n_levels = std::vector<std::int32_t>(3, 0);

    explicit Example(std::size_t splits) {
        RandomStream random(8, splits);
        add();
        std::vector<std::size_t> leaves{0};
        for (std::size_t s = 0; s < splits; ++s) {
            // Half of the time the newest leaf: chains much deeper than a balanced tree.
            const std::size_t pick = random.below(2U) == 0
                                         ? leaves.size() - 1
                                         : random.below(static_cast<std::uint32_t>(leaves.size()));
            const std::size_t node = leaves[pick];
            leaves.erase(leaves.begin() + static_cast<std::ptrdiff_t>(pick));
            left[node] = static_cast<std::int32_t>(left.size());
            feature[node] = static_cast<std::int32_t>(random.below(3U));
            threshold[node] = random.normal();
            missing_left[node] = static_cast<std::uint8_t>(random.below(2U));
            slot[node] = -1;
            leaves.push_back(add());
            leaves.push_back(add());
        }
        start.push_back(static_cast<std::int64_t>(left.size()));
    }

    std::size_t add() {
        left.push_back(0);
        feature.push_back(-1);
        slot.push_back(static_cast<std::int32_t>(slot.size()));
        threshold.push_back(0);
        missing_left.push_back(0);
        return left.size() - 1;
    }

    [[nodiscard]] NodesView view() const {
        NodesView nodes;
        nodes.start = start;
        nodes.left = left;
        nodes.feature = feature;
        nodes.threshold = threshold;
        nodes.missing_left = missing_left;
        nodes.slot = slot;
        nodes.n_levels = n_levels;
        return nodes;
    }
};

}  // namespace

TEST_CASE("many rows at once find the leaf of each row alone") {
    for (const std::size_t splits : {0U, 1U, 5U, 60U, 500U}) {
        for (const std::size_t count : {1U, 7U, 8U, 9U, 100U}) {
            const Example example(splits);
            const NodesView nodes = example.view();
            RandomStream random(9, splits + count);
            std::vector<double> rows(count * 3);
            for (double& x : rows) {
                x = random.below(9U) == 0 ? std::numeric_limits<double>::quiet_NaN()
                                          : random.normal();
            }
            std::vector<CompactNode> packed(nodes.left.size());
            compact_tree(nodes, 0, packed.data());
            std::vector<std::uint32_t> leaf(count);
            WalkScratch scratch(count);
            walk_rows(
                CompactTree<false>{packed.data(), {nullptr, example.n_levels.data()}},
                packed.size(), count, [&](std::size_t i) { return rows.data() + 3 * i; },
                leaf.data(), scratch);
            for (std::size_t i = 0; i < count; ++i) {
                std::size_t at = 0;
                while (nodes.left[at] != 0) {
                    const double x = rows[3 * i + static_cast<std::size_t>(nodes.feature[at])];
                    at =
                        static_cast<std::size_t>(nodes.left[at]) + (nodes.goes_left(at, x) ? 0 : 1);
                }
                CHECK(leaf[i] == at);
                std::uint32_t alone = 0;
                walk_trees(
                    1, [&](std::size_t) { return FlatTree{&nodes, 0}; }, rows.data() + 3 * i,
                    &alone);
                CHECK(alone == at);
            }
        }
    }
}

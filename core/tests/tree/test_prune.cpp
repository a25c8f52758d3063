#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/prune.hpp"

using namespace assay;
using namespace assay::tree;

namespace {

struct RandomTree {
    std::vector<std::int32_t> left;
    std::vector<double> risk;
};

// A random tree whose children share their parent's risk and lose some of it.
RandomTree random_tree(std::uint64_t seed, std::size_t splits) {
    RandomStream random(seed, 1);
    RandomTree tree{{0}, {1.0}};
    for (std::size_t s = 0; s < splits; ++s) {
        std::size_t leaf = 0;
        do {
            leaf = random.below(static_cast<std::uint32_t>(tree.left.size()));
        } while (tree.left[leaf] != 0);
        tree.left[leaf] = static_cast<std::int32_t>(tree.left.size());
        const double kept = tree.risk[leaf] * random.uniform();
        const double share = random.uniform();
        tree.left.insert(tree.left.end(), {0, 0});
        tree.risk.insert(tree.risk.end(), {kept * share, kept * (1 - share)});
    }
    return tree;
}

struct Best {
    double cost;
    std::size_t leaves;
};

// The smallest minimiser of risk + alpha * leaves, by dynamic programming.
Best smallest_minimiser(const RandomTree& tree, double alpha, std::size_t node) {
    const Best leaf{tree.risk[node] + alpha, 1};
    if (tree.left[node] == 0) {
        return leaf;
    }
    const auto child = static_cast<std::size_t>(tree.left[node]);
    const Best a = smallest_minimiser(tree, alpha, child);
    const Best b = smallest_minimiser(tree, alpha, child + 1);
    return leaf.cost <= a.cost + b.cost ? leaf : Best{a.cost + b.cost, a.leaves + b.leaves};
}

std::size_t leaves_at(const RandomTree& tree, const std::vector<double>& collapse, double alpha,
                      std::size_t node) {
    if (tree.left[node] == 0 || collapse[node] <= alpha) {
        return 1;
    }
    const auto child = static_cast<std::size_t>(tree.left[node]);
    return leaves_at(tree, collapse, alpha, child) + leaves_at(tree, collapse, alpha, child + 1);
}

}  // namespace

TEST_CASE("weakest links leave the smallest tree of least cost at every price") {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const RandomTree tree = random_tree(seed, 1 + seed * 3);
        std::vector<double> collapse(tree.left.size());
        const PruningSteps steps = weakest_links(tree.left, tree.risk, collapse);
        CHECK(steps.risk.back() == 1.0);
        for (std::size_t k = 0; k + 1 < steps.alpha.size(); ++k) {
            CHECK(steps.alpha[k] <= steps.alpha[k + 1]);
            const double between = (steps.alpha[k] + steps.alpha[k + 1]) / 2;
            CHECK(leaves_at(tree, collapse, between, 0) ==
                  smallest_minimiser(tree, between, 0).leaves);
        }
        CHECK(leaves_at(tree, collapse, steps.alpha.back() + 1, 0) == 1);
    }
}

TEST_CASE("a single leaf has nothing to prune") {
    std::vector<double> collapse(1);
    const PruningSteps steps =
        weakest_links(std::vector<std::int32_t>{0}, std::vector<double>{0.25}, collapse);
    CHECK(steps.alpha == std::vector<double>{0.0});
    CHECK(steps.risk == std::vector<double>{0.25});
    CHECK(collapse[0] == std::numeric_limits<double>::infinity());
}

TEST_CASE("nodes that cannot be reached do not count") {
    // Node 2 was cut: its children 3 and 4 are no part of the tree.
    const std::vector<std::int32_t> left{1, 0, 0, 0, 0};
    const std::vector<double> risk{0.5, 0.1, 0.2, 0.0, 0.0};
    std::vector<double> collapse(5);
    const PruningSteps steps = weakest_links(left, risk, collapse);
    REQUIRE(steps.alpha.size() == 2);
    CHECK(steps.alpha[1] == doctest::Approx(0.2));
    CHECK(steps.risk[0] == doctest::Approx(0.3));
}

// A boosted tree parts the rows, keeps its limits, and does not depend on threads.
#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/boost_grow.hpp"
#include "boost_example.hpp"

using namespace assay;
using namespace assay::tree;

namespace {

struct Grown {
    std::vector<BoostNode> nodes;
    std::vector<std::int32_t> rows;
};

std::vector<std::int64_t> words(std::size_t n) {
    RandomStream random(7, 1);
    std::vector<std::int64_t> word(n);
    for (auto& each : word) {
        const std::int64_t g = static_cast<std::int64_t>(random.below(2001U)) - 1000;
        each = g * (std::int64_t{1} << 32) + 1;
    }
    return word;
}

Grown grown(const tests::BoostExample& example, const BoostTreeOptions& options, int n_threads) {
    const BoostTable table(example.view(), n_threads);
    const auto word = words(example.rows);
    GradientUnits units;
    units.unit_hessian = true;
    BoostGrower grower(table, options, n_threads);
    Team::run(n_threads, [&](Team& team) { grower.grow(team, word.data(), units, {}, {}); });
    return {{grower.nodes().begin(), grower.nodes().end()},
            {grower.rows(), grower.rows() + example.rows}};
}

}  // namespace

TEST_CASE("leaves hold every row once, with the sums of their words") {
    const tests::BoostExample example(9000, 5, 40, true);
    const auto word = words(example.rows);
    BoostTreeOptions options;
    options.max_leaves = 31;
    const Grown tree = grown(example, options, 2);
    std::vector<int> seen(example.rows);
    std::size_t leaves = 0;
    for (const BoostNode& node : tree.nodes) {
        if (node.left != 0) {
            continue;
        }
        ++leaves;
        CHECK(node.end - node.begin >= options.min_samples_leaf);
        std::int64_t sum = 0;
        for (std::size_t i = node.begin; i < node.end; ++i) {
            const auto row = static_cast<std::size_t>(tree.rows[i]);
            ++seen[row];
            sum += word[row];
        }
        CHECK(sum == node.sums.total);
    }
    CHECK(leaves == 31);
    CHECK(std::accumulate(seen.begin(), seen.end(), 0) == 9000);
    CHECK(*std::max_element(seen.begin(), seen.end()) == 1);
}

TEST_CASE("the limits of depth and leaves hold") {
    const tests::BoostExample example(2000, 3, 20, false);
    BoostTreeOptions options;
    options.max_leaves = 0;
    options.max_depth = 2;
    for (const BoostNode& node : grown(example, options, 1).nodes) {
        CHECK(node.depth <= 2);
    }
    options.max_leaves = 1;
    CHECK(grown(example, options, 1).nodes.size() == 1);
}

TEST_CASE("a boosted tree does not depend on the number of threads") {
    const tests::BoostExample example(20000, 6, 60, true);
    const Grown one = grown(example, {}, 1);
    const Grown two = grown(example, {}, 2);
    CHECK(one.rows == two.rows);
    REQUIRE(one.nodes.size() == two.nodes.size());
    for (std::size_t i = 0; i < one.nodes.size(); ++i) {
        CHECK(one.nodes[i].left == two.nodes[i].left);
        CHECK(one.nodes[i].sums.total == two.nodes[i].sums.total);
        CHECK(one.nodes[i].split.column == two.nodes[i].split.column);
        CHECK(one.nodes[i].split.bin == two.nodes[i].split.bin);
    }
}

// The best split equals brute force over all thresholds, sides of missing and level sets.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/boost_split.hpp"

using namespace assay;
using namespace assay::tree;

TEST_CASE("counts of rows are respected") {
    // The best split by gain leaves one row on the left; with counts it may not.
    const std::vector<std::int64_t> hist{(std::int64_t{900} << 32) + 10,
                                         (std::int64_t{-10} << 32) + 10,
                                         (std::int64_t{-500} << 32) + 10};
    const std::vector<std::int64_t> count{1, 6, 7};
    SplitRules rules;
    rules.min_rows = 3;
    SplitNode node;
    node.total = hist[0] + hist[1] + hist[2];
    node.rows = 14;
    SplitColumn column{hist.data(), nullptr, 3, false, false, 0};
    const double merit = rules.node_merit(node);
    CHECK(best_split(rules, node, merit, column, 0).bin == 0);
    column.count = count.data();
    CHECK(best_split(rules, node, merit, column, 0).bin == 1);
    rules.min_rows = 8;
    CHECK(best_split(rules, node, merit, column, 0).column == -1);
}

TEST_CASE("the order of levels gives the best set of levels") {
    // With equal curvature the ordering shortcut is exact up to half of the levels (Fisher).
    for (std::uint64_t key = 0; key < 100; ++key) {
        RandomStream random(2, key);
        const std::size_t n_levels = 2 + random.below(6U);
        std::vector<std::int64_t> hist(n_levels);
        SplitNode node;
        for (auto& word : hist) {
            const std::int64_t g = static_cast<std::int64_t>(random.below(2001U)) - 1000;
            word = g * (std::int64_t{1} << 32) + 1000;
            node.total += word;
        }
        node.rows = 1000 * n_levels;
        SplitRules rules;
        rules.units.unit_hessian = true;
        double best = -1;
        for (std::size_t set = 1; set + 1 < std::size_t{1} << n_levels; ++set) {
            std::int64_t left = 0;
            for (std::size_t level = 0; level < n_levels; ++level) {
                left += (set >> level & 1) != 0 ? hist[level] : 0;
            }
            best = std::max(best, rules.split_merit(node, left, 0));
        }
        const SplitColumn column{hist.data(), nullptr, static_cast<std::int32_t>(n_levels),
                                 false,       true,    0};
        const double merit = rules.node_merit(node);
        const BoostSplit got = best_split(rules, node, merit, column, 0);
        if (got.column >= 0) {
            CHECK(got.gain + merit == doctest::Approx(best).epsilon(1e-12));
        } else {
            CHECK(best <= merit * (1 + 1e-12));
        }
    }
}

TEST_CASE("a monotone direction forbids falling values") {
    const std::vector<std::int64_t> hist{(std::int64_t{-900} << 32) + 10,
                                         (std::int64_t{900} << 32) + 10};
    SplitRules rules;
    rules.bounded = true;
    SplitNode node;
    node.total = hist[0] + hist[1];
    node.rows = 20;
    const double merit = rules.node_merit(node);
    SplitColumn column{hist.data(), nullptr, 2, false, false, -1};
    CHECK(best_split(rules, node, merit, column, 0).bin == 0);  // value falls: 90, then -90
    column.direction = 1;
    CHECK(best_split(rules, node, merit, column, 0).column == -1);
}

TEST_CASE("no split is found where bounds make every merit negative and none is allowed") {
    const std::vector<std::int64_t> hist{(std::int64_t{900} << 32) + 10,
                                         (std::int64_t{900} << 32) + 10};
    SplitRules rules;
    rules.bounded = true;
    rules.min_hessian = 15;  // neither side may stand alone
    SplitNode node;
    node.total = hist[0] + hist[1];
    node.rows = 20;
    node.low = 5;  // the best value is -90
    const double merit = rules.node_merit(node);
    CHECK(merit < -1);
    const SplitColumn column{hist.data(), nullptr, 2, false, false, 0};
    CHECK(best_split(rules, node, merit, column, 0).column == -1);
}

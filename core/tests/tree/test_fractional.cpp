#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "assay/tree/fractional.hpp"

using namespace assay;
using namespace assay::tree;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// One numeric column with bins 0, 1, 2 at those values; code 3 is missing.
struct OneColumn {
    std::vector<std::uint8_t> codes;
    std::array<std::int32_t, 1> n_bins{3};
    std::array<std::uint8_t, 1> nominal{0};
    std::array<std::uint8_t, 1> has_missing{1};
    std::array<std::int64_t, 2> bin_start{0, 3};
    std::array<double, 3> edges{0.0, 1.0, 2.0};
    std::array<std::int64_t, 2> level_start{0, 0};

    [[nodiscard]] BinnedView<std::uint8_t> view() const {
        return {codes.data(), codes.size(), 1,     n_bins,      nominal, has_missing,
                bin_start,    edges,        edges, level_start, {}};
    }
};

NodesView view_of(const Nodes& nodes, std::span<const std::int32_t> n_levels) {
    return {nodes.start, nodes.left,  nodes.feature, nodes.threshold, nodes.missing_left,
            nodes.slot,  nodes.words, n_levels,      nodes.value,     nodes.n_outputs};
}

}  // namespace

TEST_CASE("a missing row divides in proportion to the known rows") {
    // Known: 0, 0, 0 of class 0 and 2 of class 1. Missing: one row of class 1.
    const OneColumn table{{0, 0, 0, 2, 3}};
    const std::vector<double> labels{0, 0, 0, 1, 1};
    const std::vector<double> weight(5, 1.0);
    FractionalOptions options;
    const auto tree =
        FractionalGrower<std::uint8_t>(table.view(), {labels.data(), 5, 1}, weight, options).grow();
    REQUIRE(tree.nodes.left.size() == 3);
    CHECK(tree.nodes.threshold[0] == 1.0);
    CHECK(tree.weight[0] == 5.0);
    CHECK(tree.weight[1] == doctest::Approx(3.75));
    CHECK(tree.weight[2] == doctest::Approx(1.25));
    CHECK(tree.nodes.value[2 * 1 + 1] == doctest::Approx(0.75 / 3.75));
    CHECK(tree.nodes.value[2 * 2 + 1] == doctest::Approx(1.0));
    CHECK(tree.samples[1] == 4);
    CHECK(tree.samples[2] == 2);

    const std::vector<double> rows{0.0, 2.0, missing};
    std::vector<double> answer(6);
    const std::array<std::int32_t, 1> n_levels{0};
    predict_fractional<double>(view_of(tree.nodes, n_levels), tree.weight, {rows.data(), 3, 1},
                               {answer.data(), 3, 2}, 1);
    CHECK(answer[1] == doctest::Approx(0.2));
    CHECK(answer[3] == doctest::Approx(1.0));
    CHECK(answer[5] == doctest::Approx(0.75 * 0.2 + 0.25));
}

TEST_CASE("regression leaves are means, whatever the level of the target") {
    const OneColumn table{{0, 0, 2, 2}};
    const std::vector<double> target{1e9 + 1, 1e9 + 3, 1e9 + 11, 1e9 + 13};
    const std::vector<double> weight(4, 1.0);
    FractionalOptions options;
    options.criterion = FractionalCriterion::squared;
    options.n_outputs = 1;
    const auto tree =
        FractionalGrower<std::uint8_t>(table.view(), {target.data(), 4, 1}, weight, options).grow();
    REQUIRE(tree.nodes.left.size() == 3);
    CHECK(tree.nodes.value[0] == 1e9 + 7);
    CHECK(tree.nodes.value[1] == 1e9 + 2);
    CHECK(tree.nodes.value[2] == 1e9 + 12);
    CHECK(tree.impurity[0] == doctest::Approx(26.0));
    CHECK(tree.impurity[1] == doctest::Approx(1.0));
}

TEST_CASE("levels absent from a node go with the heavier child") {
    OneColumn table{{0, 0, 1}};  // level 2 has no row
    table.nominal[0] = 1;
    table.level_start = {0, 3};
    const std::array<std::int32_t, 3> level_bin{0, 1, 2};
    auto bins = table.view();
    bins.level_bin = level_bin;
    const std::vector<double> labels{0, 0, 1};
    const std::vector<double> weight(3, 1.0);
    const auto tree =
        FractionalGrower<std::uint8_t>(bins, {labels.data(), 3, 1}, weight, {}).grow();
    REQUIRE(tree.nodes.left.size() == 3);
    CHECK(tree.nodes.slot[0] == 0);
    CHECK(tree.nodes.words[0] == 0b101U);
}

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/tree/forest.hpp"
#include "toy_table.hpp"

using namespace assay::tree;
using assay::RandomStream;

namespace {

struct Problem {
    ToyTable<std::uint8_t> table;
    std::vector<std::int32_t> y;
    std::vector<double> values;

    explicit Problem(std::size_t n) : table(n, 5), y(n), values(n) {
        RandomStream stream(1, 0);
        for (const std::int32_t n_bins : {200, 30, 6, 100}) {
            table.add_column(stream, n_bins, n_bins == 6, n_bins == 30);
        }
        table.add_column(stream, 250, false, false);
        for (std::size_t i = 0; i < n; ++i) {
            y[i] = static_cast<std::int32_t>(stream.below(3U));
            values[i] = stream.normal() + table.codes[i];
        }
    }
};

void check_same(const Grown& a, const Grown& b) {
    CHECK(a.nodes.start == b.nodes.start);
    CHECK(a.nodes.left == b.nodes.left);
    CHECK(a.nodes.feature == b.nodes.feature);
    CHECK(a.nodes.threshold == b.nodes.threshold);
    CHECK(a.nodes.missing_left == b.nodes.missing_left);
    CHECK(a.nodes.slot == b.nodes.slot);
    CHECK(a.nodes.words == b.nodes.words);
    CHECK(a.nodes.value == b.nodes.value);
    CHECK(a.importance == b.importance);
}

GrowOptions forest() {
    GrowOptions options;
    options.n_classes = 3;
    options.max_features = 2;
    options.n_trees = 7;
    options.n_draws = 2000;
    options.seed = 5;
    return options;
}

}  // namespace

TEST_CASE("a forest does not depend on the number of threads") {
    const Problem p(2000);
    const auto bins = p.table.view();
    for (const bool random : {false, true}) {
        GrowOptions options = forest();
        options.random_splitter = random;
        const Grown one =
            grow_classification(bins, std::span<const std::int32_t>(p.y), {}, options);
        options.n_threads = 3;
        check_same(one, grow_classification(bins, std::span<const std::int32_t>(p.y), {}, options));
        options.n_classes = 0;
        options.criterion = Criterion::squared_error;
        const Grown three =
            grow_regression(bins, std::span<const double>(p.values), 1, {}, options);
        options.n_threads = 1;
        check_same(three, grow_regression(bins, std::span<const double>(p.values), 1, {}, options));
    }
}

TEST_CASE("slots of leaves and level sets point into the arrays of all trees") {
    const Problem p(500);
    GrowOptions options = forest();
    options.max_depth = 3;  // leaves are not pure
    const Grown grown =
        grow_classification(p.table.view(), std::span<const std::int32_t>(p.y), {}, options);
    const auto rows = static_cast<std::int32_t>(grown.nodes.value.size() / 3);
    std::vector<int> used(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < grown.nodes.left.size(); ++i) {
        if (grown.nodes.left[i] == 0) {
            REQUIRE(grown.nodes.slot[i] >= 0);
            REQUIRE(grown.nodes.slot[i] < rows);
            ++used[static_cast<std::size_t>(grown.nodes.slot[i])];
        } else if (p.table.nominal[static_cast<std::size_t>(grown.nodes.feature[i])] != 0) {
            REQUIRE(grown.nodes.slot[i] >= 0);
            REQUIRE(grown.nodes.slot[i] < static_cast<std::int32_t>(grown.nodes.words.size()));
        } else {
            REQUIRE(grown.nodes.slot[i] == -1);
        }
    }
    for (std::size_t row = 3; row < used.size(); ++row) {
        CHECK(used[row] == 1);
        const double* share = grown.nodes.value.data() + 3 * row;
        CHECK(share[0] + share[1] + share[2] == doctest::Approx(1));
    }
}

TEST_CASE("only small integers are summed as integers") {
    const std::vector<double> real = {1, 0.5};
    const std::vector<double> large = {1, 1e6};
    const std::vector<double> small = {3, 0};
    CHECK(!detail::are_small_integers(real, 2, 0));
    CHECK(!detail::are_small_integers(large, 2, 0));
    CHECK(detail::are_small_integers(small, 2, 0));
    CHECK(detail::are_small_integers({}, 1000, 1000));
    CHECK(!detail::are_small_integers({}, 2, 1000000));
}

TEST_CASE("the offset of a target leaves integers integers") {
    const std::vector<double> y = {1, 2, 5, 9, 100};
    const double offset = detail::offsets(y, 1, {})[0];
    CHECK(offset == std::floor(offset));
    CHECK(std::abs(offset - 23.4) < 40);
    const std::vector<double> equal = {0.1, 0.1, 0.1};
    CHECK(detail::offsets(equal, 1, {})[0] == 0);
}

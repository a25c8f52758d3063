#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/tree/block_grow.hpp"
#include "assay/tree/grow.hpp"
#include "toy_table.hpp"

using namespace assay::tree;
using assay::RandomStream;

namespace {

template <class Target>
Tree grown_by_lists(const BinnedView<std::uint8_t>& bins, const Target& target,
                    const GrowOptions& options) {
    const CutGuide guide(bins);
    Grower<std::uint8_t, Target> grower(bins, guide, target, options);
    REQUIRE(grower.take_rows({}, 0, 0));
    grower.prepare(true);
    return grower.grow(0);
}

template <class Target>
Tree grown_by_blocks(const BinnedView<std::uint8_t>& bins, const Target& target,
                     const GrowOptions& options, const FineRows& fine = {}) {
    const CutGuide guide(bins);
    const RowCopy records = bins.cols <= RowCopy::most_columns ? RowCopy(bins, 1) : RowCopy();
    BlockGrower<Target> grower(bins, records, fine, guide, target, options, 1.0);
    static_cast<void>(grower.grow(1));  // what it leaves behind must not matter
    return grower.grow(0);
}

template <class Target>
void check_same_with_blocks(const BinnedView<std::uint8_t>& bins, const Target& target,
                            const GrowOptions& options) {
    REQUIRE(BlockGrower<Target>::serves(bins, options));
    const Tree a = grown_by_blocks(bins, target, options);
    const Tree b = grown_by_lists(bins, target, options);
    CHECK(a.left.size() > 20);
    CHECK(a.left == b.left);
    CHECK(a.feature == b.feature);
    CHECK(a.threshold == b.threshold);
    CHECK(a.missing_left == b.missing_left);
    CHECK(a.slot == b.slot);
    CHECK(a.words == b.words);
    CHECK(a.value == b.value);
    CHECK(a.n_samples == b.n_samples);
    CHECK(a.weight == b.weight);
    REQUIRE(a.impurity.size() == b.impurity.size());
    for (std::size_t i = 0; i < a.impurity.size(); ++i) {
        CHECK(a.impurity[i] == doctest::Approx(b.impurity[i]).epsilon(1e-12));
    }
    for (std::size_t f = 0; f < bins.cols; ++f) {
        CHECK(a.importance[f] == doctest::Approx(b.importance[f]).epsilon(1e-10));
    }
}

struct Problem {
    ToyTable<std::uint8_t> table;
    std::vector<std::int32_t> two;
    std::vector<std::int32_t> five;
    std::vector<double> values;  // whole numbers: sums are exact in any order

    Problem(std::size_t n, std::size_t cols, bool missing, bool nominal = false)
        : table(n, cols), two(n), five(n), values(n) {
        RandomStream stream(8, 0);
        for (std::size_t f = 0; f < cols; ++f) {
            const std::int32_t sizes[5] = {255, 2, 40, 1, 3};
            table.add_column(stream, sizes[f % 5], nominal && f % 4 == 2, missing && f % 3 == 0);
        }
        for (std::size_t i = 0; i < n; ++i) {
            two[i] = table.codes[i] + stream.below(80U) > 160 ? 1 : 0;
            five[i] = static_cast<std::int32_t>((table.codes[i] / 60U + stream.below(2U)) % 5);
            values[i] = static_cast<double>(stream.below(30U)) + table.codes[i];
        }
    }
};

// The leaf that a row of numbers reaches; missing ones are NaN.
std::size_t leaf_of(const Tree& tree, const double* row) {
    std::size_t i = 0;
    while (tree.left[i] != 0) {
        const double x = row[tree.feature[i]];
        const bool goes_left = std::isnan(x) ? tree.missing_left[i] != 0 : x <= tree.threshold[i];
        i = static_cast<std::size_t>(tree.left[i]) + (goes_left ? 0U : 1U);
    }
    return i;
}

}  // namespace

TEST_CASE("bitmaps make the tree that lists of rows make") {
    const std::vector<double> offset{128};
    for (const int kind : {0, 1, 2, 3}) {
        for (const std::size_t cols : {5UL, 18UL, 70UL}) {
            const Problem problem(cols == 18 ? 9000 : 700, cols, kind % 2 == 1, kind >= 2);
            const auto bins = problem.table.view();
            for (const int variant : {0, 1, 2, 3, 4}) {
                GrowOptions options;
                options.random_splitter = true;
                options.seed = 3;
                options.max_features = variant == 0 ? cols : variant == 1 ? 2 : 4;
                options.with_stats = variant == 2;
                options.min_samples_leaf = variant == 3 ? 4 : 1;
                options.min_samples_split = variant == 3 ? 11 : 2;
                options.max_depth = variant == 4 ? 12 : 1000;
                options.min_impurity_decrease = variant == 4 ? 1e-5 : 0;
                options.min_weight_fraction_leaf = variant == 4 ? 0.003 : 0;
                options.n_classes = 2;
                check_same_with_blocks(bins, BinaryTarget(problem.two), options);
                options.n_classes = 5;
                for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
                    options.criterion = criterion;
                    check_same_with_blocks(bins,
                                           ClassTarget<Criterion::at_run_time, std::uint32_t>(
                                               criterion, problem.five, 5),
                                           options);
                }
                options.n_classes = 0;
                options.criterion = Criterion::squared_error;
                check_same_with_blocks(
                    bins, MeanTarget<1>(Criterion::squared_error, problem.values, 1, offset),
                    options);
            }
        }
    }
}

TEST_CASE("numbers that say what the bins say make the same tree") {
    for (const std::size_t n : {400UL, 3000UL, 9000UL}) {
        const Problem problem(n, 6, false);
        const auto bins = problem.table.view();
        const std::vector<std::int32_t> slots{0, 1, 2, 3, 4, 5};
        std::vector<float> values(n * 8);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t f = 0; f < 6; ++f) {
                values[i * 8 + f] = static_cast<float>(problem.table.codes[f * n + i]);
            }
        }
        const FineRows fine{slots, values.data(), 8};
        const std::vector<double> offset{128};
        const MeanTarget<1> target(Criterion::squared_error, problem.values, 1, offset);
        // All columns: where some are drawn, those with one bin are asked again for numbers.
        GrowOptions options;
        options.random_splitter = true;
        options.max_features = 6;
        options.with_stats = true;
        const Tree a = grown_by_blocks(bins, target, options, fine);
        const Tree b = grown_by_blocks(bins, target, options);
        CHECK(a.left == b.left);
        CHECK(a.feature == b.feature);
        CHECK(a.value == b.value);
        CHECK(a.n_samples == b.n_samples);
        for (std::size_t i = 0; i < a.left.size(); ++i) {
            CHECK(a.threshold[i] == doctest::Approx(b.threshold[i]).epsilon(1e-5));
        }
    }
}

TEST_CASE("rows that only numbers tell apart get leaves of their own") {
    constexpr std::size_t n = 5000;
    constexpr std::size_t cols = 5;
    // Columns 0 and 3 have bins of hundreds of values, 1 a missing one, 2 is coarse, 4 constant.
    ToyTable<std::uint8_t> table(n, cols);
    RandomStream stream(3, 0);
    const std::int32_t sizes[cols] = {9, 30, 4, 6, 1};
    for (std::size_t f = 0; f < cols; ++f) {
        table.add_column(stream, sizes[f], false, f == 1);
    }
    std::vector<double> lower;
    std::vector<double> upper;
    for (std::size_t f = 0; f < cols; ++f) {
        for (std::int32_t b = 0; b < sizes[f]; ++b) {
            const bool is_fine = f == 0 || f == 3;
            lower.push_back(b - (is_fine ? 0.4 : 0));
            upper.push_back(b + (is_fine ? 0.4 : 0));
        }
    }
    std::vector<double> X(n * cols);
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t f = 0; f < cols; ++f) {
            const int code = table.codes[f * n + i];
            X[i * cols + f] = code == sizes[f]   ? std::nan("")
                              : f == 0 || f == 3 ? code + 0.8 * (stream.uniform() - 0.5)
                                                 : code;
        }
        y[i] = static_cast<double>(stream.below(1000000U));
    }
    auto bins = table.view();
    bins.lower = lower;
    bins.upper = upper;
    const std::vector<std::int32_t> slots{0, -1, -1, 1, -1};
    std::vector<float> values(n * 4);
    fill_fine_rows<double>(X, cols, slots, 4, values, 1);
    const FineRows fine{slots, values.data(), 4};
    const std::vector<double> offset{500000};
    const MeanTarget<1> target(Criterion::squared_error, y, 1, offset);
    for (const std::size_t max_features : {1UL, 3UL, 5UL}) {
        GrowOptions options;
        options.random_splitter = true;
        options.max_features = max_features;
        options.with_stats = true;
        const Tree tree = grown_by_blocks(bins, target, options, fine);
        std::size_t n_right = 0;
        for (std::size_t i = 0; i < n; ++i) {
            n_right += tree.value[leaf_of(tree, X.data() + i * cols)] == y[i] ? 1 : 0;
        }
        CHECK(n_right == n);
        CHECK(grown_by_blocks(bins, target, options).left.size() < tree.left.size());
    }
}

TEST_CASE("equal weights change nothing but weights") {
    const Problem problem(900, 5, true);
    const auto bins = problem.table.view();
    const std::vector<double> offset{128};
    const MeanTarget<1> target(Criterion::squared_error, problem.values, 1, offset);
    GrowOptions options;
    options.random_splitter = true;
    options.max_features = 3;
    options.min_samples_leaf = 2;
    options.with_stats = true;
    const CutGuide guide(bins);
    const Tree one = BlockGrower<MeanTarget<1>>(bins, {}, {}, guide, target, options, 1.0).grow(0);
    const Tree quarter =
        BlockGrower<MeanTarget<1>>(bins, {}, {}, guide, target, options, 0.25).grow(0);
    CHECK(one.left == quarter.left);
    CHECK(one.feature == quarter.feature);
    CHECK(one.threshold == quarter.threshold);
    CHECK(one.value == quarter.value);
    CHECK(one.impurity == quarter.impurity);
    CHECK(one.n_samples == quarter.n_samples);
    CHECK(one.importance == quarter.importance);
    CHECK(one.weight[0] == 4 * quarter.weight[0]);
}

TEST_CASE("blocks do not serve what they cannot do") {
    const Problem problem(100, 4, false);
    GrowOptions options;
    options.random_splitter = true;
    CHECK(BlockGrower<BinaryTarget>::serves(problem.table.view(), options));
    options.max_leaf_nodes = 5;
    CHECK(!BlockGrower<BinaryTarget>::serves(problem.table.view(), options));
    options.max_leaf_nodes = 0;
    options.random_splitter = false;
    CHECK(!BlockGrower<BinaryTarget>::serves(problem.table.view(), options));
}

#include <doctest/doctest.h>

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
                     const GrowOptions& options) {
    const CutGuide guide(bins);
    const RowCopy records = bins.cols <= RowCopy::most_columns ? RowCopy(bins, 1) : RowCopy();
    BlockGrower<Target> grower(bins, records, guide, target, options, 1.0);
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
    const Tree one = BlockGrower<MeanTarget<1>>(bins, {}, guide, target, options, 1.0).grow(0);
    const Tree quarter = BlockGrower<MeanTarget<1>>(bins, {}, guide, target, options, 0.25).grow(0);
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

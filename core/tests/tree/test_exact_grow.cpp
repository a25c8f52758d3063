#include <doctest/doctest.h>

#include <vector>

#include "assay/tree/exact_grow.hpp"
#include "toy_table.hpp"

using namespace assay::tree;
using assay::MatrixView;
using assay::RandomStream;

namespace {

constexpr std::size_t n = 2500;  // large enough for nodes that are searched in parallel
constexpr std::size_t cols = 3;

// Columns of 300, 400 and 2 values, as bins and as numbers (value = code).
struct Table {
    ToyTable<std::uint16_t> binned{n, cols};
    std::vector<double> values;

    Table() {
        RandomStream stream(1, 0);
        for (const std::int32_t n_bins : {300, 400, 2}) {
            binned.add_column(stream, n_bins, false, false);
        }
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t f = 0; f < cols; ++f) {
                values.push_back(binned.codes[f * n + i]);
            }
        }
    }
    [[nodiscard]] MatrixView<const double> view() const { return {values.data(), n, cols}; }
};

void check_same(const Grown& a, const Grown& b) {
    CHECK(a.nodes.left == b.nodes.left);
    CHECK(a.nodes.feature == b.nodes.feature);
    CHECK(a.nodes.threshold == b.nodes.threshold);
    CHECK(a.nodes.missing_left == b.nodes.missing_left);
    CHECK(a.nodes.slot == b.nodes.slot);
    CHECK(a.nodes.value == b.nodes.value);
    CHECK(a.importance == b.importance);
    CHECK(a.impurity == b.impurity);
    CHECK(a.n_samples == b.n_samples);
    CHECK(a.weight == b.weight);
}

}  // namespace

TEST_CASE("without bins the tree is that of one bin per value, for all targets and threads") {
    const Table table;
    RandomStream stream(2, 0);
    std::vector<std::int32_t> two(n);
    std::vector<std::int32_t> five(n);
    std::vector<double> numbers(2 * n);
    std::vector<double> whole(n);
    std::vector<double> real(n);
    for (std::size_t i = 0; i < n; ++i) {
        two[i] = static_cast<std::int32_t>(stream.below(2U));
        five[i] = static_cast<std::int32_t>(stream.below(5U));
        numbers[2 * i] = 3 + stream.normal();
        numbers[2 * i + 1] = stream.uniform();
        whole[i] = 1 + stream.below(3U);
        real[i] = 0.5 + stream.uniform();
    }
    GrowOptions options;
    options.max_features = cols;
    options.with_stats = true;
    for (const std::size_t min_rows : {1, 4}) {
        options.min_samples_leaf = min_rows;
        options.min_impurity_decrease = min_rows == 1 ? 0 : 1e-4;
        for (const auto& weight : {std::vector<double>{}, whole, real}) {
            for (const Criterion criterion :
                 {Criterion::gini, Criterion::entropy, Criterion::squared_error}) {
                for (const std::size_t n_classes : {2U, 5U}) {
                    const bool is_class = criterion != Criterion::squared_error;
                    options.criterion = criterion;
                    options.n_classes = is_class ? n_classes : 0;
                    const std::span<const std::int32_t> y = n_classes == 2 ? two : five;
                    const std::size_t n_outputs = n_classes == 2 ? 1 : 2;
                    const std::span<const double> z(numbers.data(), n * n_outputs);
                    options.n_threads = 1;
                    const Grown expected =
                        is_class
                            ? grow_classification(table.binned.view(), y, weight, options)
                            : grow_regression(table.binned.view(), z, n_outputs, weight, options);
                    CHECK(expected.nodes.left.size() > 100);
                    for (const int n_threads : {1, 3}) {
                        options.n_threads = n_threads;
                        check_same(is_class ? grow_exact_classes(table.view(), y, weight, options)
                                            : grow_exact_values(table.view(), z, n_outputs, weight,
                                                                options),
                                   expected);
                    }
                }
            }
        }
    }
}

TEST_CASE("both zeros are one value, and a constant column is no candidate") {
    const std::vector<double> values{0.0, 7, -0.0, 7, 1.0, 7, 2.0, 7};
    const std::vector<std::int32_t> y{0, 1, 1, 1};
    GrowOptions options;
    options.n_classes = 2;
    options.with_stats = true;
    const Grown grown = grow_exact_classes(MatrixView<const double>{values.data(), 4, 2},
                                           std::span<const std::int32_t>(y), {}, options);
    CHECK(grown.nodes.left == std::vector<std::int32_t>{1, 0, 0});
    CHECK(grown.nodes.feature[0] == 0);
    CHECK(grown.nodes.threshold[0] == 0.5);
}

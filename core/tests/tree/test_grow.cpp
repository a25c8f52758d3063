#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "assay/tree/grow.hpp"
#include "toy_table.hpp"

using namespace assay::tree;
using assay::RandomStream;

namespace {

template <class Code, class Target>
Tree grown(const BinnedView<Code>& bins, const Target& target, const GrowOptions& options,
           bool unit = true) {
    const CutGuide guide(bins);
    Grower<Code, Target> grower(bins, guide, target, options);
    REQUIRE(grower.take_rows({}, 0, 0));
    grower.prepare(unit);
    return grower.grow(0);
}

std::vector<std::int32_t> labels(RandomStream& stream, std::size_t n, std::uint32_t n_classes) {
    std::vector<std::int32_t> y(n);
    for (auto& label : y) {
        label = static_cast<std::int32_t>(stream.below(n_classes));
    }
    return y;
}

void check_same(const Tree& a, const Tree& b) {
    CHECK(a.left == b.left);
    CHECK(a.feature == b.feature);
    CHECK(a.threshold == b.threshold);
    CHECK(a.slot == b.slot);
    CHECK(a.words == b.words);
}

}  // namespace

TEST_CASE("bytes, two bytes and sorted columns make the same tree") {
    RandomStream stream(1, 0);
    const std::size_t n = 900;
    ToyTable<std::uint8_t> small(n, 4);
    for (const std::int32_t n_bins : {200, 2, 90, 255}) {
        small.add_column(stream, n_bins, false, false);
    }
    ToyTable<std::uint16_t> wide(n, 4);
    wide.codes.assign(small.codes.begin(), small.codes.end());
    wide.n_bins = small.n_bins;
    wide.nominal = small.nominal;
    wide.has_missing = small.has_missing;
    wide.bin_start = small.bin_start;
    wide.lower = small.lower;
    wide.level_start = small.level_start;
    // The same with 300 bins each, most of them empty: these columns are kept sorted.
    ToyTable<std::uint16_t> fine(n, 4);
    fine.codes = wide.codes;
    RandomStream unused(0, 0);
    for (std::size_t f = 0; f < 4; ++f) {
        fine.n_bins.push_back(300);
        fine.nominal.push_back(0);
        fine.has_missing.push_back(0);
        for (int b = 0; b < 300; ++b) {
            fine.lower.push_back(b);
        }
        fine.bin_start.push_back(static_cast<std::int64_t>(fine.lower.size()));
        fine.level_start.push_back(0);
    }
    const auto y = labels(stream, n, 2);
    GrowOptions options;
    options.n_classes = 2;
    options.max_features = 4;
    for (const std::size_t min_rows : {1, 4}) {
        options.min_samples_leaf = min_rows;
        const Tree tree = grown(small.view(), BinaryTarget(y), options);
        CHECK(tree.left.size() > 100);
        check_same(tree, grown(wide.view(), BinaryTarget(y), options));
        check_same(tree, grown(fine.view(), BinaryTarget(y), options));
        // Without the kernels for two classes, and with classes counted one by one.
        check_same(tree, grown(small.view(), BinaryTarget(y), options, min_rows == 1));
        using Counted = ClassTarget<Criterion::gini, std::uint32_t>;
        const Tree counted = grown(small.view(), Counted(y, 2), options);
        CHECK(counted.left.size() == tree.left.size());
    }
}

TEST_CASE("every row reaches a leaf of its class when columns can tell rows apart") {
    RandomStream stream(2, 0);
    const std::size_t n = 300;
    ToyTable<std::uint16_t> table(n, 3);
    table.add_column(stream, 40, false, true);
    table.add_column(stream, 12, true, true);
    table.add_column(stream, static_cast<std::int32_t>(n), false, false);
    for (std::size_t i = 0; i < n; ++i) {
        table.codes[2 * n + i] = static_cast<std::uint16_t>(i);
    }
    const auto y = labels(stream, n, 5);
    GrowOptions options;
    options.n_classes = 5;
    const auto bins = table.view();
    for (const bool random : {false, true}) {
        for (const std::size_t max_features : {1, 3}) {
            options.random_splitter = random;
            options.max_features = max_features;
            using Target = ClassTarget<Criterion::gini, std::uint32_t>;
            const Tree tree = grown(bins, Target(y, 5), options);
            for (std::size_t row = 0; row < n; ++row) {
                std::size_t i = 0;
                while (tree.left[i] != 0) {
                    const auto f = static_cast<std::size_t>(tree.feature[i]);
                    const std::int32_t code = table.codes[f * n + row];
                    bool left = tree.missing_left[i] != 0;
                    if (code < table.n_bins[f]) {
                        const auto level = static_cast<std::size_t>(code);
                        left = tree.slot[i] < 0
                                   ? code <= tree.threshold[i]
                                   : (tree.words[static_cast<std::size_t>(tree.slot[i]) +
                                                 level / 32] >>
                                          (level % 32) &
                                      1U) != 0;
                    }
                    i = static_cast<std::size_t>(tree.left[i]) + (left ? 0 : 1);
                }
                CHECK(tree.slot[i] == y[row]);
            }
        }
    }
}

TEST_CASE("a leaf limit gives exactly that many leaves, the stops fewer") {
    RandomStream stream(3, 0);
    ToyTable<std::uint8_t> table(500, 2);
    table.add_column(stream, 100, false, false);
    table.add_column(stream, 100, false, false);
    const auto y = labels(stream, 500, 2);
    GrowOptions options;
    options.n_classes = 2;
    options.max_features = 2;
    options.max_leaf_nodes = 9;
    const Tree tree = grown(table.view(), BinaryTarget(y), options);
    CHECK(std::count(tree.left.begin(), tree.left.end(), 0) == 9);
    options.max_leaf_nodes = 0;
    options.max_depth = 2;
    const Tree flat = grown(table.view(), BinaryTarget(y), options);
    CHECK(std::count(flat.left.begin(), flat.left.end(), 0) == 4);
}

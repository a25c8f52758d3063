#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/predict.hpp"
#include "assay/tree/predict_check.hpp"
#include "assay/tree/predict_paths.hpp"

using namespace assay::tree;
using assay::MatrixView;

namespace {

constexpr std::size_t n_columns = 4;
std::vector<std::int32_t> n_levels{0, 40, 0, 3};

// Trees that split at random, depth first; columns 1 and 3 are nominal.
Nodes random_trees(std::uint64_t seed, std::size_t n_trees, std::size_t max_nodes,
                   std::size_t n_outputs, bool nominal) {
    assay::RandomStream stream(seed, 0);
    Nodes nodes;
    nodes.n_outputs = n_outputs;
    for (std::size_t t = 0; t < n_trees; ++t) {
        const std::size_t first = nodes.left.size();
        const auto add = [&] {
            nodes.left.push_back(0);
            nodes.feature.push_back(-1);
            nodes.threshold.push_back(0);
            nodes.missing_left.push_back(0);
            nodes.slot.push_back(-1);
        };
        add();
        std::vector<std::size_t> open{first};
        while (!open.empty()) {
            const std::size_t node = open.back();
            open.pop_back();
            if (stream.uniform() < 0.7 && nodes.left.size() - first + 2 <= max_nodes) {
                const auto f = nominal ? stream.below(4U) : 2 * stream.below(2U);
                nodes.left[node] = static_cast<std::int32_t>(nodes.left.size() - first);
                nodes.feature[node] = static_cast<std::int32_t>(f);
                nodes.missing_left[node] = static_cast<std::uint8_t>(stream.below(2U));
                if (n_levels[f] != 0) {
                    nodes.slot[node] = static_cast<std::int32_t>(nodes.words.size());
                    for (int word = 0; word < 4; ++word) {
                        nodes.words.push_back(stream());
                    }
                } else {
                    nodes.threshold[node] = std::round(stream.normal() * 4) / 4;
                }
                add();
                add();
                open.push_back(nodes.left.size() - 1);
                open.push_back(nodes.left.size() - 2);
            } else {
                nodes.slot[node] = static_cast<std::int32_t>(nodes.value.size() / n_outputs);
                for (std::size_t c = 0; c < n_outputs; ++c) {
                    nodes.value.push_back(stream.uniform());
                }
            }
        }
        nodes.start.push_back(static_cast<std::int64_t>(nodes.left.size()));
    }
    return nodes;
}

NodesView view_of(const Nodes& nodes) {
    return {nodes.start, nodes.left,  nodes.feature, nodes.threshold, nodes.missing_left,
            nodes.slot,  nodes.words, n_levels,      nodes.value,     nodes.n_outputs};
}

std::vector<double> random_rows(std::uint64_t seed, std::size_t n, bool nominal, bool missing) {
    assay::RandomStream stream(seed, 1);
    std::vector<double> rows(n * n_columns);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::int32_t levels = n_levels[i % n_columns];
        rows[i] =
            nominal && levels != 0
                ? static_cast<double>(stream.below(static_cast<std::uint32_t>(n_levels[1]) + 5)) - 1
                : std::round(stream.normal() * 4) / 4;
        if (missing && stream.uniform() < 0.1) {
            rows[i] = std::nan("");
        }
    }
    return rows;
}

std::size_t leaf_by_definition(const NodesView& nodes, std::size_t t, const double* row) {
    const auto first = static_cast<std::size_t>(nodes.start[t]);
    std::size_t at = 0;
    while (nodes.left[first + at] != 0) {
        const double x = row[nodes.feature[first + at]];
        at = static_cast<std::size_t>(nodes.left[first + at]) +
             (nodes.goes_left(first + at, x) ? 0 : 1);
    }
    return at;
}

void check_out_of_bag(bool nominal) {
    const Nodes grown = random_trees(5, 6, 40, 2, nominal);
    const NodesView nodes = view_of(grown);
    constexpr std::size_t n = 600;
    const auto rows = random_rows(6, n, nominal, true);
    const MatrixView<const double> X{rows.data(), n, n_columns};
    assay::RandomStream stream(7, 0);
    std::vector<std::uint8_t> in_bag(6 * n);
    for (auto& bit : in_bag) {
        bit = static_cast<std::uint8_t>(stream.below(2U));
    }
    std::vector<double> sum(n * 2);
    std::vector<std::int32_t> trees(n);
    out_of_bag_sums(nodes, X, in_bag.data(), sum.data(), trees.data(), 2);
    for (std::size_t i = 0; i < n; ++i) {
        double expected = 0;
        std::int32_t count = 0;
        for (std::size_t t = 0; t < 6; ++t) {
            if (in_bag[t * n + i] == 0) {
                const std::size_t at = leaf_by_definition(nodes, t, X.row(i).data());
                const auto slot = static_cast<std::size_t>(
                    nodes.slot[static_cast<std::size_t>(nodes.start[t]) + at]);
                expected += nodes.value[slot * 2];
                ++count;
            }
        }
        CHECK(sum[i * 2] == expected);
        CHECK(trees[i] == count);
    }
}

}  // namespace

TEST_CASE("packed, flat and single walks reach the leaf of the definition; sums are in order") {
    for (const std::int32_t levels : {0, 40, 64, 100}) {
        const bool nominal = levels != 0;
        n_levels[1] = nominal ? levels : 40;
        for (const bool missing : {false, true}) {
            for (const std::size_t max_nodes : {1U, 3U, 31U, 4000U}) {
                const Nodes grown = random_trees(max_nodes, 9, max_nodes, 3, nominal);
                const NodesView nodes = view_of(grown);
                REQUIRE(node_fault(nodes) == NodeFault::none);
                for (const std::size_t n : {1U, 7U, 8U, 61U, 300U}) {
                    const auto rows = random_rows(n, n, nominal, missing);
                    const MatrixView<const double> X{rows.data(), n, n_columns};
                    std::vector<std::int32_t> leaf(n * 9);
                    leaves(nodes, X, {leaf.data(), n, 9}, 2);
                    std::vector<double> sum(2 * n * 3);
                    const std::vector<std::int64_t> stops{4, 9};
                    predict_sums(nodes, X, stops, 1, {}, sum.data(), 2);
                    for (std::size_t i = 0; i < n; ++i) {
                        double expected[3] = {0, 0, 0};
                        for (std::size_t t = 0; t < 9; ++t) {
                            const std::size_t at = leaf_by_definition(nodes, t, X.row(i).data());
                            CHECK(static_cast<std::size_t>(leaf[i * 9 + t]) == at);
                            const auto slot = static_cast<std::size_t>(
                                nodes.slot[static_cast<std::size_t>(nodes.start[t]) + at]);
                            for (std::size_t c = 0; c < 3; ++c) {
                                expected[c] += nodes.value[slot * 3 + c];
                                if (t + 1 == 4) {
                                    CHECK(sum[i * 3 + c] == expected[c]);
                                }
                            }
                        }
                        for (std::size_t c = 0; c < 3; ++c) {
                            CHECK(sum[(n + i) * 3 + c] == expected[c]);
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("trees with one output, in groups, add to what they start from") {
    constexpr std::size_t n = 1300;
    const auto rows = random_rows(11, n, false, true);
    const MatrixView<const double> X{rows.data(), n, n_columns};
    for (const std::size_t max_nodes : {61U, 4000U}) {  // by masks, and packed
        const Nodes grown = random_trees(12, 9, max_nodes, 1, false);
        const NodesView nodes = view_of(grown);
        const std::vector<double> init{1, 2, 3};
        const std::vector<std::int64_t> stops{0, 4, 9};
        std::vector<double> sum(3 * n * 3);
        predict_sums(nodes, X, stops, 3, init, sum.data(), 2);
        bool same = true;
        for (std::size_t i = 0; i < n; ++i) {
            std::vector<double> expected = init;
            for (std::size_t t = 0; t <= 9; ++t) {
                for (std::size_t s = 0; s < 3; ++s) {
                    for (std::size_t c = 0; c < 3 && stops[s] == static_cast<std::int64_t>(t);
                         ++c) {
                        same = same && sum[(s * n + i) * 3 + c] == expected[c];
                    }
                }
                if (t < 9) {
                    const std::size_t at = leaf_by_definition(nodes, t, X.row(i).data());
                    expected[t % 3] += nodes.value[static_cast<std::size_t>(
                        nodes.slot[static_cast<std::size_t>(nodes.start[t]) + at])];
                }
            }
        }
        CHECK(same);
    }
}

TEST_CASE("out-of-bag sums leave out the trees that saw the row") {
    for (const bool nominal : {true, false}) {  // walked, and by masks
        check_out_of_bag(nominal);
    }
}
TEST_CASE("paths hold every node from root to leaf, and depths count them") {
    const Nodes grown = random_trees(8, 3, 60, 1, true);
    const NodesView nodes = view_of(grown);
    constexpr std::size_t n = 20;
    const auto rows = random_rows(9, n, true, true);
    const MatrixView<const double> X{rows.data(), n, n_columns};
    std::vector<std::int32_t> depth(nodes.left.size());
    node_depths(nodes, depth);
    std::vector<std::int64_t> length(n);
    path_lengths(nodes, X, length, 2);
    std::vector<std::int64_t> begin{0};
    for (const std::int64_t each : length) {
        begin.push_back(begin.back() + each);
    }
    std::vector<std::int64_t> index(static_cast<std::size_t>(begin.back()));
    fill_paths(nodes, X, begin, index, 2);
    for (std::size_t i = 0; i < n; ++i) {
        std::int64_t expected = 0;
        for (std::size_t t = 0; t < 3; ++t) {
            const std::size_t at = leaf_by_definition(nodes, t, X.row(i).data());
            expected += depth[static_cast<std::size_t>(nodes.start[t]) + at] + 1;
        }
        CHECK(length[i] == expected);
        for (auto j = static_cast<std::size_t>(begin[i]) + 1;
             j < static_cast<std::size_t>(begin[i + 1]); ++j) {
            CHECK(index[j] > index[j - 1]);
        }
    }
}

TEST_CASE("random damage is found before it can be walked") {
    assay::RandomStream stream(10, 0);
    const Nodes sound = random_trees(11, 3, 25, 1, true);
    const auto rows = random_rows(12, 20, true, true);
    for (int round = 0; round < 2000; ++round) {
        Nodes nodes = sound;
        const auto any = [&](auto& array) -> auto& {
            return array[stream.below(static_cast<std::uint32_t>(array.size()))];
        };
        const auto value = static_cast<std::int32_t>(stream.below(60U)) - 5;
        switch (stream.below(5U)) {
            case 0:
                any(nodes.left) = value;
                break;
            case 1:
                any(nodes.feature) = value;
                break;
            case 2:
                any(nodes.slot) = value;
                break;
            case 3:
                any(nodes.start) = value;
                break;
            default:
                any(nodes.threshold) = std::numeric_limits<double>::infinity();
        }
        const NodesView view = view_of(nodes);
        if (node_fault(view) == NodeFault::none) {
            std::vector<std::int32_t> leaf(20 * 3);
            leaves(view, MatrixView<const double>{rows.data(), 20, n_columns}, {leaf.data(), 20, 3},
                   1);
        }
    }
}

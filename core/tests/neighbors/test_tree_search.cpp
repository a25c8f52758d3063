#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "assay/neighbors/code_space.hpp"
#include "assay/neighbors/point_space.hpp"
#include "assay/neighbors/tree_search.hpp"
#include "definition.hpp"

using assay::MatrixView;
using namespace assay::neighbors;
using namespace definition;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Space>
Found nearest(const BoxTree<Space>& tree, MatrixView<const double> queries, std::size_t k,
              int n_threads = 2) {
    Found found(queries.rows, k);
    tree_nearest(tree, queries, found.distances(), found.indices(), n_threads);
    return found;
}

}  // namespace

TEST_CASE("a tree finds the same rows with the same bits as the definition, ties included") {
    for (const auto kind : all_kinds) {
        for (const std::size_t d : {1UL, 2UL, 4UL, 5UL, 9UL}) {
            const std::size_t n = 400;
            const auto values = table<double>(kind, n, d, 3);
            const auto asked = table<double>(kind, 40, d, 4);
            const MatrixView<const double> rows{values.data(), n, d};
            const MatrixView<const double> queries{asked.data(), 40, d};
            for (const double p : {1.0, 1.3, 2.0, 2.5, infinity}) {
                assay::with_metric(p, [&](auto metric) {
                    using Space = PointSpace<decltype(metric)>;
                    const BoxTree<Space> tree(Space{metric, d}, rows, 7, 1);
                    CHECK(nearest(tree, queries, 9) == sorted(queries, rows, 9, p));
                    CHECK(nearest(tree, rows, 3, 1) == sorted(rows, rows, 3, p));
                });
            }
        }
    }
}

TEST_CASE("many neighbours, and leaves of every size, change nothing") {
    const std::size_t n = 700;
    for (const auto kind : {Kind::normal, Kind::integers, Kind::duplicates}) {
        const auto values = table<double>(kind, n, 3, 5);
        const MatrixView<const double> rows{values.data(), n, 3};
        const auto queries = rows.middle_rows(0, 60);
        using Space = PointSpace<assay::Euclidean>;
        for (const std::size_t leaf_size : {1UL, 4UL, 30UL, 700UL}) {
            const BoxTree<Space> tree(Space{{}, 3}, rows, leaf_size, 1);
            for (const std::size_t k : {1UL, 10UL, 32UL, 33UL, 700UL}) {
                CHECK(nearest(tree, queries, k) == sorted(queries, rows, k, 2.0));
            }
        }
    }
}

TEST_CASE("rows within a radius are those that the definition has there") {
    for (const auto kind : all_kinds) {
        const std::size_t n = 300;
        const auto values = table<double>(kind, n, 3, 3);
        const MatrixView<const double> rows{values.data(), n, 3};
        for (const double p : {1.0, 1.3, 2.0, infinity}) {
            assay::with_metric(p, [&](auto metric) {
                using Space = PointSpace<decltype(metric)>;
                const BoxTree<Space> tree(Space{metric, 3}, rows, 7, 1);
                const Found all = sorted(rows, rows, n, p);
                for (const double radius : {0.0, all.distance[20], all.distance[n + 100]}) {
                    const Ragged found = tree_within(tree, rows, radius, 2);
                    for (std::size_t i = 0; i < n; ++i) {
                        std::vector<std::int64_t> expected;
                        for (std::size_t t = 0; t < n; ++t) {
                            if (all.distance[i * n + t] <= radius) {
                                expected.push_back(all.index[i * n + t]);
                            }
                        }
                        std::sort(expected.begin(), expected.end());
                        const std::vector<std::int64_t> got(
                            found.index.begin() + found.offsets[i],
                            found.index.begin() + found.offsets[i + 1]);
                        CHECK(got == expected);
                    }
                }
            });
        }
    }
}

TEST_CASE("a tree of codes finds what one leaf of all rows finds") {
    assay::RandomStream stream(5, 1);
    const std::size_t n = 500;
    const std::size_t d = 5;
    std::vector<double> terms(80 * 80);
    for (double& term : terms) {
        term = stream.uniform();
    }
    std::vector<double> values(n * d);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t j = i % d;
        values[i] = j < 2 ? stream.uniform() : std::floor(stream.uniform() * (j == 3 ? 80 : 4));
        if (j != 0 && stream.uniform() < (i % 7 == 0 ? 0.5 : 0.02)) {
            values[i] = std::nan("");
        }
    }
    const MatrixView<const double> rows{values.data(), n, d};
    const CodeSpace space({{CodeColumn::number, 1, nullptr, 0},
                           {CodeColumn::number, 1, nullptr, 0},
                           {CodeColumn::level, 0.5, nullptr, 0},
                           {CodeColumn::table, 1, terms.data(), 80},
                           {CodeColumn::level, 2, nullptr, 0}},
                          rows);
    const BoxTree<CodeSpace> tree(space, rows, 6, 2);
    const BoxTree<CodeSpace> flat(space, rows, n, 1);
    CHECK(nearest(tree, rows, 8) == nearest(flat, rows, 8, 1));
    const Ragged near = tree_within(tree, rows, 0.2, 2);
    const Ragged all = tree_within(flat, rows, 0.2, 1);
    CHECK(near.offsets == all.offsets);
    CHECK(near.index == all.index);
    CHECK(near.distance == all.distance);
}

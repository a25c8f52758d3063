#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "assay/common/distance.hpp"
#include "assay/common/random.hpp"
#include "assay/neighbors/hash_search.hpp"

using namespace assay::neighbors;

namespace {

struct Table {
    std::size_t n = 500;
    std::size_t d = 6;
    std::vector<double> rows = std::vector<double>(n * d);
    std::vector<double> centre = std::vector<double>(d, 0.0);
    std::vector<float> directions = std::vector<float>(d * 32);
    std::vector<float> shifts = std::vector<float>(32);
    HashShape shape{4, 5, 32, 0.5F, false};

    Table() {
        assay::RandomStream stream(4, 0);
        for (double& x : rows) {
            x = std::round(4 * stream.normal()) / 4;  // with ties
        }
        for (float& x : directions) {
            x = static_cast<float>(stream.normal());
        }
        for (float& x : shifts) {
            x = static_cast<float>(stream.uniform());
        }
    }

    [[nodiscard]] assay::MatrixView<const double> view() const { return {rows.data(), n, d}; }
    [[nodiscard]] HashFrame frame() const {
        return {centre, 1.0, {directions.data(), d, 32}, shifts};
    }
};

struct Answer {
    std::vector<double> distance;
    std::vector<std::int64_t> index;
    std::vector<std::int64_t> examined;
};

Answer search(const Table& table, const HashPlan& plan, int n_threads) {
    const HashTables tables = build_tables(table.view(), table.frame(), table.shape, n_threads);
    const HashTablesView view{tables.slots, tables.order, table.n, tables.capacity};
    Answer out{std::vector<double>(table.n * plan.k), std::vector<std::int64_t>(table.n * plan.k),
               std::vector<std::int64_t>(table.n)};
    hash_search(table.view(), table.view(), table.frame(), table.shape, view, plan,
                {out.distance.data(), table.n, plan.k}, {out.index.data(), table.n, plan.k},
                std::span<std::int64_t>(out.examined), n_threads);
    return out;
}

std::vector<std::pair<double, std::int64_t>> exact(const Table& table, std::size_t q) {
    std::vector<std::pair<double, std::int64_t>> all;
    for (std::size_t i = 0; i < table.n; ++i) {
        all.emplace_back(
            std::sqrt(assay::squared_distance(table.view().row(q), table.view().row(i))), i);
    }
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

TEST_CASE("with all bins or too few candidates the search is exact") {
    const Table table;
    // Ten bins cannot hold 400 candidates, so every row is looked at.
    const Answer found = search(table, {400, 10, 4, 1000, {}}, 2);
    bool equal = true;
    for (std::size_t q = 0; q < table.n; q += 7) {
        const auto wanted = exact(table, q);
        for (std::size_t c = 0; c < 400; ++c) {
            equal = equal && found.distance[q * 400 + c] == wanted[c].first &&
                    found.index[q * 400 + c] == wanted[c].second;
        }
        equal = equal && found.examined[q] == static_cast<std::int64_t>(table.n);
    }
    CHECK(equal);
}

TEST_CASE("few bins find most neighbours, with exact distances, for any number of threads") {
    const Table table;
    const HashPlan plan{5, 60, 1, 150, {}};
    const Answer one = search(table, plan, 1);
    const Answer two = search(table, plan, 2);
    CHECK(one.index == two.index);
    CHECK(one.distance == two.distance);
    CHECK(one.examined == two.examined);
    std::size_t hits = 0;
    for (std::size_t q = 0; q < table.n; ++q) {
        const auto wanted = exact(table, q);
        CHECK(one.index[q * 5] == wanted[0].second);
        for (std::size_t c = 0; c < 5; ++c) {
            hits += one.distance[q * 5 + c] <= wanted[4].first ? 1U : 0U;
        }
    }
    CHECK(hits > table.n * 5 * 7 / 10);
}

TEST_CASE("a row left out is not found, and more hits examine fewer rows") {
    const Table table;
    std::vector<std::int64_t> own(table.n);
    for (std::size_t i = 0; i < table.n; ++i) {
        own[i] = static_cast<std::int64_t>(i);
    }
    const Answer found = search(table, {3, 40, 1, 1000, own}, 2);
    const Answer fewer = search(table, {1, 40, 2, 1000, own}, 2);
    std::int64_t more_hits = 0;
    std::int64_t one_hit = 0;
    for (std::size_t q = 0; q < table.n; ++q) {
        for (std::size_t c = 0; c < 3; ++c) {
            CHECK(found.index[q * 3 + c] != own[q]);
        }
        const auto all = static_cast<std::int64_t>(table.n) - 1;
        more_hits += fewer.examined[q] < all ? fewer.examined[q] : 0;
        one_hit += found.examined[q];
    }
    CHECK(more_hits < one_hit);
}

TEST_CASE("a profile counts what a search would find") {
    const Table table;
    const std::vector<std::int64_t> counts{2, 4};
    const std::vector<std::int64_t> budgets{10, 50, 1000};
    std::vector<HashOutcome> outcomes(6);
    // Every query wants itself: its own bin is the first.
    hash_profiles(table.view(), table.view(), table.view(), table.frame(), table.shape,
                  std::span<const std::int64_t>(counts), 30, 1,
                  std::span<const std::int64_t>(budgets),
                  assay::MatrixView<HashOutcome>{outcomes.data(), 2, 3}, 2);
    for (const HashOutcome& outcome : outcomes) {
        CHECK(outcome.found == static_cast<std::int64_t>(table.n));
        CHECK(outcome.gathered >= outcome.examined);
    }
    CHECK(outcomes[0].examined < outcomes[1].examined);
    CHECK(outcomes[2].probes == static_cast<std::int64_t>(30 * table.n));
    const Answer found = search(table, {1, 30, 1, 50, {}}, 1);
    std::int64_t examined = 0;
    for (const std::int64_t each : found.examined) {
        examined += each;
    }
    CHECK(examined == outcomes[4].examined);
}

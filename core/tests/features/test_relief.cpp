#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "assay/features/relief.hpp"
#include "relief_example.hpp"

using namespace assay::features;

namespace {

// The k nearest rows of [begin, end), by full sort.
std::vector<std::size_t> sorted_rows(const testing::Example& example, std::size_t i,
                                     std::size_t begin, std::size_t end, std::size_t k) {
    std::vector<std::size_t> rows;
    for (std::size_t j = begin; j < end; ++j) {
        if (j != i) {
            rows.push_back(j);
        }
    }
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
        return example.distance(i, a) < example.distance(i, b);
    });
    rows.resize(std::min(rows.size(), k));
    return rows;
}

std::vector<std::int64_t> everyone(std::size_t n) {
    std::vector<std::int64_t> rows(n);
    for (std::size_t i = 0; i < n; ++i) {
        rows[i] = static_cast<std::int64_t>(i);
    }
    return rows;
}

}  // namespace

TEST_CASE("scores of classes are those of the definition") {
    const testing::Example example({0, 20, 33, 90}, 5, 2, 2, 1);
    const auto table = example.table();
    const std::size_t n = table.n_rows(), p = table.n_columns(), k = 4;
    std::vector<double> expected(p);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t own = table.class_of(i);
        const double share = static_cast<double>(table.end(own) - table.begin(own)) / 90;
        for (std::size_t c = 0; c < 3; ++c) {
            const auto rows = sorted_rows(example, i, table.begin(c), table.end(c), k);
            const double prior = static_cast<double>(table.end(c) - table.begin(c)) / 90;
            const double factor = c == own ? -1 : prior / (1 - share);
            for (const std::size_t j : rows) {
                for (std::size_t a = 0; a < p; ++a) {
                    expected[a] += factor * example.difference(i, j, a) /
                                   static_cast<double>(rows.size()) / static_cast<double>(n);
                }
            }
        }
    }
    const std::vector<double> weight(n, 1.0);
    std::vector<double> scores(p), again(p);
    relief_classes(table, weight, everyone(n), {k, 0}, scores, 1);
    relief_classes(table, weight, everyone(n), {k, 0}, again, 2);
    for (std::size_t a = 0; a < p; ++a) {
        CHECK(scores[a] == doctest::Approx(expected[a]).epsilon(1e-6));
        CHECK(scores[a] == again[a]);
    }
}

TEST_CASE("scores of numbers are those of the definition") {
    const testing::Example example({0, 80}, 4, 1, 1, 1);
    const auto table = example.table();
    const std::size_t n = 80, p = table.n_columns(), k = 6;
    std::vector<double> target(n);
    for (std::size_t i = 0; i < n; ++i) {
        target[i] = table.complete(i, 1);
    }
    double changed = 0;
    std::vector<double> of_column(p), of_both(p);
    for (std::size_t i = 0; i < n; ++i) {
        for (const std::size_t j : sorted_rows(example, i, 0, n, k)) {
            const double gap = std::fabs(target[i] - target[j]);
            changed += gap / 6;
            for (std::size_t a = 0; a < p; ++a) {
                of_column[a] += example.difference(i, j, a) / 6;
                of_both[a] += gap * example.difference(i, j, a) / 6;
            }
        }
    }
    const std::vector<double> weight(n, 1.0);
    std::vector<double> scores(p), again(p);
    relief_numbers(table, target, weight, everyone(n), {k, 0}, scores, 1);
    relief_numbers(table, target, weight, everyone(n), {k, 0}, again, 2);
    for (std::size_t a = 0; a < p; ++a) {
        const double expected = of_both[a] / changed - (of_column[a] - of_both[a]) / (80 - changed);
        CHECK(scores[a] == doctest::Approx(expected).epsilon(1e-5));
        CHECK(scores[a] == again[a]);
    }
}

TEST_CASE("rows without hits or misses say nothing") {
    const testing::Example example({0, 1, 2}, 2, 0);
    const auto table = example.table();
    const std::vector<double> weight(2, 1.0);
    std::vector<double> scores{7, 7};
    relief_classes(table, weight, everyone(2), {3, 0}, scores, 1);
    CHECK(scores == std::vector<double>{0, 0});
}

// Leaf values against their definitions on sorted residuals.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "assay/common/random.hpp"
#include "assay/tree/boost_leaves.hpp"

using namespace assay;
using namespace assay::tree;

namespace {

Residuals residuals(std::size_t n, std::uint64_t key) {
    RandomStream random(6, key);
    Residuals rows(n);
    for (auto& [residual, weight] : rows) {
        residual = random.normal();
        weight = 1;
    }
    return rows;
}

}  // namespace

TEST_CASE("the median is the middle residual, or half way between two") {
    Residuals odd{{3, 1}, {-1, 1}, {10, 1}};
    CHECK(residual_quantile(odd, 0.5, false) == 3);
    Residuals even{{3, 1}, {-1, 1}, {10, 1}, {5, 1}};
    CHECK(residual_quantile(even, 0.5, false) == 4);
    Residuals none;
    CHECK(residual_quantile(none, 0.5, false) == 0);
}

TEST_CASE("weights of one change nothing, and a weight of two is the row twice") {
    for (const double q : {0.1, 0.5, 0.77, 0.9}) {
        for (std::uint64_t key = 0; key < 20; ++key) {
            Residuals plain = residuals(31, key);
            Residuals same = plain;
            CHECK(residual_quantile(plain, q, false) == residual_quantile(same, q, true));
            Residuals heavy = residuals(9, key);
            Residuals twice = heavy;
            twice.push_back(heavy[4]);
            heavy[4].second = 2;
            CHECK(residual_quantile(heavy, q, true) == residual_quantile(twice, q, false));
        }
    }
}

TEST_CASE("Huber's value is the median for a small delta and the mean for a large one") {
    Residuals rows = residuals(101, 3);
    double mean = 0;
    for (const auto& row : rows) {
        mean += row.first / 101;
    }
    Residuals copy = rows;
    const double median = residual_quantile(copy, 0.5, false);
    CHECK(huber_center(rows, 1e-12, false) == doctest::Approx(median).epsilon(1e-9));
    CHECK(huber_center(rows, 1e9, false) == doctest::Approx(mean).epsilon(1e-12));
}

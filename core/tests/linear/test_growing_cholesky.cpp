#include <doctest/doctest.h>

#include <vector>

#include "assay/linear/growing_cholesky.hpp"
#include "small_tables.hpp"

using assay::linear::GrowingCholesky;

namespace {

// Products of p columns of n rows; column p - 1 is twice the first less the second.
std::vector<double> products(std::size_t n, std::size_t p) {
    auto x = small_tables::numbers<double>(n * p, 3);
    for (std::size_t i = 0; i < n; ++i) {
        x[i * p + p - 1] = 2 * x[i * p] - x[i * p + 1];
    }
    std::vector<double> gram(p * p, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t a = 0; a < p; ++a) {
            for (std::size_t b = 0; b < p; ++b) {
                gram[a * p + b] += x[i * p + a] * x[i * p + b];
            }
        }
    }
    return gram;
}

}  // namespace

TEST_CASE("a combination of columns is refused, and told") {
    const auto gram = products(30, 8);
    GrowingCholesky basis({gram.data(), 8, 8});
    for (std::size_t j = 0; j < 7; ++j) {
        CHECK(basis.add(j));
    }
    CHECK(!basis.add(7));
    CHECK(basis.columns().size() == 7);
    const auto made_of = basis.combination(7);
    for (std::size_t j = 0; j < 7; ++j) {
        CHECK(made_of[j] == doctest::Approx(j == 0 ? 2 : j == 1 ? -1 : 0).epsilon(1e-9));
    }
}

TEST_CASE("a column can be removed from any place, and others be added then") {
    const auto gram = products(30, 8);
    for (const std::size_t place : {0U, 1U, 3U, 6U}) {
        GrowingCholesky basis({gram.data(), 8, 8});
        for (std::size_t j = 0; j < 7; ++j) {
            CHECK(basis.add(j));
        }
        basis.remove(place);
        const bool needed = place <= 1;  // the last column is made of these two
        CHECK(basis.add(7) == needed);
        const auto found = basis.combination(place);
        // Column 1 is 2 c_0 - c_7, column 0 is (c_1 + c_7) / 2.
        if (needed) {
            CHECK(found.back() == doctest::Approx(place == 0 ? 0.5 : -1.0).epsilon(1e-9));
            CHECK(found.front() == doctest::Approx(place == 0 ? 0.5 : 2.0).epsilon(1e-9));
        }
    }
}

TEST_CASE("more columns than rows: as many are independent as there are rows") {
    const auto gram = products(5, 12);
    GrowingCholesky basis({gram.data(), 12, 12});
    std::size_t count = 0;
    for (std::size_t j = 0; j < 12; ++j) {
        count += basis.add(j) ? 1 : 0;
    }
    CHECK(count == 5);
    const std::vector<double> empty(1, 0.0);
    GrowingCholesky nothing({empty.data(), 1, 1});
    CHECK(!nothing.add(0));
}

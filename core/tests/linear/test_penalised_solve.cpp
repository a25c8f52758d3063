#include <doctest/doctest.h>

#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/penalised_solve.hpp"
#include "small_tables.hpp"

using assay::linear::penalised_solve;

TEST_CASE("penalised_solve solves the equations, whatever the units of the columns") {
    reference::provide();
    const assay::BlasScope scope;
    const std::size_t n = 30;
    const std::size_t p = 6;
    auto x = small_tables::numbers<double>(n * p, 1);
    for (std::size_t i = 0; i < n; ++i) {
        x[i * p] *= 1e9;  // in a unit of its own
    }
    std::vector<double> gram(p * p, 0.0);
    for (std::size_t a = 0; a < p; ++a) {
        for (std::size_t b = 0; b < p; ++b) {
            for (std::size_t i = 0; i < n; ++i) {
                gram[a * p + b] += x[i * p + a] * x[i * p + b];
            }
        }
    }
    const auto rhs = small_tables::numbers<double>(p * 2, 2);
    for (const double penalty : {0.0, 0.3}) {
        std::vector<double> w(p * 2);
        const double trust =
            penalised_solve({gram.data(), p, p}, {rhs.data(), p, 2}, penalty, {w.data(), p, 2});
        CHECK(trust > 0.01);
        CHECK(trust <= 1.0);
        for (std::size_t a = 0; a < p; ++a) {
            for (std::size_t t = 0; t < 2; ++t) {
                double sum = penalty * w[a * 2 + t];
                double size = 0;
                for (std::size_t b = 0; b < p; ++b) {
                    sum += gram[a * p + b] * w[b * 2 + t];
                    size += std::abs(gram[a * p + b] * w[b * 2 + t]);
                }
                CHECK(std::abs(sum - rhs[a * 2 + t]) <= 1e-12 * (1 + size));
            }
        }
    }
}

TEST_CASE("the condition number tells nearly dependent columns from others") {
    reference::provide();
    const assay::BlasScope scope;
    const std::vector<double> rhs = {1, 1};
    std::vector<double> w(2);
    for (const double gap : {1e-2, 1e-6, 1e-10}) {
        const std::vector<double> gram = {1, 1 - gap, 1 - gap, 1};
        const double trust =
            penalised_solve({gram.data(), 2, 2}, {rhs.data(), 2, 1}, 0.0, {w.data(), 2, 1});
        // Eigenvalues gap and 2 - gap; in the 1-norm the same, as the matrix is 2 x 2.
        CHECK(trust == doctest::Approx(gap / (2 - gap)).epsilon(1e-4));
    }
    const std::vector<double> twice = {1, 1, 1, 1};
    CHECK(penalised_solve({twice.data(), 2, 2}, {rhs.data(), 2, 1}, 0.0, {w.data(), 2, 1}) < 1e-15);
}

TEST_CASE("a column of zeros gets the weight zero") {
    reference::provide();
    const assay::BlasScope scope;
    const std::vector<double> gram = {0, 0, 0, 4};
    const std::vector<double> rhs = {0, 8};
    std::vector<double> w = {9, 9};
    CHECK(penalised_solve({gram.data(), 2, 2}, {rhs.data(), 2, 1}, 0.0, {w.data(), 2, 1}) == 1.0);
    CHECK(w == std::vector<double>{0, 2});
}

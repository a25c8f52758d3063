// What every design must do, by definition.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "lasso_problem.hpp"

namespace design_check {

template <class Design>
void check(const Design& design, const lasso_problem::Problem& problem) {
    const std::size_t p = problem.p;
    std::vector<double> w = small_tables::numbers<double>(p, 77);
    std::vector<std::size_t> columns(p);
    std::iota(columns.begin(), columns.end(), std::size_t{0});

    std::vector<double> r(problem.n);
    design.residual(problem.y, columns, w, r);
    const auto expected = problem.residual(w);
    for (std::size_t i = 0; i < problem.n; ++i) {
        CHECK(r[i] == doctest::Approx(expected[i]).epsilon(1e-11));
    }
    std::vector<double> c(p);
    design.correlate(r, c);
    const auto correlations = problem.correlations(expected);
    for (std::size_t j = 0; j < p; ++j) {
        CHECK(std::abs(c[j] - correlations[j]) < 1e-10);
    }
    const std::size_t fresh = std::min<std::size_t>(p, 3);
    std::vector<double> products(fresh * p);
    design.products(columns, {products.data(), fresh, p});
    const typename Design::Columns single(design, columns);
    auto kept = single.kept(design, r);
    for (std::size_t a = 0; a < fresh; ++a) {
        const std::size_t j = p - fresh + a;
        for (std::size_t b = 0; b < p; ++b) {
            double sum = 0;
            for (std::size_t i = 0; i < problem.n; ++i) {
                sum += problem.weight(i) * problem.at(i, j) * problem.at(i, b);
            }
            CHECK(std::abs(products[a * p + b] - sum) < 1e-10);
        }
        CHECK(single.square(j) == doctest::Approx(products[a * p + j]).epsilon(1e-10));
        CHECK(std::abs(single.dot(j, kept) - correlations[j]) < 1e-10);
    }
    // A step along a column and its effect on the sum of squares and on another column.
    single.add(0, 0.25, kept);
    auto moved = expected;
    double squares = 0;
    for (std::size_t i = 0; i < problem.n; ++i) {
        moved[i] += 0.25 * problem.at(i, 0);
        squares += problem.weight(i) * moved[i] * moved[i];
    }
    CHECK(single.half_square(kept) == doctest::Approx(squares / 2).epsilon(1e-10));
    CHECK(std::abs(single.dot(p - 1, kept) - problem.correlations(moved)[p - 1]) < 1e-10);
}

}  // namespace design_check

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "assay/cluster/gaussian_factor.hpp"

using assay::cluster::precision_factor;

TEST_CASE("the factor of a covariance makes its inverse, and its diagonal the determinant") {
    const std::vector<double> covariance = {4, 2, 0.5, 2, 3, -1, 0.5, -1, 2};
    std::vector<double> factor(9);
    std::vector<double> scratch;
    REQUIRE(precision_factor(covariance.data(), 3, factor.data(), scratch));
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            double sum = 0;  // (U U' S)_ij
            for (std::size_t a = 0; a < 3; ++a) {
                for (std::size_t b = 0; b < 3; ++b) {
                    sum += factor[i * 3 + a] * factor[b * 3 + a] * covariance[b * 3 + j];
                }
            }
            CHECK(sum == doctest::Approx(i == j ? 1.0 : 0.0));
            CHECK((j >= i || factor[i * 3 + j] == 0));
        }
    }
    const double determinant = 4 * (6 - 1) - 2 * (4 + 0.5) + 0.5 * (-2 - 1.5);
    const double logs = assay::cluster::sum_of_logs(factor.data(), 3, 4);
    CHECK(logs == doctest::Approx(-0.5 * std::log(determinant)));
}

TEST_CASE("singular, indefinite and not finite covariances have no factor") {
    std::vector<double> factor(4);
    std::vector<double> scratch;
    const std::vector<std::vector<double>> bad = {
        {1, 1, 1, 1},                     // two equal columns
        {0, 0, 0, 1},                     // a constant column
        {1, 2, 2, 1},                     // indefinite
        {1e10, 0.1e5, 0.1e5, 0.1 * 0.1},  // rank one, up to rounding
        {1, 0, 0, std::nan("")},
        {1, 0, 0, HUGE_VAL},
    };
    for (const auto& covariance : bad) {
        CHECK_FALSE(precision_factor(covariance.data(), 2, factor.data(), scratch));
    }
}

TEST_CASE("a column given another is the regression on it") {
    // S = [[4, 2], [2, 3]]: x1 given x0 has slope 2/4 and variance 3 - 2*2/4.
    const std::vector<double> covariance = {4, 2, 2, 3};
    const std::vector<std::size_t> seen = {0};
    const std::vector<std::size_t> unseen = {1};
    const double factor = 0.5;
    double slope = 0;
    double rest = 0;
    std::vector<double> scratch;
    assay::cluster::regress(covariance.data(), 2, seen, unseen, &factor, &slope, &rest, scratch);
    CHECK(slope == doctest::Approx(0.5));
    CHECK(rest == doctest::Approx(2.0));
}

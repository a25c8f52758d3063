#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/common/random.hpp"
#include "assay/linear/l1_quadratic.hpp"

using namespace assay;
using namespace assay::linear::logit;

TEST_CASE("the minimum meets the conditions of optimality to the last digits") {
    reference::provide();
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        RandomStream stream(seed, 1);
        constexpr std::size_t n = 12;
        std::vector<double> factor(n * n);
        for (double& each : factor) {
            each = stream.normal();
        }
        std::vector<double> a(n * n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                for (std::size_t k = 0; k < n; ++k) {
                    a[i * n + j] += factor[i * n + k] * factor[j * n + k];
                }
            }
        }
        std::vector<double> g(n);
        std::vector<double> l1(n, 0.8);
        std::vector<double> z0(n);
        for (std::size_t j = 0; j < n; ++j) {
            g[j] = 2 * stream.normal();
            z0[j] = j % 2 == 0 ? stream.normal() : 0.0;
        }
        l1[3] = 0;  // an intercept
        std::vector<double> z(z0);
        L1Quadratic({a.data(), n, n}, g, l1).solve(z0, z);
        for (std::size_t i = 0; i < n; ++i) {
            double pull = g[i];
            for (std::size_t j = 0; j < n; ++j) {
                pull += a[i * n + j] * (z[j] - z0[j]);
            }
            if (z[i] == 0) {
                CHECK(std::abs(pull) <= l1[i] + 1e-9);
            } else {
                CHECK(std::abs(pull + std::copysign(l1[i], z[i])) < 1e-9);
            }
        }
    }
}

TEST_CASE("a diagonal quadratic is soft-thresholded") {
    reference::provide();
    const std::vector<double> a{2, 0, 0, 4};
    const std::vector<double> g{-3, 0.5};
    const std::vector<double> l1{1, 1};
    const std::vector<double> zero(2);
    std::vector<double> z(2, 5.0);
    L1Quadratic({a.data(), 2, 2}, g, l1).solve(zero, z);
    CHECK(z[0] == doctest::Approx(1.0));
    CHECK(z[1] == 0);
}

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "assay/linear/logistic_math.hpp"

using namespace assay::linear::logit;

TEST_CASE("exp_of agrees with the library's exp and stays finite") {
    for (double x = -700; x < 700; x += 0.37) {
        const double got = exp_of<double, std::uint64_t>(x);
        CHECK(std::abs(got / std::exp(x) - 1) < 4e-15);
    }
    CHECK(exp_of<double, std::uint64_t>(-1e9) > 0);
    CHECK(std::isfinite(exp_of<double, std::uint64_t>(1e9)));
    CHECK(exp_of<double, std::uint64_t>(0.0) == 1);
}

TEST_CASE("log1p_of keeps the digits of small numbers") {
    for (double x = 1e-300; x < 2; x *= 1.7) {
        const double got = log1p_of<double, std::uint64_t>(x);
        CHECK(std::abs(got / std::log1p(x) - 1) < 2e-15);
    }
}

// exp_of, log_of and log1p_of agree with the library's functions to the last bits.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "assay/common/exp_log.hpp"

using assay::exp_of;
using assay::log1p_of;
using assay::log_of;

TEST_CASE("exp_of is the exponential function") {
    for (double x = -700; x <= 700; x += 0.37) {
        const double got = exp_of<double, std::uint64_t>(x);
        CHECK(std::abs(got - std::exp(x)) <= 4e-16 * std::exp(x));
    }
    CHECK(exp_of<double, std::uint64_t>(0.0) == 1.0);
}

TEST_CASE("exp_of stays finite and positive for any number") {
    CHECK(std::isfinite(exp_of<double, std::uint64_t>(1e9)));
    CHECK(exp_of<double, std::uint64_t>(-1e9) > 0);
}

TEST_CASE("log_of is the natural logarithm") {
    for (double x = 1e-300; x < 1e300; x *= 1.7) {
        const double expected = std::log(x);
        const double bound = 1e-15 * (1 + std::abs(expected));
        CHECK(std::abs(log_of<double, std::uint64_t>(x) - expected) <= bound);
    }
    CHECK(log_of<double, std::uint64_t>(1.0) == 0.0);
}

TEST_CASE("log1p_of keeps the digits of small numbers") {
    for (double x = 1e-300; x < 2; x *= 1.7) {
        const double got = log1p_of<double, std::uint64_t>(x);
        CHECK(std::abs(got / std::log1p(x) - 1) < 2e-15);
    }
}

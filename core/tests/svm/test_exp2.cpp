#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "assay/svm/exp2.hpp"

using namespace assay::svm;

TEST_CASE("exp2 is the library's within its stated error") {
    for (double x = -120; x < 120; x += 0.0371) {
        const double exact = std::exp2(x);
        const double wide = exp2_double<double, std::uint64_t>(x);
        CHECK(std::abs(wide - exact) <= 1e-15 * exact);
        const auto narrow = static_cast<float>(x);
        const double near = std::exp2(static_cast<double>(narrow));
        const double got = static_cast<double>(exp2_float<float, std::uint32_t>(narrow));
        CHECK(std::abs(got - near) <= 2e-7 * near);
    }
}

TEST_CASE("exp2 is exact at whole numbers and finite beyond its range") {
    for (int n = -126; n <= 127; ++n) {
        CHECK(exp2_float<float, std::uint32_t>(static_cast<float>(n)) == std::ldexp(1.0F, n));
        CHECK(exp2_double<double, std::uint64_t>(n) == std::ldexp(1.0, n));
    }
    CHECK(exp2_float<float, std::uint32_t>(-1e30F) == std::ldexp(1.0F, -126));
    CHECK(std::isfinite(exp2_float<float, std::uint32_t>(1e30F)));
    CHECK(exp2_double<double, std::uint64_t>(-1e300) == std::ldexp(1.0, -1022));
    CHECK(std::isfinite(exp2_double<double, std::uint64_t>(1e300)));
}

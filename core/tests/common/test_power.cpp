#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/common/dispatch.hpp"
#include "assay/common/power.hpp"
#include "assay/common/random.hpp"
#include "assay/common/simd.hpp"

TEST_CASE("power agrees with the library's pow") {
    assay::RandomStream stream(1, 0);
    for (const double p : {0.3, 0.99, 1.001, 1.2, 1.7, 2.0, 3.3, 7.9, 25.0, 300.0}) {
        double worst = 0;
        for (int i = 0; i < 20000; ++i) {
            const double size = 1000 / std::max(p, 1.0);
            const double x = std::exp2((2 * stream.uniform() - 1) * size);
            const double expected = std::pow(x, p);
            if (expected > 1e-300 && expected < 1e300) {
                worst = std::max(worst, std::abs(assay::power(x, p) / expected - 1));
            }
        }
        CAPTURE(p);
        CHECK(worst < (2 + p) * 0x1p-52);
    }
}

TEST_CASE("power is right at the ends of float64") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double denormal = std::numeric_limits<double>::denorm_min();
    for (const double p : {0.5, 1.0001, 1.7, 3.0, 1000.0}) {
        CAPTURE(p);
        CHECK(assay::power(0, p) == 0);
        CHECK(assay::power(1, p) == 1);
        CHECK(assay::power(infinity, p) == infinity);
    }
    CHECK(assay::power(1e300, 1.7) == infinity);
    CHECK(assay::power(1e-300, 1.7) == 0);
    CHECK(assay::power(denormal, 0.5) == doctest::Approx(std::pow(denormal, 0.5)).epsilon(1e-14));
    CHECK(assay::power(1e-310, 0.9) == doctest::Approx(std::pow(1e-310, 0.9)).epsilon(1e-14));
    CHECK(assay::power(1e-160, 2) == doctest::Approx(std::pow(1e-160, 2)).epsilon(1e-3));
    CHECK(assay::power(2, 1e5) == infinity);
    CHECK(assay::power(0.5, 1e5) == 0);
}

TEST_CASE("a vector lane has the same bits as a single number") {
    using Vector = assay::Simd<double, assay::Baseline>;
    assay::RandomStream stream(2, 0);
    for (int i = 0; i < 2000; ++i) {
        const double x = std::exp(30 * stream.normal());
        double lanes[Vector::size];
        pow(Vector::all(x), 1.7).store(lanes);
        CHECK(lanes[1] == assay::power(x, 1.7));
    }
}

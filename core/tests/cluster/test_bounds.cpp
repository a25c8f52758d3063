#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "assay/cluster/bounds.hpp"
#include "assay/common/distance.hpp"
#include "assay/common/random.hpp"

using namespace assay::cluster;

TEST_CASE("bounds enclose the true distance") {
    assay::RandomStream stream(1, 0);
    for (const std::size_t d : {1U, 5U, 16U, 100U}) {
        const auto bounds = DistanceBounds::of(d);
        for (int repeat = 0; repeat < 50; ++repeat) {
            std::vector<double> a(d);
            std::vector<double> b(d);
            long double exact = 0;
            for (std::size_t j = 0; j < d; ++j) {
                a[j] = stream.normal() * 1e3;
                b[j] = stream.normal();
                const long double gap = static_cast<long double>(a[j]) - b[j];
                exact += gap * gap;
            }
            const double squared = assay::squared_distance<double>(a, b);
            CHECK(bounds.above(squared) >= static_cast<double>(std::sqrt(exact)));
            CHECK(bounds.below(squared) <= static_cast<double>(std::sqrt(exact)));
        }
    }
}

TEST_CASE("bounds decide only with room for rounding") {
    const auto bounds = DistanceBounds::of(10);
    CHECK(bounds.decide(1.0, 1.1));
    CHECK_FALSE(bounds.decide(1.0, 1.0));
    CHECK_FALSE(bounds.decide(1.0, std::nextafter(1.0, 2.0)));
    CHECK_FALSE(bounds.decide(0.0, 0.0));
    CHECK_FALSE(bounds.decide(0.0, 1e-300));
}

TEST_CASE("an overflowed sum is no infinite distance") {
    const auto bounds = DistanceBounds::of(2);
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(bounds.below(infinity) < 1e155);
    CHECK(std::isinf(bounds.above(infinity)));
}

TEST_CASE("moved bounds stay on the safe side") {
    assay::RandomStream stream(2, 0);
    for (int repeat = 0; repeat < 1000; ++repeat) {
        const double bound = stream.uniform() * 10;
        const double shift = stream.uniform();
        const long double sum = static_cast<long double>(bound) + shift;
        const long double difference = static_cast<long double>(bound) - shift;
        CHECK(DistanceBounds::moved_up(bound, shift) >= sum);
        CHECK((difference < 0 || DistanceBounds::moved_down(bound, shift) <= difference));
        CHECK(DistanceBounds::moved_down(bound, shift) >= 0);
    }
}

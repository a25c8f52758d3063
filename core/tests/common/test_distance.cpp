#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "assay/common/distance.hpp"
#include "assay/common/random.hpp"

namespace {

double distance(double p, const std::vector<double>& a, const std::vector<double>& b) {
    return assay::with_metric(p, [&](auto metric) {
        return metric.root(assay::reduced_distance(metric, std::span<const double>(a),
                                                   std::span<const double>(b)));
    });
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("distances of a right triangle") {
    const std::vector<double> a = {0, 0};
    const std::vector<double> b = {3, -4};
    CHECK(distance(2, a, b) == 5);
    CHECK(distance(1, a, b) == 7);
    CHECK(distance(infinity, a, b) == 4);
    CHECK(distance(3, a, b) == doctest::Approx(std::cbrt(27 + 64)));
    CHECK(distance(2.5, a, b) == doctest::Approx(std::pow(std::pow(3, 2.5) + 32, 0.4)));
    CHECK(distance(1.7, a, b) ==
          doctest::Approx(std::pow(std::pow(3, 1.7) + std::pow(4, 1.7), 1 / 1.7)));
}

TEST_CASE("every p agrees with the definition by pow, for every number of features") {
    assay::RandomStream stream(1, 0);
    for (const double p : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.5, 16.0, 16.5, 1.1}) {
        for (std::size_t d = 0; d < 40; ++d) {
            std::vector<double> a(d);
            std::vector<double> b(d);
            double sum = 0;
            for (std::size_t j = 0; j < d; ++j) {
                a[j] = stream.normal();
                b[j] = stream.normal();
                sum += std::pow(std::abs(a[j] - b[j]), p);
            }
            CHECK(distance(p, a, b) == doctest::Approx(std::pow(sum, 1 / p)).epsilon(1e-12));
        }
    }
}

TEST_CASE("the order of the sum is the documented one") {
    // 2^53 and ones: any other order of addition rounds differently.
    std::vector<double> a(17, 1.0);
    a[0] = 0x1p53;
    const std::vector<double> zero(17, 0.0);
    const double lane0 = (0x1p53 + 1) + 1;  // terms 0, 8, 16
    const double expected = ((lane0 + 2) + (2 + 2)) + ((2 + 2) + (2 + 2));
    CHECK(assay::reduced_distance(assay::Manhattan{}, std::span<const double>(a),
                                  std::span<const double>(zero)) == expected);
}

TEST_CASE("float32 data is compared in float64") {
    const std::vector<float> a = {16777216.0F};
    const std::vector<float> b = {-1.0F};
    CHECK(std::sqrt(assay::squared_distance(std::span<const float>(a),
                                            std::span<const float>(b))) == 16777217.0);
}

TEST_CASE("overflow gives infinity and never NaN") {
    const double big = std::numeric_limits<double>::max();
    const std::vector<double> a = {big, 0, big};
    const std::vector<double> b = {-big, 0, big};
    for (const double p : {1.0, 1.5, 2.0, 3.0, 1.7, infinity}) {
        CHECK(distance(p, a, b) == infinity);
    }
}

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "assay/cluster/mixture_pattern.hpp"

using namespace assay::cluster;

namespace {

constexpr double half_log_two_pi = 0.91893853320467274178;

// One component with S = [[4, 2], [2, 3]] and mean (1, -1).
struct Two {
    std::vector<double> log_weights = {0.0};
    std::vector<double> means = {1, -1};
    std::vector<double> covariance = {4, 2, 2, 3};
    std::vector<double> factor = std::vector<double>(4);
    Mixture mixture;

    Two() {
        std::vector<double> scratch;
        CHECK(precision_factor(covariance.data(), 2, factor.data(), scratch));
        mixture = {true,          1, 2, log_weights.data(), means.data(), covariance.data(),
                   factor.data(), 4};
    }
};

}  // namespace

TEST_CASE("complete rows use the mixture as it stands") {
    const Two two;
    const MixturePattern pattern(two.mixture, {});
    CHECK(pattern.complete());
    CHECK(pattern.mean(0) == two.means.data());
    CHECK(pattern.factor(0) == two.factor.data());
    CHECK(pattern.constants()[0] ==
          doctest::Approx(-2 * half_log_two_pi - 0.5 * std::log(4.0 * 3 - 2 * 2)));
}

TEST_CASE("a pattern is the marginal of its columns") {
    const Two two;
    const std::vector<std::uint8_t> observed = {0, 1};
    const MixturePattern pattern(two.mixture, observed);
    CHECK(pattern.width() == 1);
    CHECK(pattern.columns()[0] == 1);
    CHECK(pattern.mean(0)[0] == -1);
    CHECK(pattern.factor(0)[0] == doctest::Approx(1 / std::sqrt(3.0)));
    CHECK(pattern.constants()[0] == doctest::Approx(-half_log_two_pi - 0.5 * std::log(3.0)));
}

TEST_CASE("sums over a pattern spread to expected sums over all columns") {
    const Two two;
    const std::vector<std::uint8_t> observed = {0, 1};
    const MixturePattern pattern(two.mixture, observed);
    PatternLanes lanes(true, 1, 1);
    lanes.count[0] = 2;  // two rows with z = 1 and z = 2
    lanes.first[3] = 3;
    lanes.second[7] = 5;
    MixtureSums total(true, 1, 2);
    pattern.spread(lanes, total);
    const double slope = 2.0 / 3;
    const double rest = 4 - 2 * slope;
    CHECK(total.count[0] == 2);
    CHECK(total.first[0] == doctest::Approx(slope * 3));
    CHECK(total.first[1] == 3);
    CHECK(total.second[0] == doctest::Approx(slope * slope * 5 + 2 * rest));
    CHECK(total.second[2] == doctest::Approx(slope * 5));
    CHECK(total.second[3] == 5);
}

TEST_CASE("a row without any value adds what the component expects") {
    const Two two;
    const std::vector<std::uint8_t> observed = {0, 0};
    const MixturePattern pattern(two.mixture, observed);
    CHECK(pattern.constants()[0] == 0);
    PatternLanes lanes(true, 1, 0);
    lanes.count[0] = 1;
    MixtureSums total(true, 1, 2);
    pattern.spread(lanes, total);
    CHECK(total.second[0] == 4);
    CHECK(total.second[2] == 2);
    CHECK(total.second[3] == 3);
}

TEST_CASE("diagonal components expect their variance for what is missing") {
    const std::vector<double> zeros = {0, 0};
    const std::vector<double> variance = {4, 9};
    const std::vector<double> factor = {0.5, 1.0 / 3};
    const Mixture mixture{false,         1, 2, zeros.data(), zeros.data(), variance.data(),
                          factor.data(), 2};
    const std::vector<std::uint8_t> observed = {1, 0};
    const MixturePattern pattern(mixture, observed);
    CHECK(pattern.constants()[0] == doctest::Approx(-half_log_two_pi - std::log(2.0)));
    PatternLanes lanes(false, 1, 1);
    lanes.count[0] = 3;
    lanes.first[0] = 1;
    lanes.second[0] = 2;
    MixtureSums total(false, 1, 2);
    pattern.spread(lanes, total);
    CHECK(total.first == std::vector<double>{1, 0});
    CHECK(total.second == std::vector<double>{2, 27});
}

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "assay/linear/losses.hpp"

namespace {

using namespace assay::linear;

constexpr double scores[] = {-30.3, -4.2, -1.7, -0.61, -0.2, 0.13, 0.47, 0.93, 1.31, 2.6, 17.9};
constexpr double labels[] = {-1, 1};
constexpr double targets[] = {-2.3, 0, 0.7, 5};

template <class L, class Check>
void each_pair(const L&, Check check) {
    constexpr bool margin = !std::is_same_v<L, Squared> && !std::is_same_v<L, Absolute> &&
                            !std::is_same_v<L, Huber> && !std::is_same_v<L, SmoothAbsolute>;
    for (const double f : scores) {
        if constexpr (margin) {
            for (const double y : labels) {
                check(y, f);
            }
        } else {
            for (const double y : targets) {
                check(y, f);
            }
        }
    }
}

}  // namespace

TEST_CASE_TEMPLATE("gradient and curvature pass finite differences", L, Squared, Absolute, Huber,
                   Hinge, SquaredHinge, Exponential, Logistic, SquaredLogistic, SmoothHinge,
                   SmoothAbsolute) {
    const L loss{};
    each_pair(loss, [&](double y, double f) {
        CAPTURE(y);
        CAPTURE(f);
        const double h = 1e-5;
        const double slope = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h);
        const double bend = (loss.gradient(y, f + h) - loss.gradient(y, f - h)) / (2 * h);
        CHECK(loss.gradient(y, f) == doctest::Approx(slope).epsilon(1e-6).scale(1));
        CHECK(loss.curvature(y, f) == doctest::Approx(bend).epsilon(1e-6).scale(1));
        CHECK(std::abs(loss.curvature(y, f)) <= L::max_curvature);
    });
}

TEST_CASE_TEMPLATE("Fenchel and Young: equality at the gradient, a bound elsewhere", L, Squared,
                   Absolute, Huber, Hinge, SquaredHinge, Exponential, Logistic, SmoothHinge,
                   SmoothAbsolute) {
    static_assert(ConjugateLoss<L>);
    const L loss{};
    each_pair(loss, [&](double y, double f) {
        CAPTURE(y);
        CAPTURE(f);
        const double slope = loss.gradient(y, f);
        const double both = loss.value(y, f) + loss.conjugate(y, slope);
        CHECK(both == doctest::Approx(slope * f).epsilon(1e-9).scale(1));
        for (double u = -3; u <= 3; u += 0.125) {
            const double size = std::abs(u * f) + loss.value(y, f);
            CHECK(loss.value(y, f) + loss.conjugate(y, u) >= u * f - 1e-12 * (1 + size));
        }
    });
}

TEST_CASE_TEMPLATE("a convex loss has no negative curvature", L, Squared, Absolute, Huber, Hinge,
                   SquaredHinge, Exponential, Logistic) {
    static_assert(L::convex);
    const L loss{};
    each_pair(loss, [&](double y, double f) { CHECK(loss.curvature(y, f) >= 0); });
}

TEST_CASE("every margin loss but the AIMA one bounds the 0/1 loss from above") {
    for (const double f : scores) {
        for (const double y : labels) {
            const double wrong = ZeroOne{}.value(y, f);
            CHECK(Hinge{}.value(y, f) >= wrong);
            CHECK(SquaredHinge{}.value(y, f) >= wrong);
            CHECK(Exponential{}.value(y, f) >= wrong);
            CHECK(Logistic{}.value(y, f) / std::log(2.0) >= wrong);
            CHECK(2 * Squared{}.value(y, f) >= wrong);
        }
    }
    CHECK(SquaredLogistic{}.value(1, -1) < ZeroOne{}.value(1, -1));
}

TEST_CASE("the squared logistic loss bends down far on the wrong side") {
    CHECK(SquaredLogistic{}.curvature(1, -3) < 0);
    CHECK(SquaredLogistic{}.curvature(-1, 3) < 0);
    double most = 0;
    for (double f = -8; f < 8; f += 1e-3) {
        most = std::max(most, std::abs(SquaredLogistic{}.curvature(1, f)));
    }
    CHECK(most == doctest::Approx(SquaredLogistic::max_curvature).epsilon(1e-3));
}

TEST_CASE("losses stay finite, or honestly infinite, at extreme scores") {
    CHECK(Logistic{}.value(1, -1e300) == 1e300);
    CHECK(Logistic{}.value(1, 1e300) == 0);
    CHECK(Logistic{}.value(1, 40) == doctest::Approx(std::exp(-40.0)).epsilon(1e-12));
    CHECK(Logistic{}.gradient(1, -1e300) == -1);
    CHECK(Logistic{}.gradient(-1, -800) == 0);
    CHECK(Exponential{}.value(1, -1e300) == infinity);
    CHECK(Exponential{}.gradient(1, -1e300) == -infinity);
    CHECK(Exponential{}.value(1, 1e300) == 0);
    CHECK(SquaredLogistic{}.value(-1, 1e300) == 0.5);
    CHECK(sigmoid(-1e308) == 0);
    CHECK(sigmoid(1e308) == 1);
}

TEST_CASE("conjugates are infinite outside their domains") {
    CHECK(Absolute{}.conjugate(2, 1.01) == infinity);
    CHECK(Huber{0.5}.conjugate(2, 0.51) == infinity);
    CHECK(Hinge{}.conjugate(1, 0.1) == infinity);
    CHECK(Hinge{}.conjugate(-1, 1.1) == infinity);
    CHECK(SquaredHinge{}.conjugate(1, 0.1) == infinity);
    CHECK(Exponential{}.conjugate(1, 0.1) == infinity);
    CHECK(Logistic{}.conjugate(1, -1.1) == infinity);
    CHECK(Logistic{}.conjugate(1, -1) == 0);
}

TEST_CASE("a rounded kink is at most half its width below the loss") {
    for (const double f : scores) {
        for (const double width : {2.0, 0.1, 1e-6}) {
            const double hinge = Hinge{}.value(1, f) - SmoothHinge{width}.value(1, f);
            const double absolute = Absolute{}.value(0.7, f) - SmoothAbsolute{width}.value(0.7, f);
            for (const double rest : {hinge, absolute}) {
                CHECK(rest >= -1e-12);
                CHECK(rest <= 0.5 * width + 1e-12);
            }
        }
    }
}

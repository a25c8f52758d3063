#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include "assay/linear/penalties.hpp"

namespace {

using namespace assay::linear;
using Any = std::variant<None, L1, L2, ElasticNet, Power>;

const std::vector<Any>& all() {
    static const std::vector<Any> list = {None{},
                                          L1{0.7},
                                          L1{0},
                                          L2{1.3},
                                          L2{0},
                                          ElasticNet{2, 0},
                                          ElasticNet{2, 1},
                                          ElasticNet{0.8, 0.3},
                                          Power{0.7, 1},
                                          Power{1.1, 1.05},
                                          Power{2, 1.5},
                                          Power{0.5, 2},
                                          Power{1.5, 3},
                                          Power{0.3, 7.5},
                                          Power{0, 3},
                                          Power{1, 1.001},
                                          Power{4, 40}};
    return list;
}

constexpr double points[] = {-40, -3.3, -1, -0.4, -1e-3, 0, 1e-6, 0.2, 0.7, 1, 1.9, 12};

template <class Check>
void each(Check check) {
    for (const Any& any : all()) {
        std::visit([&](const auto& penalty) { check(penalty); }, any);
    }
}

// Ternary search: the objective of a prox is strictly convex.
template <class P>
double brute_prox(const P& penalty, double v, double step) {
    const auto cost = [&](double w) { return 0.5 * (w - v) * (w - v) + step * penalty.value(w); };
    double low = std::min(v, 0.0);
    double high = std::max(v, 0.0);
    for (int i = 0; i < 200; ++i) {
        const double a = low + (high - low) / 3;
        const double b = high - (high - low) / 3;
        (cost(a) <= cost(b) ? high : low) = cost(a) <= cost(b) ? b : a;
    }
    return 0.5 * (low + high);
}

}  // namespace

TEST_CASE("prox minimises its objective") {
    each([](const auto& penalty) {
        for (const double v : points) {
            for (const double step : {0.0, 0.05, 1.0, 13.0}) {
                CAPTURE(v);
                CAPTURE(step);
                const double w = penalty.prox(v, step);
                const auto cost = [&](double x) {
                    return 0.5 * (x - v) * (x - v) + step * penalty.value(x);
                };
                const double best = brute_prox(penalty, v, step);
                CHECK(w == doctest::Approx(best).epsilon(1e-6).scale(1));
                CHECK(cost(w) <= cost(best) * (1 + 1e-12) + 1e-14);
            }
        }
    });
}

TEST_CASE("the gradient of a penalty passes finite differences and is 0 at 0") {
    each([](const auto& penalty) {
        CHECK(penalty.gradient(0) == 0);
        for (const double w : {-2.1, -0.6, 0.3, 1.4}) {
            const double h = 1e-6;
            const double slope = (penalty.value(w + h) - penalty.value(w - h)) / (2 * h);
            CHECK(penalty.gradient(w) == doctest::Approx(slope).epsilon(1e-5).scale(1e-3));
            CHECK(penalty.value(w) == penalty.value(-w));
        }
    });
}

TEST_CASE("penalties obey Fenchel and Young") {
    each([](const auto& penalty) {
        for (const double w : {-1.7, -0.6, 0.0, 0.3, 1.4}) {
            const double slope = penalty.gradient(w);
            CHECK(penalty.value(w) + penalty.conjugate(slope) ==
                  doctest::Approx(slope * w).epsilon(1e-9).scale(1));
            for (double u = -3; u <= 3; u += 0.1875) {
                CHECK(penalty.value(w) + penalty.conjugate(u) >= u * w - 1e-12);
            }
        }
    });
}

TEST_CASE("p < 2 draws small weights to nothing and p > 2 large ones") {
    CHECK(L1{1}.prox(0.9, 1) == 0);
    CHECK(Power{1, 1.05}.prox(0.5, 1) < 1e-5);
    CHECK(Power{1, 4}.prox(0.1, 1) > 0.09);
    CHECK(Power{1, 4}.prox(100, 1) < 5);
}

TEST_CASE("an elastic net is the sum of its parts") {
    const ElasticNet both{2, 0.25};
    for (const double w : points) {
        CHECK(both.value(w) == doctest::Approx(L1{0.5}.value(w) + L2{1.5}.value(w)));
    }
}

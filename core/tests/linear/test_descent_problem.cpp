#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/linear/descent_problem.hpp"

using namespace assay;
using namespace assay::linear;

namespace {

std::vector<double> normals(std::size_t n, std::uint64_t key) {
    RandomStream stream(3, key);
    std::vector<double> values(n);
    for (double& x : values) {
        x = 2 * stream.normal();
    }
    return values;
}

double prox_cost(const Norm& norm, const std::vector<double>& v, double step,
                 const std::vector<double>& w) {
    double sum = step * norm.lambda * norm.norm(w);
    for (std::size_t j = 0; j < v.size(); ++j) {
        sum += 0.5 * (w[j] - v[j]) * (w[j] - v[j]);
    }
    return sum;
}

}  // namespace

TEST_CASE("the norm's prox is not beaten by points around it") {
    for (const double p : {1.0, 1.3, 2.0, 3.0, 9.0}) {
        for (const double lambda : {0.1, 1.0, 4.0}) {
            const Norm norm{lambda, p};
            const auto v = normals(5, 1);
            std::vector<double> w(5);
            norm.prox(v, 0.7, w);
            const double best = prox_cost(norm, v, 0.7, w);
            RandomStream stream(4, 4);
            for (int trial = 0; trial < 400; ++trial) {
                auto near = w;
                for (double& x : near) {
                    x += std::exp(-12 * stream.uniform()) * stream.normal();
                }
                CHECK(prox_cost(norm, v, 0.7, near) >= best - 1e-12);
            }
        }
    }
}

TEST_CASE("the norm's prox in one coordinate is not beaten by points around it") {
    for (const double p : {1.0, 1.4, 2.0, 5.0}) {
        const Norm norm{1.1, p};
        auto w = normals(4, 2);
        for (const double v : {-3.0, -0.2, 0.0, 0.9, 5.0}) {
            const auto cost = [&](double x) {
                auto moved = w;
                moved[2] = x;
                return 0.5 * (x - v) * (x - v) + 0.6 * norm.lambda * norm.norm(moved);
            };
            const double x = norm.prox_at(2, v, 0.6, w);
            for (double h = 1e-6; h < 1; h *= 4) {
                CHECK(cost(x) <= cost(x + h) + 1e-13);
                CHECK(cost(x) <= cost(x - h) + 1e-13);
            }
        }
    }
}

TEST_CASE("the norm's gradient passes finite differences") {
    for (const double p : {1.0, 1.6, 2.0, 4.0}) {
        const AnyPenalty penalty = Norm{0.8, p};
        auto w = normals(6, 3);
        std::vector<double> g(6);
        gradient(penalty, w, g);
        for (std::size_t j = 0; j < w.size(); ++j) {
            const double at = w[j];
            w[j] = at + 1e-6;
            const double up = value(penalty, w);
            w[j] = at - 1e-6;
            const double down = value(penalty, w);
            w[j] = at;
            CHECK(g[j] == doctest::Approx((up - down) / 2e-6).epsilon(1e-6).scale(1));
        }
    }
}

TEST_CASE("stationarity is zero at a prox point and positive beside it") {
    // w = prox(v) is stationary for the smooth part 1/2 ||w - v||^2: its gradient is w - v.
    const std::vector<double> ones(5, 1.0);
    const auto v = normals(5, 5);
    for (const AnyPenalty& penalty :
         {AnyPenalty(None{}), AnyPenalty(L1{0.5}), AnyPenalty(L2{2}), AnyPenalty(Power{1, 1.5}),
          AnyPenalty(ElasticNet{1, 0.5}), AnyPenalty(Norm{1, 3})}) {
        std::vector<double> w(5), g(5);
        prox(penalty, v, 1, ones, w);
        for (std::size_t j = 0; j < 5; ++j) {
            g[j] = w[j] - v[j];
        }
        CHECK(stationarity(penalty, w, g, ones) < 1e-9);
        g[0] += 0.3;
        CHECK(stationarity(penalty, w, g, ones) > 1e-3);
    }
}

TEST_CASE("mean loss, slopes and 0/1 loss are weighted, and rows of weight 0 do not count") {
    const std::vector<double> y = {1, -1, 1}, s = {0.25, 0.75, 0}, f = {0.5, 0.5, -1e300};
    std::vector<double> u(3);
    CHECK(mean_loss(Hinge{}, y, s, f) == 0.25 * 0.5 + 0.75 * 1.5);
    CHECK(mean_loss(Exponential{}, y, s, f) < infinity);
    slopes(Hinge{}, y, s, f, u);
    CHECK(u == std::vector<double>{-0.25, 0.75, 0});
    CHECK(zero_one(y, s, f) == 0.75);
    CHECK(facts(SquaredLogistic{}).convex == false);
    CHECK(slope(Squared{}, 1, 3) == 2);
    std::vector<double> value(3), bend(3);
    loss_terms(Squared{}, y, f, value, u, bend);
    CHECK(value[1] == 1.125);
    CHECK(u[1] == 1.5);
    CHECK(bend[1] == 1);
}

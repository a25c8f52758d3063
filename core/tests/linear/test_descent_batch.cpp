#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/linear/descent_batch.hpp"
#include "descent_table.hpp"

using namespace assay;
using namespace assay::linear;

namespace {

DescentOptions options_of(AnyLoss loss, AnyPenalty penalty) {
    DescentOptions options{loss, penalty, {ScheduleKind::line_search, 1, 0.5}};
    options.tol = 1e-7;
    options.max_iter = 20000;
    return options;
}

}  // namespace

TEST_CASE("batch descent reaches a stationary point of every smooth loss and penalty") {
    const testing::Table table;
    for (const AnyLoss& loss : {AnyLoss(Squared{}), AnyLoss(Huber{0.7}), AnyLoss(SquaredHinge{}),
                                AnyLoss(Exponential{}), AnyLoss(Logistic{})}) {
        for (const AnyPenalty& penalty :
             {AnyPenalty(L1{0.02}), AnyPenalty(L2{0.1}), AnyPenalty(ElasticNet{0.05, 0.4}),
              AnyPenalty(Power{0.1, 1.5}), AnyPenalty(Norm{0.05, 2})}) {
            std::vector<double> w(table.d), v(table.d);
            double b = 0, c = 0;
            const auto options = options_of(loss, penalty);
            const auto dense = descend_batch(table.dense(), table.labels, table.s, options, w, b);
            const auto sparse = descend_batch(table.sparse(), table.labels, table.s, options, v, c);
            CAPTURE(loss.index());
            CAPTURE(penalty.index());
            CHECK(dense.stop == DescentStop::converged);
            CHECK(dense.gradient_norm < 1e-6);
            CHECK(dense.loss_history.back() ==
                  doctest::Approx(sparse.loss_history.back()).epsilon(1e-10));
            for (std::size_t t = 1; t < dense.loss_history.size(); ++t) {
                CHECK(dense.loss_history[t] <= dense.loss_history[t - 1]);
            }
        }
    }
}

TEST_CASE("batch descent on the squared loss solves the normal equations") {
    const testing::Table table;
    std::vector<double> w(table.d), g(table.d), f(table.n), u(table.n);
    double b = 0;
    static_cast<void>(
        descend_batch(table.dense(), table.values, table.s, options_of(Squared{}, None{}), w, b));
    scores(table.dense(), std::span<const double>(w), b, std::span<double>(f));
    slopes(Squared{}, table.values, table.s, f, u);
    add_products(table.dense(), std::span<const double>(u), std::span<double>(g));
    for (const double x : g) {
        CHECK(std::abs(x) < 1e-6);
    }
    CHECK(std::abs(sum_of(u)) < 1e-6);
}

TEST_CASE("scheduled batch descent keeps its best point and tells divergence") {
    const testing::Table table;
    auto options = options_of(Hinge{}, L2{0.01});
    options.schedule = {ScheduleKind::inverse_scaling, 0.5, 0.5};
    options.max_iter = 500;
    options.patience = 500;
    std::vector<double> w(table.d), f(table.n);
    double b = 0;
    const auto result = descend_batch(table.dense(), table.labels, table.s, options, w, b);
    scores(table.dense(), std::span<const double>(w), b, std::span<double>(f));
    const double found =
        mean_loss(options.loss, table.labels, table.s, f) + value(options.penalty, w);
    for (const double loss : result.loss_history) {
        CHECK(found <= loss + 1e-15);
    }
    options.loss = Squared{};
    options.schedule = {ScheduleKind::constant, 1e6, 0.5};
    const auto wild = descend_batch(table.dense(), table.values, table.s, options, w, b);
    CHECK(wild.stop == DescentStop::diverged);
    CHECK(std::isfinite(w[0]));
}

TEST_CASE("one literal step: w_j += eta (correction - lambda sign w_j), b += eta label c") {
    const std::vector<double> X = {2, -1}, y = {1}, s = {1};
    std::vector<double> w = {0.5, -0.25};
    double b = 0.125;
    DescentOptions options{Exponential{}, L1{0.3}, {ScheduleKind::constant, 0.1, 0.5}};
    options.proximal = false;
    options.max_iter = 1;
    const double c = std::exp(-(0.5 * 2 + 0.25 + 0.125));
    static_cast<void>(descend_batch(MatrixView<const double>{X.data(), 1, 2}, y, s, options, w, b));
    CHECK(w[0] == doctest::Approx(0.5 + 0.1 * (2 * c - 0.3)).epsilon(1e-14));
    CHECK(w[1] == doctest::Approx(-0.25 + 0.1 * (-c + 0.3)).epsilon(1e-14));
    CHECK(b == doctest::Approx(0.125 + 0.1 * c).epsilon(1e-14));
}

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/linear/descent_batch.hpp"
#include "assay/linear/descent_stochastic.hpp"
#include "descent_table.hpp"

using namespace assay;
using namespace assay::linear;

namespace {

struct Run {
    std::vector<double> w, mean_w;
    double b = 0, mean_b = 0;
    DescentResult result;
};

template <class Rows>
Run run(Rows X, const testing::Table& table, const DescentOptions& options) {
    Run made{std::vector<double>(table.d), std::vector<double>(table.d), 0, 0, {}};
    made.result = descend_stochastic(X, table.labels, table.s, options, made.w, made.b, made.mean_w,
                                     made.mean_b);
    return made;
}

}  // namespace

TEST_CASE("a delayed penalty comes to the same as one paid in each step") {
    const testing::Table table;
    for (const AnyPenalty& penalty :
         {AnyPenalty(None{}), AnyPenalty(L1{0.05}), AnyPenalty(L2{0.3})}) {
        DescentOptions options{Logistic{}, penalty, {ScheduleKind::inverse_scaling, 0.2, 0.5}};
        options.max_iter = 7;
        options.batch_size = 3;
        const Run dense = run(table.dense(), table, options);
        const Run sparse = run(table.sparse(), table, options);
        for (std::size_t j = 0; j < table.d; ++j) {
            CHECK(dense.w[j] == doctest::Approx(sparse.w[j]).epsilon(1e-12).scale(1e-3));
        }
        CHECK(dense.b == doctest::Approx(sparse.b).epsilon(1e-12));
    }
}

TEST_CASE("a batch of all rows is a step of batch descent") {
    const testing::Table table;
    DescentOptions options{Logistic{}, L1{0.05}, {ScheduleKind::constant, 0.5, 0.5}};
    options.max_iter = 10;
    options.batch_size = table.n;
    options.patience = 100;
    const Run small = run(table.dense(), table, options);
    std::vector<double> w(table.d);
    double b = 0;
    static_cast<void>(descend_batch(table.dense(), table.labels, table.s, options, w, b));
    for (std::size_t j = 0; j < table.d; ++j) {
        CHECK(small.w[j] == doctest::Approx(w[j]).epsilon(1e-10).scale(1e-3));
    }
}

TEST_CASE("stochastic descent comes near the minimum, and its average nearer") {
    const testing::Table table(400);
    DescentOptions options{Logistic{}, L2{0.1}, {ScheduleKind::line_search, 0.1, 0.5}};
    options.tol = 1e-9;
    std::vector<double> w(table.d);
    double b = 0;
    const double best =
        descend_batch(table.dense(), table.labels, table.s, options, w, b).loss_history.back();
    options.schedule.kind = ScheduleKind::constant;
    options.max_iter = 30;
    options.patience = 30;
    const double last = run(table.dense(), table, options).result.loss_history.back();
    options.average = true;
    const double mean = run(table.dense(), table, options).result.loss_history.back();
    CHECK(last < best * 1.2);
    CHECK(mean < best * 1.01);
    CHECK(mean < last);
}

TEST_CASE("a diverging run gives back where it began") {
    const testing::Table table;
    DescentOptions options{Exponential{}, None{}, {ScheduleKind::constant, 1e5, 0.5}};
    const Run wild = run(table.dense(), table, options);
    CHECK(wild.result.stop == DescentStop::diverged);
    for (const double x : wild.w) {
        CHECK(std::isfinite(x));
    }
}

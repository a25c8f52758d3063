#include <doctest/doctest.h>

#include <vector>

#include "assay/linear/descent_batch.hpp"
#include "assay/linear/descent_coordinate.hpp"
#include "descent_table.hpp"

using namespace assay;
using namespace assay::linear;

TEST_CASE("coordinate descent and batch descent find the same minimum") {
    const testing::Table table;
    for (const AnyLoss& loss : {AnyLoss(Squared{}), AnyLoss(Logistic{}), AnyLoss(Exponential{})}) {
        for (const AnyPenalty& penalty : {AnyPenalty(L1{0.02}), AnyPenalty(L2{0.1}),
                                          AnyPenalty(Power{0.1, 3}), AnyPenalty(Norm{0.02, 2})}) {
            DescentOptions options{loss, penalty, {ScheduleKind::line_search, 1, 0.5}};
            options.tol = 1e-9;
            options.max_iter = 20000;
            std::vector<double> w(table.d), v(table.d);
            double b = 0, c = 0;
            const auto one =
                descend_coordinates(table.transpose(), table.labels, table.s, options, w, b);
            const auto all = descend_batch(table.dense(), table.labels, table.s, options, v, c);
            CAPTURE(loss.index());
            CAPTURE(penalty.index());
            CHECK(one.gradient_norm < 1e-6);
            CHECK(one.loss_history.back() ==
                  doctest::Approx(all.loss_history.back()).epsilon(1e-9));
            for (std::size_t j = 0; j < table.d; ++j) {
                CHECK(w[j] == doctest::Approx(v[j]).epsilon(1e-4).scale(1e-2));
            }
            for (std::size_t t = 1; t < one.loss_history.size(); ++t) {
                CHECK(one.loss_history[t] <= one.loss_history[t - 1] + 1e-12);
            }
        }
    }
}

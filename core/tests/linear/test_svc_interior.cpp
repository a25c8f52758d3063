#include <doctest/doctest.h>

#include <vector>

#include "assay/linear/svc_interior.hpp"
#include "svc_brute.hpp"

using namespace assay;
using namespace assay::linear;

TEST_CASE("the interior point method finds the minimum of the hinge loss, and certifies it") {
    for (const double price : {1e-3, 0.1, 0.5}) {
        const testing::SvcTable table(90, 7, price);
        const auto best = table.minimum(false);
        const SvcRows rows(table.dense(), testing::constant);
        std::vector<double> w(rows.stride());
        const auto result = solve_interior(rows, table.labels, table.C, 1e-9, 100, w, 1);
        const double objective = table.objective(w, false, false);
        CAPTURE(price);
        CHECK(result.stop == SvcStop::converged);
        CHECK(result.objective == doctest::Approx(objective).epsilon(1e-12));
        CHECK(objective <= table.objective(best, false, false) * (1 + 1e-9));
        CHECK(result.gap <= 1e-9 * objective);
        CHECK(result.gap >= -1e-12 * objective);
        CHECK(result.n_iter < 40);
        for (std::size_t j = 0; j <= table.d; ++j) {
            CHECK(w[j] == doctest::Approx(best[j]).epsilon(1e-3).scale(1e-2));
        }
    }
}

TEST_CASE("threads do not change the interior point method") {
    const testing::SvcTable table(5000, 6);
    const SvcRows rows(table.dense(), testing::constant);
    std::vector<double> one(rows.stride()), two(rows.stride());
    static_cast<void>(solve_interior(rows, table.labels, table.C, 1e-8, 100, one, 1));
    static_cast<void>(solve_interior(rows, table.labels, table.C, 1e-8, 100, two, 2));
    CHECK(one == two);
}

TEST_CASE("columns of very different size are no obstacle") {
    testing::SvcTable table(90, 4);
    for (std::size_t i = 0; i < table.n; ++i) {
        table.X[i * 4] *= 1e6;
        table.X[i * 4 + 1] *= 1e-4;
    }
    const SvcRows rows(table.dense(), testing::constant);
    std::vector<double> w(rows.stride());
    const auto result = solve_interior(rows, table.labels, table.C, 1e-8, 100, w, 1);
    CHECK(result.stop == SvcStop::converged);
}

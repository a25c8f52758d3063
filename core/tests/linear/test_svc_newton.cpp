#include <doctest/doctest.h>

#include <vector>

#include "assay/linear/svc_newton.hpp"
#include "svc_brute.hpp"

using namespace assay;
using namespace assay::linear;

TEST_CASE("Newton's method finds the minimum of the squared hinge, by factors and conjugately") {
    for (const double price : {1e-3, 0.1, 0.5}) {
        const testing::SvcTable table(90, 7, price);
        const auto best = table.minimum(true);
        const double least = table.objective(best, true, false);
        const SvcRows rows(table.dense(), testing::constant);
        std::vector<double> w(rows.stride()), v(table.d + 1), u(table.d + 1);
        const auto factors = solve_squared(linear::detail::FactorSteps(rows, 1), table.labels,
                                           table.C, 1e-10, 100, w);
        const auto dense = solve_squared(linear::detail::ConjugateSteps<MatrixView<const double>>(
                                             table.dense(), testing::constant),
                                         table.labels, table.C, 1e-10, 100, v);
        const auto sparse =
            solve_squared(linear::detail::ConjugateSteps<CsrView<const double, std::int32_t>>(
                              table.sparse(), testing::constant),
                          table.labels, table.C, 1e-10, 100, u);
        CAPTURE(price);
        for (const auto& result : {factors, dense, sparse}) {
            CHECK(result.stop == SvcStop::converged);
            CHECK(result.objective <= least * (1 + 1e-9));
            CHECK(result.gap <= 1e-10 * least);
            CHECK(result.n_iter < 40);
        }
        for (std::size_t j = 0; j <= table.d; ++j) {
            CHECK(w[j] == doctest::Approx(best[j]).epsilon(1e-5).scale(1e-3));
            CHECK(v[j] == doctest::Approx(best[j]).epsilon(1e-4).scale(1e-3));
            CHECK(u[j] == doctest::Approx(v[j]).epsilon(1e-6).scale(1e-3));
        }
    }
}

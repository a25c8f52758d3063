#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/linear/svc_sparse.hpp"
#include "svc_brute.hpp"

using namespace assay;
using namespace assay::linear;

TEST_CASE("the sparse SVM satisfies its conditions, with all columns and with working sets") {
    for (const double price : {2e-3, 0.02, 1.0}) {
        const testing::SvcTable table(60, 300, price);
        const SvcRows rows(table.dense(), testing::constant);
        std::vector<double> w(rows.stride()), v(table.d + 1);
        const auto all = solve_sparse(table.dense(), &rows, testing::constant, table.labels,
                                      table.C, 1e-9, 500, w, 1);
        const auto sets = solve_sparse(table.sparse(), nullptr, testing::constant, table.labels,
                                       table.C, 1e-9, 500, v, 1);
        CAPTURE(price);
        CHECK(all.stop == SvcStop::converged);
        CHECK(sets.stop == SvcStop::converged);
        CHECK(table.objective(w, true, true) == doctest::Approx(all.objective).epsilon(1e-12));
        CHECK(sets.objective == doctest::Approx(all.objective).epsilon(1e-8));
        std::size_t zeros = 0;
        for (std::size_t j = 0; j <= table.d; ++j) {
            double g = 0;
            for (std::size_t i = 0; i < table.n; ++i) {
                const double x = j < table.d ? table.X[i * table.d + j] : testing::constant;
                g -= 2 * table.C[i] * table.slack(i, v) * table.labels[i] * x;
            }
            zeros += v[j] == 0 ? 1 : 0;
            CHECK(std::abs(g) <= 1 + 1e-3);
            if (v[j] != 0) {
                CHECK(g == doctest::Approx(v[j] > 0 ? -1 : 1).epsilon(1e-2));
            }
        }
        CHECK(zeros > table.d / 2);
    }
}

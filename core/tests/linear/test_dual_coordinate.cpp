#include <doctest/doctest.h>

#include <vector>

#include "assay/linear/dual_coordinate.hpp"
#include "svc_brute.hpp"

using namespace assay;
using namespace assay::linear;

TEST_CASE("dual coordinate descent finds the minimum of the hinge loss, dense and CSR") {
    for (const double price : {1e-3, 0.1, 1.0}) {
        const testing::SvcTable table(90, 7, price);
        const double least = table.objective(table.minimum(false), false, false);
        std::vector<double> w(table.d + 1), v(table.d + 1);
        const auto dense = solve_dual(table.dense(), testing::constant, table.labels, table.C, 1e-7,
                                      100000, RandomStream(1, 0), w);
        const auto sparse = solve_dual(table.sparse(), testing::constant, table.labels, table.C,
                                       1e-7, 100000, RandomStream(1, 0), v);
        CAPTURE(price);
        CHECK(dense.stop == SvcStop::converged);
        CHECK(sparse.stop == SvcStop::converged);
        CHECK(table.objective(w, false, false) <= least * (1 + 1e-7));
        CHECK(table.objective(v, false, false) <= least * (1 + 1e-7));
        CHECK(dense.objective == doctest::Approx(table.objective(w, false, false)).epsilon(1e-12));
        CHECK(dense.gap >= -1e-12 * least);
    }
}

TEST_CASE("a run that is cut short says so and reports its gap") {
    const testing::SvcTable table(90, 7, 50);
    std::vector<double> w(table.d + 1);
    const auto result = solve_dual(table.dense(), testing::constant, table.labels, table.C, 1e-9, 3,
                                   RandomStream(1, 0), w);
    CHECK(result.stop == SvcStop::max_iter);
    CHECK(result.gap > 1e-9 * result.objective);
}

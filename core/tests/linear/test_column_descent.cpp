#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/column_descent.hpp"
#include "designs.hpp"

namespace {

template <class Design>
int sweeps_to_minimum(const Design& design, const lasso_problem::Problem& problem, double l1,
                      double l2, bool positive) {
    std::vector<std::size_t> columns(problem.p);
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    const typename Design::Columns table(design, columns);
    std::vector<double> w(problem.p, 0.0);
    auto kept = table.kept(design, problem.y);
    assay::linear::ColumnDescent descent(table, problem.p, {l1, l2, positive});
    const int sweeps = descent.solve(w, kept, 20000, 1e-13);
    CHECK(problem.violation(w, l1, l2, positive) < 1e-10);
    return sweeps;
}

}  // namespace

TEST_CASE("accelerated sweeps over columns reach the minimum, dense and sparse") {
    for (const bool weighted : {false, true}) {
        for (const bool positive : {false, true}) {
            const auto problem = lasso_problem::make(25, 40, 6, weighted, true, 0.3);
            const double l1 = 0.02 * problem.largest();
            const int dense = sweeps_to_minimum(designs::dense(problem), problem, l1, 0, positive);
            const int sparse =
                sweeps_to_minimum(designs::sparse(problem), problem, l1, 0.0, positive);
            CHECK(dense < 5000);
            CHECK(sparse < 5000);
            sweeps_to_minimum(designs::dense(problem), problem, 1e-3 * l1, 0.3, positive);
        }
    }
}

#include <doctest/doctest.h>

#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/working_set.hpp"
#include "designs.hpp"

using assay::linear::WorkingSet;

namespace {

template <class Design>
void check_path(const Design& design, const lasso_problem::Problem& problem, double l2,
                bool positive) {
    WorkingSet<Design> along(design, problem.y);
    CHECK(along.largest_correlation() == doctest::Approx(problem.largest()));
    std::vector<double> w(problem.p, 0.0);
    for (const double share : {1.1, 0.6, 0.3, 0.1, 0.03}) {
        CAPTURE(share);
        const double l1 = share * problem.largest();
        const auto warm = along.solve(w, {l1, l2, positive}, 1e-8, 1000);
        CHECK(warm.converged);
        CHECK(warm.exact);
        CHECK(warm.gap < 1e-9);
        CHECK(problem.violation(w, l1, l2, positive) < 1e-10);
        std::vector<double> alone(problem.p, 0.0);
        WorkingSet<Design> cold(design, problem.y);
        cold.solve(alone, {l1, l2, positive}, 1e-8, 1000);
        for (std::size_t j = 0; j < problem.p; ++j) {
            CHECK(std::abs(w[j] - alone[j]) < 1e-11);
        }
    }
}

}  // namespace

TEST_CASE("a path is optimal at every penalty, and each solution is that of a single fit") {
    reference::provide();
    const assay::BlasScope scope;
    for (const bool weighted : {false, true}) {
        for (const bool positive : {false, true}) {
            const auto problem = lasso_problem::make(80, 400, 3, weighted, true, 0.5);
            check_path(designs::dense(problem), problem, 0.0, positive);
            check_path(designs::sparse(problem), problem, 1.0, positive);
        }
    }
}

TEST_CASE("a start from outside leads to the same solution") {
    reference::provide();
    const assay::BlasScope scope;
    const auto problem = lasso_problem::make(60, 300, 7, false);
    const auto design = designs::dense(problem);
    const double l1 = 0.1 * problem.largest();
    std::vector<double> cold(300, 0.0);
    auto warm = small_tables::numbers<double>(300, 12);
    WorkingSet(design, problem.y).solve(cold, {l1, 0.0, false}, 1e-8, 1000);
    WorkingSet(design, problem.y).solve(warm, {l1, 0.0, false}, 1e-8, 1000);
    for (std::size_t j = 0; j < 300; ++j) {
        CHECK(std::abs(cold[j] - warm[j]) < 1e-11);
    }
}

TEST_CASE("sets too large for products reach the same minimum, within the gap asked for") {
    reference::provide();
    const assay::BlasScope scope;
    for (const bool positive : {false, true}) {
        const auto problem = lasso_problem::make(60, 300, 7, true, true, 0.4);
        const auto dense = designs::dense(problem);
        const auto sparse = designs::sparse(problem);
        for (const double l2 : {0.0, 1.0}) {
            const assay::linear::LassoPenalty penalty{0.1 * problem.largest(), l2, positive};
            std::vector<double> expected(300, 0.0);
            std::vector<double> first(300, 0.0);
            std::vector<double> second(300, 0.0);
            WorkingSet(dense, problem.y).solve(expected, penalty, 1e-8, 1000);
            const auto a = WorkingSet(dense, problem.y, 10).solve(first, penalty, 1e-11, 20000);
            const auto b = WorkingSet(sparse, problem.y, 10).solve(second, penalty, 1e-11, 20000);
            for (const auto& found : {a, b}) {
                CHECK(found.converged);
                CHECK(!found.exact);
            }
            for (std::size_t j = 0; j < 300; ++j) {
                CHECK(std::abs(first[j] - expected[j]) < 1e-5);
                CHECK(std::abs(second[j] - expected[j]) < 1e-5);
            }
        }
    }
}

TEST_CASE("one sweep is not called converged where it is not enough") {
    reference::provide();
    const assay::BlasScope scope;
    auto problem = lasso_problem::make(50, 20, 9, false);
    for (std::size_t i = 0; i < problem.n; ++i) {  // dependent columns: no equations to help
        problem.x[i * 20 + 1] = problem.x[i * 20] + problem.x[i * 20 + 2];
    }
    problem.mean[1] = problem.mean[0] + problem.mean[2];
    const auto design = designs::dense(problem);
    std::vector<double> w(20, 0.0);
    WorkingSet solver(design, problem.y);
    const double l1 = 1e-6 * problem.largest();
    const auto found = solver.solve(w, {l1, 0.0, false}, 1e-12, 1);
    CHECK(!found.converged);
    CHECK(found.gap > 0);
    CHECK(problem.violation(w, l1, 0.0, false) > 1e-6);
}

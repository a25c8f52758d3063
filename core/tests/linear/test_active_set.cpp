#include <doctest/doctest.h>

#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/active_set.hpp"
#include "lasso_problem.hpp"

namespace {

struct Products {
    std::vector<double> gram;
    std::vector<double> c;
};

Products products(const lasso_problem::Problem& problem) {
    const std::size_t p = problem.p;
    Products out{std::vector<double>(p * p, 0.0), problem.correlations(problem.y)};
    for (std::size_t i = 0; i < problem.n; ++i) {
        for (std::size_t a = 0; a < p; ++a) {
            for (std::size_t b = 0; b < p; ++b) {
                out.gram[a * p + b] += problem.weight(i) * problem.at(i, a) * problem.at(i, b);
            }
        }
    }
    return out;
}

}  // namespace

TEST_CASE("the active set is the exact solution, from any start") {
    reference::provide();
    const assay::BlasScope scope;
    for (const std::uint64_t key : {1U, 2U, 3U}) {
        const auto problem = lasso_problem::make(30, 12, key, key == 2);
        const auto [gram, c] = products(problem);
        for (const double share : {1.5, 0.5, 0.1, 0.001}) {
            for (const double l2 : {0.0, 2.0}) {
                for (const bool positive : {false, true}) {
                    CAPTURE(key);
                    CAPTURE(share);
                    CAPTURE(positive);
                    const double l1 = share * problem.largest();
                    std::vector<double> cold(12, 0.0);
                    auto warm = small_tables::numbers<double>(12, key + 9, positive ? 1.0 : 0.0);
                    for (auto* w : {&cold, &warm}) {
                        assay::linear::ActiveSet active({gram.data(), 12, 12}, c,
                                                        {l1, l2, positive});
                        CHECK(active.solve(*w, 1000, 1e-15) < 1000);
                        CHECK(active.solved());
                        CHECK(problem.violation(*w, l1, l2, positive) < 1e-11);
                    }
                    for (std::size_t j = 0; j < 12; ++j) {
                        CHECK(std::abs(cold[j] - warm[j]) < 1e-12);
                    }
                }
            }
        }
    }
}

TEST_CASE("columns given twice, and more columns than rows, still lead to a minimum") {
    reference::provide();
    const assay::BlasScope scope;
    for (const bool positive : {false, true}) {
        for (const double share : {0.3, 0.01, 1e-4}) {
            auto problem = lasso_problem::make(15, 60, 4, false);
            for (std::size_t i = 0; i < problem.n; ++i) {
                problem.x[i * 60 + 1] = problem.x[i * 60];
            }
            problem.mean[1] = problem.mean[0];
            const auto [gram, c] = products(problem);
            const double l1 = share * problem.largest();
            std::vector<double> w(60, 1.0);
            assay::linear::ActiveSet active({gram.data(), 60, 60}, c, {l1, 0.0, positive});
            CHECK(active.solve(w, 1000, 1e-14) < 1000);
            CHECK(active.solved());
            CHECK(problem.violation(w, l1, 0.0, positive) < 1e-9);
            CHECK(w[0] * w[1] == 0);
        }
    }
}

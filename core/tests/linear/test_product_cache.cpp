#include <doctest/doctest.h>

#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/product_cache.hpp"
#include "designs.hpp"

TEST_CASE("the cache gives products of any columns asked for, old and new") {
    reference::provide();
    const assay::BlasScope scope;
    const auto problem = lasso_problem::make(40, 30, 8, true);
    const auto design = designs::dense(problem);
    assay::linear::ProductCache cache(design);
    const std::vector<std::vector<std::size_t>> sets = {
        {3, 1}, {1, 7, 29, 3}, {0, 2, 4, 6, 8, 10, 12}, {29}, {7, 8, 9, 1}};
    for (const auto& columns : sets) {
        std::vector<double> found;
        cache.products(columns, found);
        REQUIRE(found.size() == columns.size() * columns.size());
        for (std::size_t a = 0; a < columns.size(); ++a) {
            for (std::size_t b = 0; b < columns.size(); ++b) {
                double sum = 0;
                for (std::size_t i = 0; i < problem.n; ++i) {
                    sum +=
                        problem.weight(i) * problem.at(i, columns[a]) * problem.at(i, columns[b]);
                }
                CHECK(found[a * columns.size() + b] == doctest::Approx(sum).epsilon(1e-11));
                CHECK(found[a * columns.size() + b] == found[b * columns.size() + a]);
            }
        }
    }
}

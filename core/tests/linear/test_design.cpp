#include <doctest/doctest.h>

#include "../common/reference_blas.hpp"
#include "assay/linear/design.hpp"
#include "design_check.hpp"
#include "designs.hpp"

TEST_CASE("a dense design multiplies the centred, weighted table without making it") {
    reference::provide();
    const assay::BlasScope scope;
    for (const bool weighted : {false, true}) {
        for (const bool centred : {false, true}) {
            for (const std::size_t n : {5U, 1100U}) {
                const auto problem = lasso_problem::make(n, 9, n, weighted, centred);
                design_check::check(designs::dense(problem), problem);
                design_check::check(designs::dense(problem, 3), problem);
            }
        }
    }
}

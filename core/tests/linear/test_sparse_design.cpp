#include <doctest/doctest.h>

#include "../common/reference_blas.hpp"
#include "assay/linear/sparse_design.hpp"
#include "design_check.hpp"
#include "designs.hpp"

TEST_CASE("a sparse design multiplies the centred, weighted table without making it") {
    for (const bool weighted : {false, true}) {
        for (const bool centred : {false, true}) {
            for (const double zeros : {0.0, 0.7, 1.0}) {
                const auto problem = lasso_problem::make(60, 9, 3, weighted, centred, zeros);
                design_check::check(designs::sparse(problem), problem);
                design_check::check(designs::sparse(problem, 3), problem);
            }
        }
    }
}

// The same table as a dense and as a sparse design, for tests that want both.
#pragma once

#include <cstdint>
#include <vector>

#include "assay/common/csr_view.hpp"
#include "assay/linear/design.hpp"
#include "assay/linear/sparse_design.hpp"
#include "lasso_problem.hpp"

namespace designs {

inline assay::linear::DenseDesign<double> dense(const lasso_problem::Problem& problem,
                                                int n_threads = 1) {
    return {small_tables::view(problem.x, problem.p), problem.mean, problem.v, n_threads};
}

inline assay::linear::SparseDesign sparse(const lasso_problem::Problem& problem,
                                          int n_threads = 1) {
    std::vector<double> values;
    std::vector<std::int32_t> columns;
    std::vector<std::int32_t> offsets = {0};
    for (std::size_t i = 0; i < problem.n; ++i) {
        for (std::size_t j = 0; j < problem.p; ++j) {
            if (problem.x[i * problem.p + j] != 0) {
                values.push_back(problem.x[i * problem.p + j]);
                columns.push_back(static_cast<std::int32_t>(j));
            }
        }
        offsets.push_back(static_cast<std::int32_t>(values.size()));
    }
    const assay::CsrView<const double, std::int32_t> view{values, columns, offsets, problem.n,
                                                          problem.p};
    return {view, problem.mean, problem.v, n_threads};
}

}  // namespace designs

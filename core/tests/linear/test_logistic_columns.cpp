#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/logistic_columns.hpp"
#include "logistic_example.hpp"

using namespace assay;
using namespace assay::linear::logit;

TEST_CASE("the working set ends where all columns end") {
    reference::provide();
    const example::LogisticTable table(60, 120, 2);
    const auto frame = frame_of(table.view(), true, 1);
    const DenseDesign design(table.view(), frame, true, 1);
    std::vector<double> l1(121, 0.04);
    std::vector<double> l2(121, 0.01);
    l1[120] = l2[120] = 0;
    LogisticProblem<DenseDesign> problem(design, table.codes, table.weight, 2, 1);
    std::vector<double> whole(design.stride);
    std::vector<double> chosen(design.stride);
    CHECK(prox_newton(problem, l1, l2, whole, {}).stop == Stop::converged);
    LogisticColumns<DenseDesign> columns(problem, true, table.codes, table.weight, 2);
    const Outcome outcome = columns.solve(l1, l2, chosen, {});
    CHECK(outcome.stop == Stop::converged);
    CHECK(outcome.gradient_norm < 1e-12);
    for (std::size_t j = 0; j < whole.size(); ++j) {
        CHECK(std::abs(whole[j] - chosen[j]) < 1e-9);
    }
}

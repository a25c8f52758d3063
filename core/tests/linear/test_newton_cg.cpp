#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/logistic_problem.hpp"
#include "assay/linear/newton_cg.hpp"
#include "logistic_example.hpp"

using namespace assay;
using namespace assay::linear::logit;

TEST_CASE("conjugate gradients end where Cholesky factors end") {
    reference::provide();
    for (const std::size_t n_classes : {2U, 4U}) {
        const example::LogisticTable table(300, 6, n_classes);
        const auto frame = frame_of(table.view(), true, 1);
        const DenseDesign design(table.view(), frame, true, 1);
        const std::vector<double> l2{0.01, 0.02, 0.01, 0.03, 0.01, 0.01, 0};
        std::vector<std::vector<double>> ends;
        for (const bool direct : {true, false}) {
            LogisticProblem<DenseDesign> problem(design, table.codes, table.weight, n_classes, 1);
            std::vector<double> theta(problem.n_outputs() * design.stride);
            if (!direct) {  // a start whose outputs have something in common
                theta[0] = 2.0;
            }
            const Outcome outcome =
                direct ? newton(problem, l2, theta, {}) : newton_cg(problem, l2, theta, {});
            CHECK(outcome.stop == Stop::converged);
            ends.push_back(theta);
        }
        for (std::size_t i = 0; i < ends[0].size(); ++i) {
            CHECK(std::abs(ends[0][i] - ends[1][i]) < 1e-9);
        }
    }
}

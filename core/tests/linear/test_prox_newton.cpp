#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/logistic_problem.hpp"
#include "assay/linear/prox_newton.hpp"
#include "logistic_example.hpp"

using namespace assay;
using namespace assay::linear::logit;

TEST_CASE("a violation is the distance of zero to the subdifferential") {
    CHECK(violation(0.5, 0, 1) == 0);
    CHECK(violation(-1.5, 0, 1) == 0.5);
    CHECK(violation(0.5, 2, 1) == 1.5);
    CHECK(violation(1, -2, 1) == 0);
}

TEST_CASE("proximal Newton ends at an optimum with zeros, from any start") {
    reference::provide();
    for (const std::size_t n_classes : {2U, 3U}) {
        const example::LogisticTable table(400, 6, n_classes);
        const auto frame = frame_of(table.view(), true, 1);
        const DenseDesign design(table.view(), frame, true, 1);
        const std::vector<double> l1{0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0};
        const std::vector<double> l2{0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0};
        std::vector<std::vector<double>> ends;
        for (const double start : {0.0, 2.0}) {
            LogisticProblem<DenseDesign> problem(design, table.codes, table.weight, n_classes, 1);
            std::vector<double> theta(problem.n_outputs() * design.stride);
            for (std::size_t j = 0; j < 6; ++j) {
                theta[j] = start;
            }
            const Outcome outcome = prox_newton(problem, l1, l2, theta, {});
            CHECK(outcome.stop == Stop::converged);
            CHECK(outcome.gradient_norm < 1e-12);
            ends.push_back(theta);
        }
        std::size_t zeros = 0;
        for (std::size_t i = 0; i < ends[0].size(); ++i) {
            CHECK(std::abs(ends[0][i] - ends[1][i]) < 1e-10);
            zeros += i % design.stride < 6 && ends[0][i] == 0 ? 1 : 0;
        }
        CHECK(zeros > 0);
    }
}

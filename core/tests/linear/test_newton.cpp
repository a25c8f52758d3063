#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/logistic_problem.hpp"
#include "assay/linear/newton.hpp"
#include "logistic_example.hpp"

using namespace assay;
using namespace assay::linear::logit;

TEST_CASE("solve_definite solves systems whose columns differ by many powers of ten") {
    reference::provide();
    std::vector<double> a{1e12, 0, 1e5, 4};  // lower triangle of [[1e12, 1e5], [1e5, 4]]
    std::vector<double> b{2e12 + 3e5, 2e5 + 12};
    solve_definite(MatrixView<double>{a.data(), 2, 2}, b, 0);
    CHECK(b[0] == doctest::Approx(2).epsilon(1e-12));
    CHECK(b[1] == doctest::Approx(3).epsilon(1e-9));
}

TEST_CASE("a singular system still gives a finite step, and a zero row none") {
    reference::provide();
    std::vector<double> a{1, 0, 0, 1, 1, 0, 0, 0, 0};
    std::vector<double> b{1, 1, 5};
    solve_definite(MatrixView<double>{a.data(), 3, 3}, b, 0);
    CHECK(b[0] + b[1] == doctest::Approx(1).epsilon(1e-6));
    CHECK(b[2] == 0);
}

TEST_CASE("newton ends where the gradient is zero, from any start") {
    reference::provide();
    for (const std::size_t n_classes : {2U, 3U}) {
        const example::LogisticTable table(400, 4, n_classes);
        const auto frame = frame_of(table.view(), true, 1);
        const DenseDesign design(table.view(), frame, true, 1);
        const std::vector<double> l2{0.01, 0.01, 0.01, 0.01, 0};
        std::vector<std::vector<double>> ends;
        for (const double start : {0.0, 3.0}) {
            LogisticProblem<DenseDesign> problem(design, table.codes, table.weight, n_classes, 1);
            std::vector<double> theta(problem.n_outputs() * design.stride);
            for (std::size_t k = 0; k < problem.n_outputs(); ++k) {
                for (std::size_t j = 0; j < 4; ++j) {
                    theta[k * design.stride + j] = start * (k % 2 == 0 ? 1 : -1);
                }
            }
            const Outcome outcome = newton(problem, l2, theta, {});
            CHECK(outcome.stop == Stop::converged);
            CHECK(outcome.gradient_norm < 1e-12);
            ends.push_back(theta);
        }
        for (std::size_t i = 0; i < ends[0].size(); ++i) {
            CHECK(std::abs(ends[0][i] - ends[1][i]) < 1e-10);
        }
    }
}

TEST_CASE("separated classes without penalty are recognised, and the search ends") {
    reference::provide();
    std::vector<double> x{-3, -2, -1, 1, 2, 3};
    const std::vector<std::int32_t> codes{0, 0, 0, 1, 1, 1};
    const std::vector<double> weight(6, 1.0 / 6);
    const MatrixView<const double> view{x.data(), 6, 1};
    const DenseDesign design(view, frame_of(view, true, 1), true, 1);
    LogisticProblem<DenseDesign> problem(design, codes, weight, 2, 1);
    std::vector<double> theta(design.stride);
    const Outcome outcome = newton(problem, std::vector<double>{0, 0}, theta, {});
    CHECK(outcome.stop == Stop::separated);
    CHECK(std::isfinite(theta[0]));
    CHECK(theta[0] > 0);
}

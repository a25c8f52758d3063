#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/logistic_problem.hpp"
#include "logistic_example.hpp"

using namespace assay;
using namespace assay::linear::logit;

namespace {

struct Fixture {
    example::LogisticTable table;
    ColumnFrame frame;
    DenseDesign design;
    LogisticProblem<DenseDesign> problem;
    std::vector<double> theta;

    Fixture(std::size_t rows, std::size_t n_classes, int n_threads = 1)
        : table(rows, 4, n_classes),
          frame{std::vector<double>(4), std::vector<double>(4, 1.0)},
          design(table.view(), frame, true, 1),
          problem(design, table.codes, table.weight, n_classes, n_threads),
          theta(problem.n_outputs() * design.stride) {
        reference::provide();
        for (std::size_t k = 0; k < problem.n_outputs(); ++k) {
            for (std::size_t j = 0; j < 5; ++j) {
                theta[k * design.stride + j] = 0.1 * static_cast<double>((k + 2 * j) % 5) - 0.2;
            }
        }
    }
};

}  // namespace

TEST_CASE("loss, gradient and Hessian agree with the definition and finite differences") {
    for (const std::size_t n_classes : {2U, 3U}) {
        Fixture f(300, n_classes);
        const std::size_t stride = f.design.stride;
        const std::size_t outputs = f.problem.n_outputs();
        f.problem.evaluate(f.theta, true);
        std::vector<double> coef;
        std::vector<double> intercept;
        for (std::size_t k = 0; k < outputs; ++k) {
            coef.insert(coef.end(), &f.theta[k * stride], &f.theta[k * stride] + 4);
            intercept.push_back(f.theta[k * stride + 4]);
        }
        CHECK(f.problem.loss() == doctest::Approx(f.table.loss(coef, intercept)).epsilon(1e-13));
        const std::vector<double> gradient(f.problem.gradient().begin(),
                                           f.problem.gradient().end());
        const std::vector<double> hessian(f.problem.hessian().begin(), f.problem.hessian().end());
        const std::size_t size = f.problem.size();
        for (std::size_t a = 0; a < size; ++a) {
            const std::size_t at = a / 5 * stride + a % 5;
            auto up = f.theta;
            auto down = f.theta;
            up[at] += 1e-5;
            down[at] -= 1e-5;
            f.problem.evaluate(up, false);
            const double high = f.problem.loss();
            const std::vector<double> g_high(f.problem.gradient().begin(),
                                             f.problem.gradient().end());
            f.problem.evaluate(down, false);
            CHECK(std::abs(gradient[at] - (high - f.problem.loss()) / 2e-5) < 1e-6);
            for (std::size_t b = 0; b <= a; ++b) {
                const std::size_t to = b / 5 * stride + b % 5;
                const double slope = (g_high[to] - f.problem.gradient()[to]) / 2e-5;
                CHECK(std::abs(hessian[a * size + b] - slope) < 1e-6);
            }
        }
    }
}

TEST_CASE("turn is the Hessian times a vector; diagonal and mean_gram are parts of it") {
    for (const std::size_t n_classes : {2U, 3U}) {
        Fixture f(200, n_classes);
        const std::size_t stride = f.design.stride;
        f.problem.evaluate(f.theta, true);
        const std::size_t size = f.problem.size();
        const auto h = f.problem.hessian();
        std::vector<double> out(f.theta.size());
        f.problem.turn(f.theta, out);
        std::vector<double> diagonal;
        f.problem.diagonal(diagonal);
        std::vector<double> gram;
        f.problem.mean_gram(gram);
        double trace = 0;
        double mean_trace = 0;
        for (std::size_t a = 0; a < size; ++a) {
            double sum = 0;
            for (std::size_t b = 0; b < size; ++b) {
                sum += h[std::max(a, b) * size + std::min(a, b)] * f.theta[b / 5 * stride + b % 5];
            }
            CHECK(out[a / 5 * stride + a % 5] == doctest::Approx(sum).epsilon(1e-10));
            CHECK(diagonal[a / 5 * stride + a % 5] ==
                  doctest::Approx(h[a * size + a]).epsilon(1e-10));
            trace += h[a * size + a];
        }
        for (std::size_t j = 0; j < 5; ++j) {
            mean_trace += gram[j * stride + j] * static_cast<double>(f.problem.n_outputs());
        }
        CHECK(mean_trace == doctest::Approx(trace).epsilon(1e-10));
    }
}

TEST_CASE("the number of threads does not change a bit") {
    Fixture one(9000, 3, 1);
    Fixture two(9000, 3, 2);
    one.problem.evaluate(one.theta, true);
    two.problem.evaluate(two.theta, true);
    CHECK(one.problem.loss() == two.problem.loss());
    CHECK(std::equal(one.problem.hessian().begin(), one.problem.hessian().end(),
                     two.problem.hessian().begin()));
    CHECK(std::equal(one.problem.gradient().begin(), one.problem.gradient().end(),
                     two.problem.gradient().begin()));
}

TEST_CASE("entropy at the labels is zero, at even shares it is ln 2") {
    Fixture f(100, 2);
    std::fill(f.theta.begin(), f.theta.end(), 0.0);
    f.problem.evaluate(f.theta, false);
    CHECK(f.problem.entropy(0) == 0);
    CHECK(f.problem.entropy(1) == doctest::Approx(std::log(2.0)).epsilon(1e-14));
}

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "assay/svm/certificate.hpp"

using namespace assay::svm;

TEST_CASE("two points on a line: everything is known by hand") {
    // x = 0 and 2, linear kernel, hard margin: alpha = 1/2, w = 1, bias = -1, F = -1/2.
    constexpr double inf = std::numeric_limits<double>::infinity();
    const std::vector<double> target = {-1, 1};
    const std::vector<double> low = {-inf, 0};
    const std::vector<double> high = {0, inf};
    const std::vector<std::int32_t> row_of = {0, 1};
    const SmoProblem problem{target, low, high, row_of};
    const std::vector<double> b = {-0.5, 0.5};
    const std::vector<double> f = {0, 2};
    const Certificate best = certify(problem, b, f);
    CHECK(best.objective == -0.5);
    CHECK(best.bias == -1);
    CHECK(best.violation == 0);
    CHECK(best.gap == 0);

    const std::vector<double> half = {-0.25, 0.25};  // F = -3/8, 1/8 above the optimum
    const std::vector<double> half_f = {0, 1};
    const Certificate worse = certify(problem, half, half_f);
    CHECK(worse.objective == -0.375);
    CHECK(worse.violation == 1);
    CHECK(worse.gap >= 0.125);
}

TEST_CASE("without free variables the bias is the middle of its interval") {
    const std::vector<double> target = {-1, 1};
    const std::vector<double> low = {-0.1, 0};
    const std::vector<double> high = {0, 0.1};
    const std::vector<std::int32_t> row_of = {0, 1};
    const std::vector<double> b = {-0.1, 0.1};
    const std::vector<double> f = {0, 0.2};
    const Certificate proof = certify({target, low, high, row_of}, b, f);
    CHECK(proof.bias == doctest::Approx(-0.1));
    CHECK(proof.violation == 0);
    CHECK(proof.gap < 1e-15);
}

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "assay/svm/cholesky.hpp"
#include "samples.hpp"

using namespace assay::svm;

namespace {

// X X' + 1 of random rows: positive definite.
std::vector<double> matrix(std::size_t n, std::size_t width) {
    const auto X = samples::normal<double>(n * width, 3);
    std::vector<double> a(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            double sum = i == j ? 1.0 : 0.0;
            for (std::size_t k = 0; k < width; ++k) {
                sum += X[i * width + k] * X[j * width + k];
            }
            a[i * n + j] = sum;
        }
    }
    return a;
}

// Largest difference between A x and the right side, over the rows `left` of the matrix.
double residual(const std::vector<double>& a, std::size_t n, const std::vector<std::size_t>& left,
                const Cholesky& factor) {
    std::vector<double> x(left.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(static_cast<double>(left[i] + 1));
    }
    const auto right = x;
    factor.solve(x);
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double sum = -right[i];
        for (std::size_t j = 0; j < x.size(); ++j) {
            sum += a[left[i] * n + left[j]] * x[j];
        }
        largest = std::max(largest, std::abs(sum));
    }
    return largest;
}

}  // namespace

TEST_CASE("factors solve the system, also after rows have left in any order") {
    constexpr std::size_t n = 37;
    const auto a = matrix(n, 20);
    Cholesky factor;
    REQUIRE(factor.factor(n, [&](std::size_t i, std::size_t j) { return a[i * n + j]; }));
    std::vector<std::size_t> left(n);
    for (std::size_t i = 0; i < n; ++i) {
        left[i] = i;
    }
    CHECK(residual(a, n, left, factor) < 1e-11);
    for (std::size_t step = 0; left.size() > 1; ++step) {
        // The first, the last, and some between.
        const std::size_t k = step == 0 ? 0 : step == 1 ? left.size() - 1 : step * 7 % left.size();
        factor.leave(k);
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(k));
        REQUIRE(factor.size() == left.size());
        CHECK(residual(a, n, left, factor) < 1e-11);
    }
}

TEST_CASE("a matrix that is not positive definite is refused") {
    Cholesky factor;
    CHECK_FALSE(factor.factor(2, [](std::size_t, std::size_t) { return 1.0; }));
    CHECK(factor.factor(0, [](std::size_t, std::size_t) { return 1.0; }));
    CHECK_FALSE(factor.factor(1, [](std::size_t, std::size_t) { return std::nan(""); }));
}

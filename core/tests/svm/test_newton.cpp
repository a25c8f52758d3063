#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/svm/newton.hpp"
#include "samples.hpp"

using namespace assay::svm;

namespace {

std::vector<double> kernel_of(std::size_t n) {
    const auto X = samples::normal<double>(n * 4, 2);
    std::vector<double> kernel(n * n);
    for (std::size_t i = 0; i < n * n; ++i) {
        kernel[i] =
            samples::value(samples::kernels[3], X.data() + i / n * 4, X.data() + i % n * 4, 4);
    }
    return kernel;
}

}  // namespace

TEST_CASE("free variables end where their z are all equal, in one step when no bound is met") {
    constexpr std::size_t n = 16;
    const auto kernel = kernel_of(n);
    for (const double bound : {1e6, 1.2}) {
        std::vector<double> b(n);
        std::vector<double> z(n);
        std::vector<double> low(n, -bound);
        std::vector<double> high(n, bound);
        for (std::size_t i = 0; i < n; ++i) {
            z[i] = i % 2 == 0 ? 1 : -1;
        }
        const auto target = z;
        InnerBlock<double> block{n,       n,       kernel.data(), z.data(),   nullptr,
                                 nullptr, nullptr, b.data(),      low.data(), high.data()};
        const NewtonResult result = Newton<double>(block).run(1e6, n);
        CHECK((bound == 1e6 ? result.steps == 1 : result.steps > 1));
        CHECK(result.done);
        CHECK(result.work == n * n * n / 6.0 + static_cast<double>(result.steps) * 3 * n * n);
        double sum = 0;
        double level = 0;
        bool seen = false;
        for (std::size_t i = 0; i < n; ++i) {
            sum += b[i];
            double exact = target[i];
            for (std::size_t j = 0; j < n; ++j) {
                exact -= kernel[i * n + j] * b[j];
            }
            CHECK(z[i] == doctest::Approx(exact).epsilon(1e-9));
            CHECK(std::abs(b[i]) <= bound);
            if (std::abs(b[i]) < bound) {
                level = seen ? level : z[i];
                seen = true;
                CHECK(z[i] == doctest::Approx(level).epsilon(1e-8));
            }
        }
        CHECK(std::abs(sum) < 1e-8);
    }
}

TEST_CASE("a singular matrix and a block without free variables do no harm") {
    std::vector<double> kernel(16, 1.0);
    std::vector<double> z = {1, -1, 1, -1};
    std::vector<double> b(4);
    std::vector<double> low(4, -1.0);
    std::vector<double> high(4, 1.0);
    InnerBlock<double> block{4,       4,       kernel.data(), z.data(),   nullptr,
                             nullptr, nullptr, b.data(),      low.data(), high.data()};
    Newton<double>(block).run(1e6, 9);
    for (const double value : b) {
        CHECK(std::abs(value) <= 1.0);
    }
    high = low = b = {0, 0, 0, 0};
    CHECK(Newton<double>(block).run(1e6, 9).steps == 0);
}

TEST_CASE("no more steps are made than is allowed, and none that cannot be afforded") {
    constexpr std::size_t n = 16;
    const auto kernel = kernel_of(n);
    const double first = n * n * n / 6.0 + 3.0 * n * n;
    for (const std::size_t steps : {0U, 1U, 2U}) {
        std::vector<double> b(n);
        std::vector<double> z(n);
        std::vector<double> low(n, -1.2);
        std::vector<double> high(n, 1.2);
        for (std::size_t i = 0; i < n; ++i) {
            z[i] = i % 2 == 0 ? 1 : -1;
        }
        const auto before = z;
        InnerBlock<double> block{n,       n,       kernel.data(), z.data(),   nullptr,
                                 nullptr, nullptr, b.data(),      low.data(), high.data()};
        const NewtonResult result = steps == 0 ? Newton<double>(block).run(first - 1, 9)
                                               : Newton<double>(block).run(first, steps);
        CHECK(result.steps == steps);
        CHECK_FALSE(result.done);
        CHECK((z == before) == (steps == 0));
        CHECK((result.work == 0) == (steps == 0));
    }
}

TEST_CASE("no step is made whose gain is less than the rounding of the kernel values") {
    // The way of no curvature goes to the bounds; at 1e20 a gain of 2 says nothing.
    for (const double size : {1.0, 1e20}) {
        std::vector<double> kernel(4, size);
        std::vector<double> z = {1, -1};
        std::vector<double> b(2);
        std::vector<double> low(2, -1.0);
        std::vector<double> high(2, 1.0);
        InnerBlock<double> block{2,       2,       kernel.data(), z.data(),   nullptr,
                                 nullptr, nullptr, b.data(),      low.data(), high.data()};
        CHECK(Newton<double>(block).run(1e6, 9).steps == (size == 1.0 ? 1 : 0));
        CHECK(b[0] == (size == 1.0 ? 1.0 : 0.0));
    }
}

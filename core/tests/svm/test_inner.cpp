#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/svm/inner.hpp"
#include "samples.hpp"

using namespace assay::svm;

namespace {

template <class T>
struct Block {
    std::size_t size;
    std::size_t stride;
    std::vector<T> kernel, z, diagonal, up, low;
    std::vector<double> b, low_bound, high_bound, target;

    Block(std::size_t n, std::uint64_t seed)
        : size(n),
          stride((n + inner_pad - 1) / inner_pad * inner_pad),
          kernel(n * stride),
          z(stride),
          diagonal(stride),
          up(stride),
          low(stride),
          b(n),
          low_bound(n),
          high_bound(n),
          target(n) {
        const auto X = samples::normal<double>(n * 3, seed);
        for (std::size_t i = 0; i < n; ++i) {
            target[i] = i % 2 == 0 ? 1 : -1;
            z[i] = static_cast<T>(target[i]);
            low_bound[i] = i % 2 == 0 ? 0 : -2;
            high_bound[i] = i % 2 == 0 ? 2 : 0;
            for (std::size_t j = 0; j < n; ++j) {
                kernel[i * stride + j] = static_cast<T>(
                    samples::value(samples::kernels[3], X.data() + i * 3, X.data() + j * 3, 3));
            }
        }
    }

    InnerBlock<T> view() {
        return {size,      stride,     kernel.data(), z.data(),         diagonal.data(),
                up.data(), low.data(), b.data(),      low_bound.data(), high_bound.data()};
    }
};

}  // namespace

TEST_CASE_TEMPLATE("inner ends at a point that satisfies the conditions of optimality", T, float,
                   double) {
    for (const std::size_t n : {2U, 15U, 16U, 33U, 100U}) {
        std::vector<double> first;
        samples::at_every_level([&] {
            Block<T> block(n, n);
            const auto result = assay::dispatch([&](auto level) {
                return Inner<decltype(level), T>::run(block.view(), 1e-4, 1'000'000);
            });
            CHECK(result.violation <= 1e-4);
            if (first.empty()) {
                first = block.b;
            }
            CHECK(block.b == first);
            double sum = 0;
            double top = -1e9;
            double bottom = 1e9;
            for (std::size_t i = 0; i < n; ++i) {
                double z = block.target[i];
                for (std::size_t j = 0; j < n; ++j) {
                    z -= static_cast<double>(block.kernel[i * block.stride + j]) * block.b[j];
                }
                sum += block.b[i];
                CHECK(block.b[i] >= block.low_bound[i]);
                CHECK(block.b[i] <= block.high_bound[i]);
                top = block.b[i] < block.high_bound[i] ? std::max(top, z) : top;
                bottom = block.b[i] > block.low_bound[i] ? std::min(bottom, z) : bottom;
            }
            CHECK(std::abs(sum) < 1e-9);
            CHECK(top - bottom <= 1.2e-4);
        });
    }
}

TEST_CASE("two points have the closed-form solution, cut at the bound") {
    Block<double> block(2, 1);
    const double curvature = 2 - 2 * block.kernel[1];
    block.high_bound = {1e6, 0};
    block.low_bound = {0, -1e6};
    auto result = assay::dispatch(
        [&](auto level) { return Inner<decltype(level), double>::run(block.view(), 1e-9, 10); });
    CHECK(result.steps == 1);
    CHECK(block.b[0] == doctest::Approx(2 / curvature));
    CHECK(block.b[1] == -block.b[0]);

    Block<double> bounded(2, 1);
    bounded.high_bound[0] = 0.25;
    assay::dispatch(
        [&](auto level) { return Inner<decltype(level), double>::run(bounded.view(), 1e-9, 10); });
    CHECK(bounded.b == std::vector<double>{0.25, -0.25});
}

TEST_CASE("a block at its step limit, and one that cannot move, end") {
    Block<double> block(40, 3);
    CHECK(assay::dispatch([&](auto level) {
              return Inner<decltype(level), double>::run(block.view(), 1e-12, 5);
          }).steps == 5);
    Block<double> stuck(4, 3);
    stuck.high_bound.assign(4, 0);
    stuck.low_bound.assign(4, 0);
    const auto result = assay::dispatch(
        [&](auto level) { return Inner<decltype(level), double>::run(stuck.view(), 1e-12, 5); });
    CHECK(result.steps == 0);
    CHECK(result.violation == 0);
}

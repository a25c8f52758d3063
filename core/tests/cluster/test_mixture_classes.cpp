#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "assay/cluster/mixture_classes.hpp"
#include "assay/common/random.hpp"

using namespace assay::cluster;
using assay::MatrixView;

TEST_CASE("sums over classes are those of plain loops, for any number of threads") {
    constexpr std::size_t n = 20000;
    constexpr std::size_t d = 5;
    assay::RandomStream random(3, 0);
    std::normal_distribution<float> normal(2.0F);
    std::vector<float> x(n * d);
    std::vector<std::int32_t> codes(n);
    for (std::size_t i = 0; i < n; ++i) {
        codes[i] = static_cast<std::int32_t>(i % 3);
        for (std::size_t j = 0; j < d; ++j) {
            x[i * d + j] = i % 11 == j ? std::nanf("") : normal(random);
        }
    }
    std::vector<double> sums(5 * 3 * d);
    const MatrixView<double> view{sums.data(), 5, 3 * d};
    class_sums(MatrixView<const float>{x.data(), n, d}, codes, {}, view, 1);
    double count = 0;
    double one = 0;
    double two = 0;
    for (std::size_t i = 1; i < n; i += 3) {
        const double value = x[i * d + 4];
        if (!std::isnan(value)) {
            count += 1;
            one += value;
            two += value * value;
        }
    }
    const std::size_t at = d + 4;
    CHECK(view(0, at) == count);
    CHECK(view(1, at) + view(2, at) == doctest::Approx(one).epsilon(1e-12));
    CHECK(view(3, at) + view(4, at) == doctest::Approx(two).epsilon(1e-12));

    std::vector<double> again(5 * 3 * d);
    class_sums(MatrixView<const float>{x.data(), n, d}, codes, {}, {again.data(), 5, 3 * d}, 2);
    CHECK(again == sums);
}

TEST_CASE("kernels around few points are padded with nothing, for any number of threads") {
    const std::vector<double> points = {0, 1, 5};
    const std::vector<double> weights = {1, 3, 2};
    std::vector<double> values(200);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<double>(i) / 20 - 2;
    }
    std::vector<double> one(200);
    std::vector<double> two(200);
    kernel_sums(values, points, weights, 0.5, one, 1);
    kernel_sums(values, points, weights, 0.5, two, 2);
    CHECK(one == two);
    for (std::size_t i = 0; i < values.size(); ++i) {
        double sum = 0;
        for (std::size_t t = 0; t < 3; ++t) {
            sum += weights[t] * std::exp(-2 * std::pow(values[i] - points[t], 2));
        }
        CHECK(one[i] == doctest::Approx(std::log(sum)).epsilon(1e-13));
    }
}

TEST_CASE("joint log-densities add up over the named columns only") {
    const std::vector<double> x = {1, 2, 3, 4, 5, 6};
    const std::vector<std::int64_t> columns = {2};
    const std::vector<double> base = {0.5, -0.5};
    const std::vector<double> mean = {3, 6};
    const std::vector<double> curve = {1, 2};
    const std::vector<double> constant = {10, 20};
    std::vector<double> out(4);
    class_joint(
        MatrixView<const double>{x.data(), 2, 3}, columns, base,
        MatrixView<const double>{mean.data(), 2, 1}, MatrixView<const double>{curve.data(), 2, 1},
        MatrixView<const double>{constant.data(), 2, 1}, MatrixView<double>{out.data(), 2, 2}, 1);
    CHECK(out == std::vector<double>{10.5, 1.5, 1.5, 19.5});
}

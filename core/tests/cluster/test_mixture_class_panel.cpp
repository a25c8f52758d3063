#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "assay/cluster/mixture_class_panel.hpp"
#include "assay/cluster/mixture_panel.hpp"
#include "assay/common/dispatch.hpp"

using namespace assay::cluster;

namespace {

template <class Call>
void at_every_level(Call&& call) {
    for (const auto level :
         {assay::CpuLevel::baseline, assay::CpuLevel::avx2, assay::CpuLevel::avx512}) {
        assay::limit_cpu(level);
        assay::dispatch([&](auto chosen) { call(ClassKernels<decltype(chosen), double>{}); });
    }
    assay::limit_cpu(std::nullopt);
}

}  // namespace

TEST_CASE("sums keep what doubles lose") {
    // 1e8 + tiny: the squares need more than 53 bits, the sum of both parts has them.
    constexpr std::size_t d = 9;
    std::vector<double> x(4 * d);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = 1e8 + static_cast<double>(i % 7) / 1024;
    }
    x[d] = std::nan("");
    const std::vector<std::int32_t> codes = {0, 1, 0, 1};
    std::vector<double> bits;
    at_every_level([&](auto kernels) {
        std::vector<double> sums(5 * 2 * d);
        kernels.add(x.data(), d, d, 4, codes.data(), nullptr, sums.data(), 2 * d);
        CHECK(sums[d] == 1);      // class 1, column 0: one of two values is missing
        CHECK(sums[d + 1] == 2);  // column 1: both
        const long double a = x[d + 1];
        const long double b = x[3 * d + 1];
        CHECK(sums[2 * d + d + 1] == static_cast<double>(a + b));
        // The squares, exactly: 2e16 + 2e8 (u + v) + u^2 + v^2.
        const double u = x[d + 1] - 1e8;
        const double v = x[3 * d + 1] - 1e8;
        const double high = sums[3 * 2 * d + d + 1];
        const double low = sums[4 * 2 * d + d + 1];
        CHECK((high - 2e16) + low == doctest::Approx(2e8 * (u + v) + u * u + v * v).epsilon(1e-15));
        if (bits.empty()) {
            bits = sums;
        }
        CHECK(sums == bits);
    });
}

TEST_CASE("a weight counts a row that often") {
    const std::vector<double> x = {0.1, 0.7, 0.3, 0.9};
    const std::vector<std::int32_t> codes = {0, 0, 0, 0};
    const std::vector<double> weights = {1, 2, 3, 4};
    at_every_level([&](auto kernels) {
        std::vector<double> once(5);
        std::vector<double> often(5);
        kernels.add(x.data(), 1, 1, 4, codes.data(), weights.data(), once.data(), 1);
        for (std::size_t i = 0; i < 4; ++i) {
            for (std::size_t t = 0; t <= i; ++t) {
                kernels.add(x.data() + i, 1, 1, 1, codes.data(), nullptr, often.data(), 1);
            }
        }
        CHECK(once[0] == 10);
        CHECK(once[1] + once[2] == doctest::Approx(often[1] + often[2]).epsilon(1e-15));
        CHECK(once[3] + once[4] == doctest::Approx(often[3] + often[4]).epsilon(1e-15));
    });
}

TEST_CASE("sums of kernels are those of the formula, also far from every point") {
    const std::vector<double> points = {-1, 0, 0.5, 2, 3, 3, 3, 3};
    const std::vector<double> weights = {1, 2, 0.5, 1, 1, 0, 0, 0};
    std::vector<double> bits;
    for (const auto level :
         {assay::CpuLevel::baseline, assay::CpuLevel::avx2, assay::CpuLevel::avx512}) {
        assay::limit_cpu(level);
        std::vector<double> found;
        for (const double x : {-4.0, 0.3, 3.0, 1e6}) {
            found.push_back(assay::dispatch([&](auto chosen) {
                return KernelSum<decltype(chosen)>::run(points.data(), weights.data(), 8, x, 2.0);
            }));
        }
        double sum = 0;
        for (std::size_t i = 0; i < 5; ++i) {
            sum += weights[i] * std::exp(-0.5 * std::pow((0.3 - points[i]) * 2, 2));
        }
        CHECK(found[1] == doctest::Approx(std::log(sum)).epsilon(1e-14));
        CHECK(found[3] == doctest::Approx(-0.5 * std::pow((1e6 - 3) * 2, 2)).epsilon(1e-14));
        if (bits.empty()) {
            bits = found;
        }
        CHECK(found == bits);
    }
    assay::limit_cpu(std::nullopt);
}

TEST_CASE("a missing value says nothing about a class") {
    std::vector<double> x(2 * panel_rows, 1.0);
    x[panel_rows + 3] = std::nan("");
    const double mean[] = {0.0, 3.0};
    const double curve[] = {0.5, 2.0};
    const double constant[] = {-1.0, -2.0};
    at_every_level([&](auto kernels) {
        std::vector<double> out(panel_rows, 10.0);
        kernels.joint(x.data(), 2, mean, curve, constant, out.data());
        CHECK(out[0] == 10 - 1.5 - 10);
        CHECK(out[3] == 10 - 1.5);
    });
}

#include <doctest/doctest.h>

#include <vector>

#include "assay/svm/decide.hpp"
#include "samples.hpp"

using namespace assay::svm;
using assay::MatrixView;

TEST_CASE("decide is the weighted sum of kernel values, alone or among other rows") {
    constexpr std::size_t n = 300;
    constexpr std::size_t m = 70;
    constexpr std::size_t d = 5;
    const auto X = samples::normal<double>(n * d, 1);
    const auto V = samples::normal<double>(m * d, 2);
    auto coef = samples::normal<double>(3 * m, 3);
    std::fill(coef.begin() + m, coef.begin() + 2 * m, 0.0);
    const std::vector<double> bias = {0.5, -1, 2};
    const DenseRows<double> vectors{MatrixView<const double>{V.data(), m, d}};
    for (const KernelFunction& k : samples::kernels) {
        std::vector<double> out(3 * n);
        decide<double>(k, DenseRows<double>{MatrixView<const double>{X.data(), n, d}}, vectors,
                       {coef.data(), 3, m}, bias, {out.data(), 3, n}, 2);
        for (std::size_t i = 0; i < n; i += 13) {
            std::vector<double> alone(3);
            decide<double>(k, DenseRows<double>{MatrixView<const double>{X.data() + i * d, 1, d}},
                           vectors, {coef.data(), 3, m}, bias, {alone.data(), 3, 1}, 1);
            for (std::size_t o = 0; o < 3; ++o) {
                double expected = bias[o];
                for (std::size_t v = 0; v < m; ++v) {
                    expected +=
                        coef[o * m + v] * samples::value(k, V.data() + v * d, X.data() + i * d, d);
                }
                CHECK(out[o * n + i] == doctest::Approx(expected).epsilon(1e-11));
                CHECK(out[o * n + i] == alone[o]);
            }
        }
    }
}

TEST_CASE("a slice of the kernel matrix is the matrix of the slice") {
    constexpr std::size_t n = 90;
    constexpr std::size_t d = 5;
    const auto X = samples::normal<double>(n * d, 1);
    const DenseRows<float> rows{MatrixView<const double>{X.data(), n, d}};
    const std::vector<std::uint32_t> some = {88, 2, 31};
    const auto part = rows.take(some);
    for (const KernelFunction& k : samples::kernels) {
        std::vector<float> all(n * n);
        std::vector<float> few(some.size() * some.size());
        kernel_matrix<float>(k, rows, rows, {all.data(), n, n}, 2);
        kernel_matrix<float>(k, *part, *part, {few.data(), some.size(), some.size()}, 1);
        std::vector<float> mirrored(n * n);
        kernel_matrix<float>(k, rows, rows, {mirrored.data(), n, n}, 2, true);
        CHECK(mirrored == all);
        KernelFunction plain = k;
        plain.kind = k.needs_distance() ? KernelKind::distance : KernelKind::precomputed;
        std::vector<float> shaped(n * n);
        std::vector<float> raw(n * n);
        kernel_matrix<float>(plain, rows, rows, {raw.data(), n, n}, 1);
        shape_values<float>(k, raw, shaped, 2);
        CHECK(shaped == all);
        for (std::size_t i = 0; i < some.size(); ++i) {
            for (std::size_t j = 0; j < some.size(); ++j) {
                CHECK(few[i * some.size() + j] == all[some[i] * n + some[j]]);
            }
        }
    }
}

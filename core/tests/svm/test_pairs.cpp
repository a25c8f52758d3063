#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "assay/svm/decide.hpp"
#include "assay/svm/pairs.hpp"
#include "samples.hpp"

using namespace assay::svm;
using assay::MatrixView;

TEST_CASE("every pair is the machine of its two classes, for any number of threads") {
    constexpr std::size_t n = 240;
    constexpr std::size_t d = 3;
    constexpr std::size_t n_classes = 4;
    auto X = samples::normal<double>(n * d, 31);
    std::vector<std::int32_t> codes(n);
    for (std::size_t i = 0; i < n; ++i) {
        codes[i] = static_cast<std::int32_t>((i * 7) % n_classes);
        X[i * d] += codes[i];
    }
    const std::vector<double> ones(n, 1.0);
    const MatrixView<const double> upper{ones.data(), 1, n};
    const Table table = MatrixView<const double>{X.data(), n, d};
    const KernelFunction k = samples::kernels[3];
    const Machine machine(table, k, {});
    std::vector<double> coef(n * (n_classes - 1));
    const auto results =
        solve_pairs(machine, codes, n_classes, upper, {coef.data(), n, n_classes - 1}, 1);
    std::vector<double> again(coef.size());
    solve_pairs(machine, codes, n_classes, upper, {again.data(), n, n_classes - 1}, 2);
    CHECK(coef == again);
    REQUIRE(results.size() == 6);

    std::size_t pair = 0;
    for (std::int32_t a = 0; a < 4; ++a) {
        for (std::int32_t b = a + 1; b < 4; ++b, ++pair) {
            std::vector<double> rows;
            std::vector<double> target;
            std::vector<double> expected;
            for (const std::int32_t own : {a, b}) {
                for (std::size_t i = 0; i < n; ++i) {
                    if (codes[i] == own) {
                        rows.insert(rows.end(), X.begin() + static_cast<std::ptrdiff_t>(i * d),
                                    X.begin() + static_cast<std::ptrdiff_t>((i + 1) * d));
                        target.push_back(own == a ? 1 : -1);
                        const auto column = static_cast<std::size_t>(own == a ? b - 1 : a);
                        expected.push_back(coef[i * (n_classes - 1) + column]);
                    }
                }
            }
            const std::size_t m = target.size();
            std::vector<double> low(m);
            std::vector<double> high(m);
            std::vector<double> weight(m);
            std::vector<double> f(m);
            std::vector<std::int32_t> row_of(m);
            std::iota(row_of.begin(), row_of.end(), 0);
            for (std::size_t i = 0; i < m; ++i) {
                low[i] = target[i] > 0 ? 0 : -1;
                high[i] = target[i] > 0 ? 1 : 0;
            }
            const Table own = MatrixView<const double>{rows.data(), m, d};
            const SmoProblem problem{target, low, high, row_of};
            Machine(own, k, {}).solve({}, problem, weight, f);
            CHECK(weight == expected);
            CHECK(results[pair].proof.objective ==
                  doctest::Approx(certify(problem, weight, f).objective).epsilon(1e-9));
        }
    }
}

TEST_CASE("many prices over known kernel values are one run each, to the bit") {
    constexpr std::size_t n = 150;
    constexpr std::size_t d = 4;
    constexpr std::size_t n_classes = 3;
    auto X = samples::normal<double>(n * d, 33);
    std::vector<std::int32_t> codes(n);
    for (std::size_t i = 0; i < n; ++i) {
        codes[i] = static_cast<std::int32_t>((i * 5) % n_classes);
        X[i * d] += codes[i];
    }
    const Table table = MatrixView<const double>{X.data(), n, d};
    for (const std::size_t block : {16U, 512U}) {  // many rounds, or one
        for (const KernelFunction& k : {samples::kernels[0], samples::kernels[3]}) {
            std::vector<float> values(n * n);
            std::vector<double> exact(n * n);
            const auto rows = make_rows<float>(table);
            kernel_matrix<float>(k, *rows, *rows, {values.data(), n, n}, 1);
            const auto wide = make_rows<double>(table);
            kernel_matrix<double>(k, *wide, *wide, {exact.data(), n, n}, 1);
            SmoOptions options;
            options.block = block;
            const Machine known(table, k, options, {values.data(), n, n}, {exact.data(), n, n});
            const Machine plain(table, k, options);
            CHECK(known.is_known());
            CHECK(!plain.is_known());
            std::vector<double> upper(3 * n, 0.1);
            std::fill(upper.begin() + n, upper.begin() + 2 * n, 1.0);
            std::fill(upper.begin() + 2 * n, upper.end(), 10.0);
            std::vector<double> together(3 * n * (n_classes - 1));
            const auto results = solve_pairs(known, codes, n_classes, {upper.data(), 3, n},
                                             {together.data(), 3 * n, n_classes - 1}, 2);
            REQUIRE(results.size() == 9);
            for (std::size_t c = 0; c < 3; ++c) {
                std::vector<double> alone(n * (n_classes - 1));
                const auto own = solve_pairs(plain, codes, n_classes, {upper.data() + c * n, 1, n},
                                             {alone.data(), n, n_classes - 1}, 1);
                const auto* from = together.data() + c * alone.size();
                CHECK(std::equal(alone.begin(), alone.end(), from));
                for (std::size_t p = 0; p < 3; ++p) {
                    CHECK(own[p].proof.bias == results[c * 3 + p].proof.bias);
                    CHECK(own[p].proof.gap == results[c * 3 + p].proof.gap);
                    CHECK(own[p].machine.run.steps == results[c * 3 + p].machine.run.steps);
                }
            }
        }
    }
}

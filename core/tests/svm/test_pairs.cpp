#include <doctest/doctest.h>

#include <numeric>
#include <vector>

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
    const std::vector<double> upper(n, 1.0);
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

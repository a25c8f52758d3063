#include <doctest/doctest.h>

#include <vector>

#include "assay/svm/kernel_sum.hpp"
#include "samples.hpp"

using namespace assay::svm;
using assay::MatrixView;

TEST_CASE_TEMPLATE("sums of kernel rows do not depend on threads, cache or level", T, float,
                   double) {
    constexpr std::size_t n = 1100;
    constexpr std::size_t d = 4;
    const auto X = samples::normal<T>(n * d, 7);
    const DenseRows<T> rows{MatrixView<const T>{X.data(), n, d}};
    const KernelFunction k = samples::kernels[3];
    std::vector<std::uint32_t> which;
    for (std::uint32_t i = 0; i < 75; ++i) {
        which.push_back((i * 17) % std::uint32_t{n});
    }
    const auto coef = samples::normal<double>(which.size(), 8);
    std::vector<double> expected(n);
    for (std::size_t r = 0; r < which.size(); ++r) {
        for (std::size_t j = 0; j < n; ++j) {
            expected[j] +=
                coef[r] * samples::value(k, X.data() + which[r] * d, X.data() + j * d, d);
        }
    }
    std::vector<double> first(n);
    add_kernel_rows<T>(k, rows, rows, which, coef, first, 1);
    for (std::size_t j = 0; j < n; ++j) {
        CHECK(first[j] == doctest::Approx(expected[j]).epsilon(sizeof(T) == 4 ? 1e-4 : 1e-12));
    }
    samples::at_every_level([&] {
        for (const std::size_t slots : {0U, 5U, 70U, 200U}) {
            RowCache<T> cache(n, rows.padded(), slots * rows.padded() * sizeof(T));
            for (const std::size_t computed :
                 {which.size(), which.size() - std::min<std::size_t>(slots, 75)}) {
                std::vector<double> sum(n);
                CHECK(add_kernel_rows<T>(k, rows, rows, which, coef, sum, cache, 2) == computed);
                CHECK(sum == first);
            }
        }
    });
}

#include <doctest/doctest.h>

#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/gram.hpp"
#include "small_tables.hpp"

TEST_CASE("add_gram sums products of packed rows, the same bits for any number of threads") {
    reference::provide();
    const assay::BlasScope scope;
    for (const std::size_t n : {1U, 70U, 5000U}) {
        const std::size_t k = 7;
        const auto rows = small_tables::numbers<double>(n * k, n);
        const auto pack = [&](assay::Range range, double* out) {
            std::copy(rows.begin() + static_cast<std::ptrdiff_t>(range.begin * k),
                      rows.begin() + static_cast<std::ptrdiff_t>(range.end * k), out);
        };
        std::vector<double> one(k * k, 0.0);
        std::vector<double> three(k * k, 0.0);
        assay::linear::add_gram(n, k, pack, {one.data(), k, k}, 1);
        assay::linear::add_gram(n, k, pack, {three.data(), k, k}, 3);
        CHECK(one == three);
        for (std::size_t a = 0; a < k; ++a) {
            for (std::size_t b = 0; b <= a; ++b) {
                double sum = 0;
                for (std::size_t i = 0; i < n; ++i) {
                    sum += rows[i * k + a] * rows[i * k + b];
                }
                CHECK(one[a * k + b] == doctest::Approx(sum).epsilon(1e-10));
            }
        }
    }
}

TEST_CASE("partial sums of a gram never take more than their share of memory") {
    using namespace assay::linear::detail;
    for (const std::size_t k : {1U, 100U, 3000U, 20000U}) {
        CHECK(part_count(1000000, k) >= 1);
        CHECK(
            (part_count(1000000, k) == 1 || part_count(1000000, k) * k * k <= max_partial_numbers));
    }
}

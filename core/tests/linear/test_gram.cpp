#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/gram.hpp"
#include "small_tables.hpp"

namespace {

struct Shape {
    std::size_t n;
    std::size_t k;
};

}  // namespace

TEST_CASE("add_gram sums products of packed rows, the same bits for any number of threads") {
    reference::provide();
    const assay::BlasScope scope;
    // Narrow tables have a loop of their own, wide ones go to BLAS.
    for (const auto& [n, k] : {Shape{1, 7}, Shape{70, 7}, Shape{5000, 7}, Shape{100, 26},
                               Shape{5, assay::linear::detail::own_columns + 3}}) {
        const auto rows = small_tables::numbers<double>(n * k, n);
        const auto pack = [&, k = k](assay::Range range, double* out, std::size_t stride) {
            for (std::size_t i = range.begin; i < range.end; ++i) {
                std::copy_n(rows.data() + i * k, k, out + (i - range.begin) * stride);
            }
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

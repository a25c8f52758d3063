#include <doctest/doctest.h>

#include <vector>

#include "assay/linear/svc_rows.hpp"
#include "descent_table.hpp"

using namespace assay;
using namespace assay::linear;

TEST_CASE("packed rows give plain sums, for any number of threads and at every level") {
    const testing::Table table(3000, 5);
    const SvcRows rows(table.dense(), 2.0);
    CHECK(rows.cols() == 6);
    CHECK(rows.stride() == 8);
    std::vector<double> w = {1, -2, 0.5, 3, 0.25, -1, 0, 0};
    std::vector<double> f(3000), g(8), h(64);
    rows.dots(w, f, 1);
    rows.combine(table.values, g, 1);
    rows.gram(table.s, h, 1);
    const auto at = [&](std::size_t i, std::size_t j) { return j < 5 ? table.X[i * 5 + j] : 2.0; };
    double score = 0;
    for (std::size_t j = 0; j < 6; ++j) {
        score += w[j] * at(17, j);
        double sum = 0;
        for (std::size_t i = 0; i < 3000; ++i) {
            sum += table.values[i] * at(i, j);
        }
        CHECK(g[j] == doctest::Approx(sum));
        for (std::size_t k = 0; k <= j; ++k) {
            double product = 0;
            for (std::size_t i = 0; i < 3000; ++i) {
                product += table.s[i] * at(i, j) * at(i, k);
            }
            CHECK(h[j * 8 + k] == doctest::Approx(product));
        }
    }
    CHECK(f[17] == doctest::Approx(score));
    for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2}) {
        limit_cpu(level);
        std::vector<double> f2(3000), g2(8), h2(64);
        rows.dots(w, f2, 2);
        rows.combine(table.values, g2, 2);
        rows.gram(table.s, h2, 2);
        CHECK(f == f2);
        CHECK(g == g2);
        for (std::size_t j = 0; j < 6; ++j) {
            for (std::size_t k = 0; k <= j; ++k) {
                CHECK(h[j * 8 + k] == h2[j * 8 + k]);
            }
        }
    }
    limit_cpu(std::nullopt);
}

TEST_CASE("some columns, and CSR rows, are packed alike") {
    const testing::Table table(20, 6);
    const std::vector<std::size_t> columns = {1, 4, 6};
    const SvcRows some(table.sparse(), 3.0, columns);
    std::vector<double> w = {1, 10, 100, 0, 0, 0, 0, 0}, f(20);
    some.dots(w, f, 1);
    for (std::size_t i = 0; i < 20; ++i) {
        CHECK(f[i] == doctest::Approx(table.X[i * 6 + 1] + 10 * table.X[i * 6 + 4] + 300));
    }
}

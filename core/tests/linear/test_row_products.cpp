#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "assay/linear/row_products.hpp"
#include "descent_table.hpp"

using namespace assay;
using namespace assay::linear;

TEST_CASE("products of dense rows and of CSR rows agree with plain sums") {
    for (const std::size_t d : {1, 7, 8, 9, 16, 37}) {
        const testing::Table table(23, d);
        std::vector<double> w(d), u(table.n), f(table.n), g(d), g_sparse(d), f_sparse(table.n);
        RandomStream stream(5, d);
        for (double& x : w) {
            x = stream.normal();
        }
        for (double& x : u) {
            x = stream.normal();
        }
        scores(table.dense(), std::span<const double>(w), 0.7, std::span<double>(f));
        scores(table.sparse(), std::span<const double>(w), 0.7, std::span<double>(f_sparse));
        add_products(table.dense(), std::span<const double>(u), std::span<double>(g));
        add_products(table.sparse(), std::span<const double>(u), std::span<double>(g_sparse));
        for (std::size_t i = 0; i < table.n; ++i) {
            double sum = 0.7;
            for (std::size_t j = 0; j < d; ++j) {
                sum += table.X[i * d + j] * w[j];
            }
            CHECK(f[i] == doctest::Approx(sum).epsilon(1e-13));
            CHECK(f_sparse[i] == doctest::Approx(sum).epsilon(1e-13));
            CHECK(dot(table.dense(), i, std::span<const double>(w)) + 0.7 == f[i]);
        }
        for (std::size_t j = 0; j < d; ++j) {
            double sum = 0;
            for (std::size_t i = 0; i < table.n; ++i) {
                sum += table.X[i * d + j] * u[i];
            }
            CHECK(g[j] == doctest::Approx(sum).epsilon(1e-12).scale(1e-3));
            CHECK(g_sparse[j] == doctest::Approx(sum).epsilon(1e-12).scale(1e-3));
        }
    }
}

TEST_CASE("float32 rows are summed in float64") {
    const std::vector<float> X = {1e8F, 1, -1e8F, 0.25F, 3, 3, 3, 3, 3};
    const std::vector<double> w(9, 1.0);
    const MatrixView<const float> rows{X.data(), 1, 9};
    CHECK(dot(rows, 0, std::span<const double>(w)) == 16.25);
}

TEST_CASE("products have the same bits at every CPU level") {
    const testing::Table table(9, 29);
    const std::vector<double> w(table.values.begin(), table.values.begin() + 9);
    std::vector<std::vector<double>> found;
    for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
        limit_cpu(level);
        std::vector<double> g(29, 0.1), f(9);
        add_products(table.dense(), std::span<const double>(w), std::span<double>(g));
        scores(table.dense(), std::span<const double>(g), 0.0, std::span<double>(f));
        g.insert(g.end(), f.begin(), f.end());
        found.push_back(g);
    }
    limit_cpu(std::nullopt);
    CHECK(found[0] == found[1]);
    CHECK(found[0] == found[2]);
}

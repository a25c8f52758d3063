#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/features/relief_loops.hpp"
#include "relief_example.hpp"

using namespace assay::features;

TEST_CASE("add_gap and add_expected add one column") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> column{0, 0.25F, nan, 1, 0.5F, nan, 0.75F};
    std::vector<float> numeric(7, 1.0F), nominal(7, 1.0F);
    assay::dispatch([&](auto level) {
        using Loops = ReliefLoops<decltype(level)>;
        Loops::add_gap(0.5F, 0.125F, true, column.data(), 7, numeric.data());
        Loops::add_gap(0.5F, 0.125F, false, column.data(), 7, nominal.data());
        Loops::add_expected(column.data(), 2, nominal.data());
    });
    CHECK(numeric == std::vector<float>{1.5F, 1.25F, 1.125F, 1.5F, 1, 1.125F, 1.25F});
    CHECK(nominal == std::vector<float>{2, 2.25F, 1.125F, 2, 1, 1.125F, 2});
}

TEST_CASE("add_panels adds the differences of the columns for every number of queries") {
    for (const std::size_t n_queries : {1U, 2U, 7U, 8U, 19U}) {
        const testing::Example example({0, 32}, 300, 40);
        const auto table = example.table();
        std::vector<float> panels(2 * panel_rows * table.complete.cols);
        for (std::size_t i = 0; i < 32; ++i) {
            for (std::size_t a = 0; a < table.complete.cols; ++a) {
                panels[(i / panel_rows * table.complete.cols + a) * panel_rows + i % panel_rows] =
                    table.complete(i, a);
            }
        }
        std::vector<const float*> queries;
        for (std::size_t q = 0; q < n_queries; ++q) {
            queries.push_back(table.complete.row(q).data());
        }
        std::vector<float> distance(n_queries * 32, 0.0F);
        assay::dispatch([&](auto level) {
            ReliefLoops<decltype(level)>::add_panels(queries.data(), n_queries, panels.data(), 2,
                                                     300, 340, distance.data(), 32);
        });
        for (std::size_t q = 0; q < n_queries; ++q) {
            for (std::size_t j = 0; j < 32; ++j) {
                CHECK(distance[q * 32 + j] == doctest::Approx(example.distance(q, j)));
            }
        }
    }
}

TEST_CASE("add_weighted adds four weighted rows of differences") {
    const testing::Example example({0, 5}, 37, 21);
    const auto table = example.table();
    const float* rows[rows_together];
    const float weight[rows_together] = {0.5F, -0.25F, 0.125F, 1};
    for (std::size_t t = 0; t < rows_together; ++t) {
        rows[t] = table.complete.row(t + 1).data();
    }
    std::vector<double> total(58, 1.0);
    assay::dispatch([&](auto level) {
        ReliefLoops<decltype(level)>::add_weighted(table.complete.row(0).data(), rows, weight, 37,
                                                   58, total.data());
    });
    for (std::size_t a = 0; a < 58; ++a) {
        double sum = 1;
        for (std::size_t t = 0; t < rows_together; ++t) {
            sum += static_cast<double>(weight[t]) * example.difference(0, t + 1, a);
        }
        CHECK(total[a] == doctest::Approx(sum));
    }
}

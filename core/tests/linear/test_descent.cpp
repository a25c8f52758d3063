#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/linear/descent.hpp"
#include "descent_table.hpp"

using namespace assay;
using namespace assay::linear;

TEST_CASE("a frame has the means and variances of the columns") {
    const testing::Table table;
    const Frame frame = frame_of(table.dense(), table.s, None{}, true);
    const Frame sparse = frame_of(table.sparse(), table.s, None{}, true);
    for (std::size_t j = 0; j < table.d; ++j) {
        double mean = 0, variance = 0;
        for (std::size_t i = 0; i < table.n; ++i) {
            mean += table.s[i] * table.X[i * table.d + j];
        }
        for (std::size_t i = 0; i < table.n; ++i) {
            variance += table.s[i] * std::pow(table.X[i * table.d + j] - mean, 2);
        }
        CHECK(frame.mean[j] == doctest::Approx(mean));
        CHECK(frame.metric[j] == doctest::Approx(variance));
        CHECK(sparse.metric[j] == doctest::Approx(variance));
    }
    CHECK(frame_of(table.dense(), table.s, None{}, false).mean == std::vector<double>(table.d));
    const Frame even = frame_of(table.dense(), table.s, Norm{1, 2}, true);
    CHECK(even.metric.front() == even.metric.back());
}

TEST_CASE("an empty or constant column has a metric that can be divided by") {
    const std::vector<double> X = {0, 5, 1, 0, 5, 3}, s = {0.5, 0.5};
    const Frame frame = frame_of(MatrixView<const double>{X.data(), 2, 3}, s, None{}, true);
    CHECK(frame.metric == std::vector<double>{1, 25, 1});
}

TEST_CASE("patience ends a run without decrease") {
    Patience patience(0.1, 2);
    CHECK_FALSE(patience.is_over(10));
    CHECK_FALSE(patience.is_over(8));
    CHECK_FALSE(patience.is_over(7.9));
    CHECK(patience.is_over(7.8));
}

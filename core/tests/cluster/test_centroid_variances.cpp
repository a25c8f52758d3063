#include <doctest/doctest.h>

#include <vector>

#include "assay/cluster/centroid_variances.hpp"
#include "lloyd_table.hpp"

using namespace assay::cluster;

TEST_CASE("variances match their definition and do not depend on threads") {
    const Table rows = random_table(10000, 3, 4);
    std::vector<double> one(3);
    std::vector<double> two(3);
    column_variances(rows.view(), std::span<double>(one), 1);
    column_variances(rows.view(), std::span<double>(two), 2);
    CHECK(one == two);
    for (std::size_t j = 0; j < 3; ++j) {
        long double mean = 0;
        long double sum = 0;
        for (std::size_t i = 0; i < rows.n; ++i) {
            mean += rows.view()(i, j) / 10000.0L;
        }
        for (std::size_t i = 0; i < rows.n; ++i) {
            sum += (rows.view()(i, j) - mean) * (rows.view()(i, j) - mean);
        }
        CHECK(one[j] == doctest::Approx(static_cast<double>(sum / 10000)).epsilon(1e-12));
    }
}

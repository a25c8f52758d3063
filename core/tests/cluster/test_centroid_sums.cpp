#include <doctest/doctest.h>

#include <vector>

#include "assay/cluster/centroid_sums.hpp"
#include "lloyd_table.hpp"

using namespace assay::cluster;

TEST_CASE("rows taken away leave the bits of sums made anew, in any order") {
    const Table rows = random_table(200, 5, 1);
    const SumScale scale = sum_scale(rows.view(), {}, 1);
    REQUIRE(scale.exact);
    CentroidSums<Wide> changed(1, 5);
    CentroidSums<Wide> anew(1, 5);
    for (std::size_t i = 0; i < rows.n; ++i) {
        changed.add(0, rows.view().row(i).data(), 1, scale);
    }
    for (std::size_t i = rows.n; i-- > 100;) {
        changed.take(0, rows.view().row(i).data(), 1, scale);
    }
    for (std::size_t i = 100; i-- > 0;) {
        anew.add(0, rows.view().row(i).data(), 1, scale);
    }
    double one[5];
    double other[5];
    changed.mean(0, scale, false, one);
    anew.mean(0, scale, false, other);
    CHECK(changed.count(0) == 100);
    for (std::size_t j = 0; j < 5; ++j) {
        long double sum = 0;
        for (std::size_t i = 0; i < 100; ++i) {
            sum += rows.view()(i, j);
        }
        CHECK(one[j] == other[j]);
        CHECK(one[j] == doctest::Approx(static_cast<double>(sum / 100)).epsilon(1e-14));
    }
}

TEST_CASE("the mean of equal rows is the row") {
    const Table rows{3, 2, {0.1, 1e10, 0.1, 1e10, 0.1, 1e10}};
    const SumScale scale = sum_scale(rows.view(), {}, 1);
    CentroidSums<Wide> sums(1, 2);
    for (std::size_t i = 0; i < 3; ++i) {
        sums.add(0, rows.view().row(i).data(), 1, scale);
    }
    double mean[2];
    sums.mean(0, scale, false, mean);
    CHECK(mean[0] == 0.1);
    CHECK(mean[1] == 1e10);
}

TEST_CASE("columns of too wide a range are not summed as integers") {
    const auto exact = [](std::vector<double> column) {
        const Table rows{column.size(), 1, std::move(column)};
        return sum_scale(rows.view(), {}, 1).exact;
    };
    CHECK(exact({1e12, 1.0, 0.0}));
    CHECK(exact({0.0, 0.0}));
    CHECK_FALSE(exact({1e30, 1.0}));
    CHECK_FALSE(exact({1e-300, 1e-300}));
    CHECK(exact({1e300, -1e300}));
}

TEST_CASE("weights multiply rows and add up") {
    const Table rows{2, 1, {1.0, 4.0}};
    const std::vector<double> weight{3.0, 1.0};
    const SumScale scale = sum_scale<double>(rows.view(), weight, 1);
    CentroidSums<Wide> part(1, 1);
    CentroidSums<Wide> whole(1, 1);
    for (std::size_t i = 0; i < 2; ++i) {
        part.add(0, rows.view().row(i).data(), weight[i], scale);
        whole.absorb(part);
    }
    double mean = 0;
    whole.mean(0, scale, true, &mean);
    CHECK(mean == 1.75);
    CHECK(whole.mass(0, scale) == 4);
    CHECK(part.count(0) == 0);
}

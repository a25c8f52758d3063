#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "assay/cluster/centroid_panels.hpp"
#include "assay/cluster/seed_scan.hpp"
#include "assay/common/dispatch.hpp"
#include "lloyd_table.hpp"

using namespace assay::cluster;

TEST_CASE("take keeps the least distance, and costs are what it would leave") {
    const Table rows = random_table(100, 5, 1);
    const Table offered = random_table(8, 5, 2);
    std::vector<double> nearest(100, 6.0);
    std::vector<std::int32_t> home(100, 0);
    std::vector<double> panel(5 * lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
        for (std::size_t j = 0; j < 5; ++j) {
            panel[j * lanes + l] = offered.view()(l, j);
        }
    }
    const double keep = 0;
    std::vector<double> costs(lanes);
    assay::dispatch([&](auto level) {
        SeedScan<decltype(level), double>::costs(rows.values.data(), 100, 5, panel.data(), 1, &keep,
                                                 nearest.data(), home.data(), nullptr,
                                                 costs.data());
    });
    for (std::size_t l = 0; l < lanes; ++l) {
        std::vector<double> after = nearest;
        std::vector<std::int32_t> at = home;
        const double total = assay::dispatch([&](auto level) {
            return SeedScan<decltype(level), double>::take(rows.values.data(), 100, 5,
                                                           offered.view().row(l).data(), 1, &keep,
                                                           after.data(), at.data(), nullptr);
        });
        CHECK(costs[l] == doctest::Approx(total).epsilon(1e-12));
        for (std::size_t i = 0; i < 100; ++i) {
            const double squared =
                assay::squared_distance<double>(rows.view().row(i), offered.view().row(l));
            CHECK(after[i] == std::min(6.0, squared));
            CHECK(at[i] == (squared < 6.0 ? 1 : 0));
        }
    }
}

TEST_CASE("rows below the threshold of their seed are not looked at") {
    const Table rows = random_table(10, 2, 3);
    std::vector<double> nearest(10, 1.0);
    std::vector<std::int32_t> home(10, 0);
    const double keep = 2.0;
    const double total = assay::dispatch([&](auto level) {
        return SeedScan<decltype(level), double>::take(rows.values.data(), 10, 2,
                                                       rows.values.data(), 1, &keep, nearest.data(),
                                                       home.data(), nullptr);
    });
    CHECK(total == 10);
}

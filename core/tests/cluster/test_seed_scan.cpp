#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "assay/cluster/centroid_panels.hpp"
#include "assay/cluster/seed_scan.hpp"
#include "assay/common/dispatch.hpp"
#include "lloyd_table.hpp"

using namespace assay::cluster;

TEST_CASE("costs take the seed in lane 0, and are what each other lane would leave") {
    const std::size_t n = 101;
    const std::size_t d = 5;
    const Table rows = random_table(n, d, 1);
    const Table offered = random_table(2 * lanes, d, 2);
    for (const std::size_t n_panels : {1UL, 2UL}) {
        for (const bool weighted : {false, true}) {
            std::vector<double> panels(n_panels * d * lanes);
            for (std::size_t l = 0; l < n_panels * lanes; ++l) {
                for (std::size_t j = 0; j < d; ++j) {
                    panels[(l / lanes * d + j) * lanes + l % lanes] = offered.view()(l, j);
                }
            }
            std::vector<double> weight(n);
            for (std::size_t i = 0; i < n; ++i) {
                weight[i] = 0.5 + static_cast<double>(i % 3);
            }
            const double* const w = weighted ? weight.data() : nullptr;
            const double keep[2] = {0, 0};
            std::vector<double> nearest(n, 6.0);
            std::vector<std::int32_t> home(n, 0);
            std::vector<double> costs(n_panels * lanes);
            assay::dispatch([&](auto level) {
                SeedScan<decltype(level), double>::costs(rows.values.data(), n, d, panels.data(),
                                                         n_panels, 1, keep, nearest.data(),
                                                         home.data(), w, costs.data());
            });
            for (std::size_t i = 0; i < n; ++i) {
                const double squared =
                    assay::squared_distance<double>(rows.view().row(i), offered.view().row(0));
                CHECK(nearest[i] == std::min(6.0, squared));
                CHECK(home[i] == (squared < 6.0 ? 1 : 0));
            }
            for (std::size_t l = 0; l < costs.size(); ++l) {
                std::vector<double> after = nearest;
                std::vector<std::int32_t> at = home;
                const double total = assay::dispatch([&](auto level) {
                    return SeedScan<decltype(level), double>::take(
                        rows.values.data(), n, d, offered.view().row(l).data(), 2, keep,
                        after.data(), at.data(), w);
                });
                CHECK(costs[l] == doctest::Approx(total).epsilon(1e-12));
                for (std::size_t i = 0; i < n; ++i) {
                    const double squared =
                        assay::squared_distance<double>(rows.view().row(i), offered.view().row(l));
                    CHECK(after[i] == std::min(nearest[i], squared));
                    CHECK(at[i] == (squared < nearest[i] ? 2 : home[i]));
                }
            }
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

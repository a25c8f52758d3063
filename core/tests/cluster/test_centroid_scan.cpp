#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "assay/cluster/bounds.hpp"
#include "assay/cluster/centroid_scan.hpp"
#include "assay/cluster/kmeans.hpp"
#include "assay/common/dispatch.hpp"
#include "lloyd_table.hpp"

using namespace assay::cluster;

TEST_CASE("nearest is brute force, ties to the smallest centre") {
    for (const bool ties : {false, true}) {
        for (const std::size_t d : {1U, 2U, 7U, 8U, 9U, 16U, 21U}) {
            for (const std::size_t k : {1U, 3U, 8U, 20U}) {
                const Table rows = random_table(60, d, d + k, ties);
                const Table centres = random_table(k, d, d * k + 1, ties);
                const CentroidPanels panels(centres.view());
                const ScanTable table = scan_table(panels, centres.view());
                std::vector<std::int32_t> label(rows.n);
                std::vector<double> best(rows.n);
                std::vector<double> second(rows.n);
                std::vector<double> own(rows.n);
                std::vector<double> all(rows.n * panels.size() * lanes);
                assay::dispatch([&](auto level) {
                    using Scan = CentroidScan<decltype(level), double>;
                    Scan::nearest(rows.values.data(), rows.n, table, label.data(), best.data(),
                                  second.data());
                    Scan::own(rows.values.data(), rows.n, table, label.data(), own.data());
                    Scan::all(rows.values.data(), rows.n, table, all.data());
                });
                for (std::size_t i = 0; i < rows.n; ++i) {
                    const Nearest expected = brute_nearest(rows.view().row(i), centres.view());
                    CHECK(label[i] == expected.label);
                    CHECK(best[i] == expected.best);
                    CHECK(second[i] == expected.second);
                    CHECK(own[i] == expected.best);
                    for (std::size_t place = 0; place < panels.size() * lanes; ++place) {
                        const auto c = static_cast<std::size_t>(panels.index()[place]);
                        if (c < k) {
                            CHECK(all[i * panels.size() * lanes + place] ==
                                  assay::squared_distance<double>(rows.view().row(i),
                                                                  centres.view().row(c)));
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("gaps are lower bounds of the distance to other centres in a panel, and tight") {
    const Table centres = random_table(30, 4, 3);
    const CentroidPanels panels(centres.view());
    const ScanTable table = scan_table(panels, centres.view());
    std::vector<double> gaps(30 * panels.size());
    assay::dispatch([&](auto level) {
        CentroidGaps<decltype(level)>::run(centres.values.data(), 0, 30, table, gaps.data());
    });
    for (std::size_t a = 0; a < 30; ++a) {
        for (std::size_t g = 0; g < panels.size(); ++g) {
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t l = 0; l < lanes; ++l) {
                const auto c = static_cast<std::size_t>(panels.index()[g * lanes + l]);
                if (c < 30 && c != a) {
                    least = std::min(least, assay::squared_distance<double>(centres.view().row(a),
                                                                            centres.view().row(c)));
                }
            }
            CHECK(gaps[a * panels.size() + g] <= std::sqrt(least));
            CHECK(gaps[a * panels.size() + g] >= std::sqrt(least) * (1 - 1e-12));
        }
    }
}

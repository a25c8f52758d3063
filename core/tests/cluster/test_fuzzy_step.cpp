#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/cluster/fuzzy_step.hpp"
#include "assay/cluster/kmeans.hpp"
#include "assay/common/dispatch.hpp"
#include "lloyd_table.hpp"

using namespace assay::cluster;

TEST_CASE("memberships follow the formula; a row on a centre belongs to it alone") {
    for (const double m : {1.5, 2.0, 3.0}) {
        Table rows = random_table(30, 3, 4);
        const Table centres = random_table(5, 3, 5);
        std::copy_n(centres.values.data() + 3, 3, rows.values.data());
        const CentroidPanels panels(centres.view());
        const ScanTable table = scan_table(panels, centres.view());
        std::vector<double> share(31 * lanes);
        assay::dispatch([&](auto level) {
            FuzzyStep<decltype(level), double>::memberships(rows.values.data(), 30, table,
                                                            {m, false}, share.data());
        });
        for (std::size_t i = 0; i < 30; ++i) {
            for (std::size_t place = 0; place < lanes; ++place) {
                const auto c = static_cast<std::size_t>(panels.index()[place]);
                if (c >= 5) {
                    CHECK(share[i * lanes + place] == 0);
                    continue;
                }
                double sum = 0;
                const auto distance = [&](std::size_t k) {
                    return std::sqrt(
                        assay::squared_distance<double>(rows.view().row(i), centres.view().row(k)));
                };
                for (std::size_t k = 0; k < 5; ++k) {
                    sum += std::pow(distance(c) / distance(k), 2 / (m - 1));
                }
                const double expected = i == 0 ? (c == 1 ? 1.0 : 0.0) : 1 / sum;
                CHECK(share[i * lanes + place] == doctest::Approx(expected).epsilon(1e-10));
            }
        }
    }
}

TEST_CASE("gathered sums are those of the memberships") {
    const Table rows = random_table(20, 2, 6);
    const Table centres = random_table(3, 2, 7);
    const CentroidPanels panels(centres.view());
    const ScanTable table = scan_table(panels, centres.view());
    for (const bool literal : {false, true}) {
        std::vector<double> share(21 * lanes);
        std::vector<double> mass(lanes);
        std::vector<double> moments(2 * lanes);
        std::vector<double> scratch(2 * lanes);
        FuzzySums sums{mass.data(), moments.data(), 0};
        assay::dispatch([&](auto level) {
            using Step = FuzzyStep<decltype(level), double>;
            Step::memberships(rows.values.data(), 20, table, {2, literal}, share.data());
            Step::gather(rows.values.data(), 20, table, {2, literal}, nullptr, scratch.data(),
                         sums);
        });
        double objective = 0;
        for (std::size_t place = 0; place < lanes; ++place) {
            double expected = 0;
            double moment = 0;
            const auto c = static_cast<std::size_t>(panels.index()[place]);
            for (std::size_t i = 0; i < 20; ++i) {
                const double p = share[i * lanes + place];
                expected += literal ? p : p * p;
                moment += (literal ? p : p * p) * rows.view()(i, 1);
                objective += c < 3 ? p * p *
                                         assay::squared_distance<double>(rows.view().row(i),
                                                                         centres.view().row(c))
                                   : 0;
            }
            CHECK(mass[place] == doctest::Approx(expected));
            CHECK(moments[lanes + place] == doctest::Approx(moment));
        }
        CHECK(sums.objective == doctest::Approx(objective));
    }
}

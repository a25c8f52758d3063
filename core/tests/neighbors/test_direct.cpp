#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/random.hpp"
#include "assay/neighbors/direct.hpp"
#include "assay/neighbors/panels.hpp"

using namespace assay::neighbors;
using assay::MatrixView;

TEST_CASE("direct gives the sums of distance.hpp bit for bit, in order of rows") {
    assay::RandomStream stream(2, 0);
    constexpr std::size_t n = 96;
    for (const double p : {2.0, 1.0, std::numeric_limits<double>::infinity(), 3.0, 1.5, 1.7}) {
        for (const std::size_t d : {1U, 2U, 7U, 8U, 9U, 16U, 21U}) {
            std::vector<double> values((n + group_width) * d);
            for (double& value : values) {
                value = stream.normal();
            }
            const MatrixView<const double> rows{values.data(), n, d};
            const MatrixView<const double> queries{values.data() + n * d, group_width, d};
            ExactPanels panels(n, d, panel_width);
            panels.pack(rows, 1);
            ExactPanels group(group_width, d, group_width);
            group.pack(queries, 1);
            assay::with_metric(p, [&](auto metric) {
                std::vector<double> limit(group_width, std::numeric_limits<double>::infinity());
                limit[3] = assay::reduced_distance(metric, queries.row(3), rows.row(50));
                limit[4] = -1;
                std::vector<DirectHit> hits(n * group_width);
                const std::size_t n_hits = assay::dispatch([&](auto level) {
                    return Direct<decltype(level), decltype(metric)>::run(
                        metric, group.from(0), panels.from(0), d, n / panel_width, limit.data(),
                        hits.data());
                });
                std::size_t expected = 0;
                for (std::size_t q = 0; q < group_width; ++q) {
                    std::vector<DirectHit> found;
                    for (std::size_t h = 0; h < n_hits; ++h) {
                        if (hits[h].query == q) {
                            found.push_back(hits[h]);
                        }
                    }
                    std::size_t t = 0;
                    for (std::size_t r = 0; r < n; ++r) {
                        const double sum =
                            assay::reduced_distance(metric, queries.row(q), rows.row(r));
                        if (sum <= limit[q]) {
                            REQUIRE(t < found.size());
                            CHECK(found[t].row == r);
                            CHECK(found[t].reduced == sum);
                            ++t;
                            ++expected;
                        }
                    }
                }
                CHECK(n_hits == expected);
            });
        }
    }
}

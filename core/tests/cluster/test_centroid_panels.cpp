#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/cluster/centroid_panels.hpp"
#include "lloyd_table.hpp"

using namespace assay::cluster;

TEST_CASE("panels hold every centre once, and infinity behind the last") {
    for (const std::size_t k : {1U, 7U, 8U, 9U, 50U, 133U}) {
        const Table centres = random_table(k, 3, k);
        const CentroidPanels panels(centres.view());
        CHECK(panels.size() == (k + 7) / 8);
        std::vector<int> seen(k);
        for (std::size_t place = 0; place < panels.size() * lanes; ++place) {
            const auto c = static_cast<std::size_t>(panels.index()[place]);
            for (std::size_t j = 0; j < 3; ++j) {
                const double value =
                    panels.values()[(place / lanes * 3 + j) * lanes + place % lanes];
                CHECK((c < k ? value == centres.view()(c, j) : std::isinf(value)));
            }
            if (c < k) {
                ++seen[c];
                CHECK(panels.panel_of()[c] == static_cast<std::int32_t>(place / lanes));
            }
        }
        CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
    }
}

TEST_CASE("panels hold neighbours: on a line each panel is a stretch of it") {
    Table centres{64, 1, {}};
    for (std::size_t c = 0; c < 64; ++c) {
        centres.values.push_back(static_cast<double>(c * 37 % 64));
    }
    const CentroidPanels panels(centres.view());
    for (std::size_t g = 0; g < 8; ++g) {
        const double* first = panels.values() + g * lanes;
        CHECK(*std::max_element(first, first + lanes) ==
              *std::min_element(first, first + lanes) + 7);
    }
}

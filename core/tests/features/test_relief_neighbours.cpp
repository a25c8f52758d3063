#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/features/relief_neighbours.hpp"

using namespace assay::features;

TEST_CASE("nearest are the first of a stable sort, without the row itself") {
    assay::RandomStream stream(3, 0);
    for (std::size_t n = 1; n < 40; ++n) {
        std::vector<float> distance(n);
        for (float& value : distance) {
            value = static_cast<float>(stream.below(std::uint32_t{5}));  // ties are the rule
        }
        for (const std::size_t k : {1U, 3U, 10U, 50U}) {
            const std::size_t begin = n / 4, self = n / 2;
            std::vector<std::size_t> order;
            for (std::size_t j = begin; j < n; ++j) {
                if (j != self) {
                    order.push_back(j);
                }
            }
            std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                return distance[a] < distance[b];
            });
            order.resize(std::min(order.size(), k));
            std::vector<ReliefNeighbour> list{{0, 999}};
            nearest(distance, begin, n, self, k, list);
            REQUIRE(list.size() == order.size() + 1);
            CHECK(list[0].row == 999);
            for (std::size_t t = 0; t < order.size(); ++t) {
                CHECK(list[t + 1].row == order[t]);
            }
        }
    }
}

TEST_CASE("the threshold is mean less half a standard deviation of the others") {
    const std::vector<float> distance{1, 2, 0, 3, 6};
    CHECK(surf_threshold(distance, 2) == doctest::Approx(3.0 - std::sqrt(14.0 / 4) / 2));
    std::vector<ReliefNeighbour> list;
    within(distance, 0, 5, 2, 3.0, list);
    REQUIRE(list.size() == 2);
    CHECK(list[0].row == 0);
    CHECK(list[1].row == 1);
}

TEST_CASE("weights decay with the rank and sum to one") {
    std::vector<ReliefNeighbour> list{{0, 5}, {1, 7}, {2, 9}};
    const auto weight = [](std::size_t row) { return row == 9 ? 2.0 : 1.0; };
    REQUIRE(share_out(list, 1, 2.0, weight));
    const double first = std::exp(-0.25), second = 2 * std::exp(-1.0);
    CHECK(list[1].weight == doctest::Approx(first / (first + second)));
    CHECK(list[2].weight == doctest::Approx(second / (first + second)));
    CHECK(list[0].weight == 0);
    REQUIRE(share_out(list, 0, 0.0, weight));
    CHECK(list[2].weight == doctest::Approx(0.5));
    std::vector<ReliefNeighbour> none;
    CHECK_FALSE(share_out(none, 0, 0.0, weight));
}

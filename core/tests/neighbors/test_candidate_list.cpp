#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "assay/common/distance.hpp"
#include "assay/neighbors/candidate_list.hpp"
#include "assay/neighbors/point_space.hpp"
#include "scanned.hpp"

using namespace assay::neighbors;

TEST_CASE("more ties than there is room for keep the first rows") {
    const std::size_t n = 5000;
    const std::vector<double> values((n + 1) * 2, 1.5);
    const auto found = scanned(PointSpace<assay::Euclidean>{{}, 2}, values, n, 5);
    for (std::size_t t = 0; t < 5; ++t) {
        CHECK(found.distance[t] == 0);
        CHECK(found.index[t] == static_cast<std::int64_t>(t));
    }
}

TEST_CASE("rows that come nearer and nearer are all taken in") {
    const std::size_t n = 5000;
    std::vector<double> values(n + 1);
    for (std::size_t i = 0; i < n; ++i) {
        values[1 + i] = static_cast<double>(i + 1);  // scanned from the last row to the first
    }
    const auto found = scanned(PointSpace<assay::Euclidean>{{}, 1}, values, n, 20);
    for (std::size_t t = 0; t < 20; ++t) {
        CHECK(found.distance[t] == static_cast<double>(t + 1));
        CHECK(found.index[t] == static_cast<std::int64_t>(t));
    }
}

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/neighbors/cut_select.hpp"

using namespace assay::neighbors;

namespace {

// Few distinct values, many, ascending, descending, far apart.
double value(int kind, std::size_t i, assay::RandomStream& stream) {
    switch (kind) {
        case 0:
            return std::floor(stream.uniform() * 3);
        case 1:
            return stream.uniform() - 0.5;
        case 2:
            return static_cast<double>(i);
        case 3:
            return -static_cast<double>(i);
        default:
            return i % 2 == 0 ? std::numeric_limits<double>::infinity() : -1e300;
    }
}

}  // namespace

TEST_CASE("items are parted as a full sort parts them") {
    assay::RandomStream stream(3, 1);
    for (int kind = 0; kind < 5; ++kind) {
        for (const std::size_t n : {1UL, 2UL, 12UL, 13UL, 50UL, 400UL, 5000UL}) {
            std::vector<CutItem> items;
            for (std::size_t i = 0; i < n; ++i) {
                items.emplace_back(value(kind, i, stream), static_cast<std::uint32_t>(i * 7 % n));
            }
            auto sorted = items;
            std::sort(sorted.begin(), sorted.end());
            for (const std::size_t at : {std::size_t{0}, n / 3, n / 2, n - 1}) {
                auto parted = items;
                std::vector<CutItem> room(n);
                part_at(parted, at, room.data());
                const auto middle = parted.begin() + static_cast<std::ptrdiff_t>(at);
                std::sort(parted.begin(), middle);
                std::sort(middle, parted.end());
                for (std::size_t i = 0; i < n; ++i) {
                    CHECK(parted[i].key == sorted[i].key);
                }
            }
        }
    }
}

TEST_CASE("items ascend by value, then by row") {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> ascending{-infinity, -2, -1e-310, 0, 1e-310, 1, 2, infinity};
    for (std::size_t i = 0; i + 1 < ascending.size(); ++i) {
        CHECK(CutItem(ascending[i], 9) < CutItem(ascending[i + 1], 3));
        CHECK_FALSE(CutItem(ascending[i + 1], 3) < CutItem(ascending[i], 9));
        CHECK(CutItem(ascending[i], 3) < CutItem(ascending[i], 9));
        CHECK_FALSE(CutItem(ascending[i], 3) < CutItem(ascending[i], 3));
    }
}

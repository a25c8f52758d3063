#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/fine_rows.hpp"

using namespace assay::tree;
using assay::RandomStream;

namespace {

// Of all sizes, and near numbers of 32 bits: on them, and a little to either side.
double some_value(RandomStream& stream) {
    const double size = std::exp2(static_cast<double>(stream.below(60U)) - 30);
    const double x = stream.normal() * size;
    const auto near = static_cast<double>(static_cast<float>(x));
    switch (stream.below(5U)) {
        case 0:
            return near;
        case 1:
            return std::nextafter(near, 1e300);
        case 2:
            return std::nextafter(near, -1e300);
        case 3:
            return 0.0;
        default:
            return x;
    }
}

}  // namespace

TEST_CASE("a threshold parts values as the cut of the rounded ones does") {
    RandomStream stream(4, 0);
    std::vector<double> values;
    for (int i = 0; i < 400; ++i) {
        values.push_back(some_value(stream));
    }
    for (const double at : values) {
        const float x = rounded_down(at);
        CHECK(static_cast<double>(x) <= at);
        CHECK(static_cast<double>(std::nextafter(x, 1e30F)) > at);
        const double threshold = fine_threshold(x);
        for (const double value : values) {
            CHECK((rounded_down(value) <= x) == (value <= threshold));
        }
    }
}

TEST_CASE("a cut leaves a value on both sides") {
    RandomStream stream(5, 0);
    for (int i = 0; i < 2000; ++i) {
        const float a = rounded_down(some_value(stream));
        const float b =
            stream.below(2U) == 0 ? std::nextafter(a, 1e30F) : rounded_down(some_value(stream));
        if (a == b) {
            continue;
        }
        const float low = a < b ? a : b;
        const float high = a < b ? b : a;
        for (const double share : {0.0, stream.uniform(), 1 - 0x1p-32}) {
            const float x = fine_cut(low, high, share);
            CHECK(x >= low);
            CHECK(x < high);
        }
    }
    CHECK(fine_cut(2.0F, 6.0F, 0.25) == 3.0F);
}

TEST_CASE("columns with a slot are written row by row") {
    const std::vector<double> table{1.5, 0.1, 7, 2.5, 0.2, 8};
    const std::vector<std::int32_t> slots{1, 0, -1};
    std::vector<float> values(8, 9.0F);
    fill_fine_rows<double>(table, 3, slots, 4, values, 2);
    CHECK(values ==
          std::vector<float>{rounded_down(0.1), 1.5F, 9, 9, rounded_down(0.2), 2.5F, 9, 9});
    CHECK(FineRows{}.empty());
}

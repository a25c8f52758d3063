#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "assay/neighbors/frame.hpp"

using assay::MatrixView;
using assay::neighbors::Frame;

TEST_CASE("the frame moves the data to the origin and to unit size") {
    const std::vector<double> values = {1e9 + 40, 1e9 + 48, 1e9 + 56};
    const Frame frame(MatrixView<const double>{values.data(), 3, 1});
    CHECK(frame.centre[0] == doctest::Approx(1e9 + 48).epsilon(1e-15));
    CHECK(frame.scale == 0.125);
    CHECK(frame(values[0], 0) == doctest::Approx(-1.0));
}

TEST_CASE("the frame survives constant, tiny and overflowing data") {
    const double big = std::numeric_limits<double>::max();
    const double tiny = std::numeric_limits<double>::denorm_min();
    for (const std::vector<double>& values : {std::vector{3.0, 3.0}, std::vector{tiny, -tiny},
                                              std::vector{big, -big}, std::vector{big, big}}) {
        const Frame frame(MatrixView<const double>{values.data(), 2, 1});
        CHECK(std::isfinite(frame.scale));
        CHECK(frame.scale > 0);
        CHECK(std::isfinite(frame.centre[0]));
    }
}

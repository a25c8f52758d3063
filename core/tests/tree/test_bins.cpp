#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "assay/tree/bins.hpp"

using assay::tree::BinnedView;

TEST_CASE("the threshold between two bins lies half way and never reaches the larger value") {
    const std::vector<double> lower{0.0, 2.0, 10.0, 1.0,
                                    1.0 + std::numeric_limits<double>::epsilon()};
    const std::vector<double> upper{1.0, 4.0, 10.0, 1.0,
                                    1.0 + std::numeric_limits<double>::epsilon()};
    const std::vector<std::int64_t> start{0, 3, 5};
    BinnedView<std::uint8_t> view;
    view.lower = lower;
    view.upper = upper;
    view.bin_start = start;
    CHECK(view.threshold(0, 0, 1) == 1.5);
    CHECK(view.threshold(0, 0, 2) == 5.5);
    CHECK(view.threshold(0, 1, 2) == 7.0);
    CHECK(view.threshold(1, 0, 1) == 1.0);
}

TEST_CASE("the threshold between extreme values does not overflow") {
    const std::vector<double> ends{-std::numeric_limits<double>::max(),
                                   std::numeric_limits<double>::max()};
    const std::vector<std::int64_t> start{0, 2};
    BinnedView<std::uint8_t> view;
    view.lower = ends;
    view.upper = ends;
    view.bin_start = start;
    CHECK(view.threshold(0, 0, 1) == 0.0);
}

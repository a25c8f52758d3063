#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "assay/svm/hard_box.hpp"

using namespace assay::svm;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
const std::vector<double> target = {1, -1, 1};
const std::vector<double> low = {0, -inf, 0};
const std::vector<double> high = {inf, 0, 0.5};
const std::vector<std::int32_t> row_of = {0, 1, 2};
const SmoProblem problem{target, low, high, row_of};

}  // namespace

TEST_CASE("only infinite bounds become a box, which no start touches") {
    const std::vector<double> b = {9000, -9000.25, 0.25};
    const HardBox box(problem, b);
    CHECK(box.low(0) == 0);
    CHECK(box.high(0) > 9000);
    CHECK(box.low(1) < -9001);
    CHECK(box.high(1) == 0);
    CHECK(box.high(2) == 0.5);
    CHECK_FALSE(box.at_box(b));
    CHECK(box.at_box(std::vector<double>{box.high(0), 0, 0}));
    CHECK(box.at_box(std::vector<double>{0, box.low(1), 0}));
}

TEST_CASE("a wider box takes b along while that is downhill and within finite bounds") {
    std::vector<double> b = {2, -2.25, 0.25};
    HardBox box(problem, b);
    const double before = box.high(0);
    std::vector<double> f = {0.1, -0.1, 0};  // b'f = 0.425, c'b = 4.5: ten times further
    box.widen(b, f);
    CHECK(box.high(0) == 100 * before);
    CHECK(b == std::vector<double>{4, -4.5, 0.5});  // the third variable meets its bound
    CHECK(f == std::vector<double>{0.2, -0.2, 0});
}

TEST_CASE("sides whose hulls meet are unbounded, unless f parts them") {
    const std::vector<double> b = {1e9, -1e9, 0};
    const HardBox box(problem, b);
    CHECK(box.is_unbounded(b, std::vector<double>{0, 0, 0}, 3e-8));
    CHECK_FALSE(box.is_unbounded(b, std::vector<double>{1e-9, -1e-9, 0}, 3e-8));
    CHECK_FALSE(
        box.is_unbounded(std::vector<double>{1, -1, 0}, std::vector<double>{0.5, 0.4, 0}, 3e-8));
}

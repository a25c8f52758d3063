#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/neighbors/panels.hpp"

using namespace assay::neighbors;
using assay::MatrixView;

namespace {

std::vector<double> normals(std::size_t n) {
    assay::RandomStream stream(1, 0);
    std::vector<double> values(n);
    for (double& value : values) {
        value = stream.normal();
    }
    return values;
}

}  // namespace

TEST_CASE("exact panels hold every row transposed, and zeros behind the last") {
    constexpr std::size_t d = 5;
    for (const std::size_t n : {1U, 31U, 32U, 33U, 700U}) {
        const auto values = normals(n * d);
        const MatrixView<const double> rows{values.data(), n, d};
        ExactPanels panels(n, d, panel_width);
        panels.pack(rows, 2);
        for (std::size_t r = 0; r < panel_count(n, panel_width) * panel_width; ++r) {
            const double* panel = panels.from(r / panel_width * panel_width);
            for (std::size_t j = 0; j < d; ++j) {
                const double packed = panel[j * panel_width + r % panel_width];
                CHECK(packed == (r < n ? rows(r, j) : 0.0));
            }
        }
    }
}

TEST_CASE("screen panels hold the rows in the frame, with their norms") {
    constexpr std::size_t n = 45;
    constexpr std::size_t d = 3;
    const auto values = normals(n * d);
    const MatrixView<const double> rows{values.data(), n, d};
    const Frame frame(rows);
    ScreenPanels panels(n, d, group_width);
    panels.pack(rows, frame, 2);
    for (std::size_t r = 0; r < n; ++r) {
        double squared = 0;
        for (std::size_t j = 0; j < d; ++j) {
            const double x =
                panels.from(r / group_width * group_width)[j * group_width + r % group_width];
            CHECK(x == frame(rows(r, j), j));
            squared += x * x;
        }
        CHECK(panels.norm(r) == doctest::Approx(std::sqrt(squared)));
        CHECK(*panels.half_norms_from(r) <= squared / 2);
        CHECK(*panels.half_norms_from(r) == doctest::Approx(squared / 2).epsilon(1e-5));
    }
}

TEST_CASE("a row that overflows float32 always passes the screen") {
    const std::vector<double> values = {1.0, 2.0, 1e300};
    const MatrixView<const double> rows{values.data(), 3, 1};
    const Frame frame(rows.middle_rows(0, 2));  // does not know of the third row
    ScreenPanels panels(3, 1, group_width);
    panels.pack(rows, frame, 1);
    CHECK(*panels.half_norms_from(2) == -std::numeric_limits<float>::infinity());
    CHECK(std::isfinite(*panels.half_norms_from(1)));
}

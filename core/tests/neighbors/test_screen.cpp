#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/distance.hpp"
#include "assay/common/random.hpp"
#include "assay/neighbors/panels.hpp"
#include "assay/neighbors/screen.hpp"

using namespace assay::neighbors;
using assay::MatrixView;

namespace {

struct Outcome {
    std::size_t missed = 0;
    std::size_t passed = 0;
};

// Screens at the distance of each query to row `at`: that row, and all nearer ones,
// must pass.
Outcome screen(const std::vector<double>& values, std::size_t n, std::size_t d, std::size_t at) {
    const MatrixView<const double> rows{values.data(), n, d};
    const MatrixView<const double> queries{values.data() + n * d, group_width, d};
    const Frame frame(rows);
    ScreenPanels panels(n, d, panel_width);
    panels.pack(rows, frame, 1);
    ScreenPanels group(group_width, d, group_width);
    group.pack(queries, frame, 1);
    std::vector<double> distance(group_width);
    std::vector<float> limit(group_width);
    for (std::size_t q = 0; q < group_width; ++q) {
        distance[q] = std::sqrt(assay::squared_distance(queries.row(q), rows.row(at)));
        limit[q] = screen_limit(distance[q], frame.scale, group.norm(q), d);
    }
    const std::size_t n_panels = panel_count(n, panel_width);
    std::vector<Pair> hits(n_panels * panel_width * group_width);
    const std::size_t n_hits = assay::dispatch([&](auto level) {
        return Screen<decltype(level)>::run(group.from(0), panels.from(0),
                                            panels.half_norms_from(0), d, n_panels, limit.data(),
                                            hits.data());
    });
    std::vector<char> passed(n_panels * panel_width * group_width);
    for (std::size_t h = 0; h < n_hits; ++h) {
        passed[hits[h].row * group_width + hits[h].query] = 1;
    }
    Outcome outcome{0, n_hits};
    for (std::size_t r = 0; r < n; ++r) {
        for (std::size_t q = 0; q < group_width; ++q) {
            const bool near =
                std::sqrt(assay::squared_distance(queries.row(q), rows.row(r))) <= distance[q];
            outcome.missed += near && passed[r * group_width + q] == 0 ? 1 : 0;
        }
    }
    return outcome;
}

std::vector<double> normals(std::size_t n, std::uint64_t key) {
    assay::RandomStream stream(4, key);
    std::vector<double> values(n);
    for (double& value : values) {
        value = stream.normal();
    }
    return values;
}

}  // namespace

TEST_CASE("the screen misses no near row, and passes few others") {
    constexpr std::size_t n = 320;
    for (const std::size_t d : {1U, 3U, 20U, 100U}) {
        const auto values = normals((n + group_width) * d, d);
        std::size_t passed = 0;
        std::size_t missed = 0;
        for (std::size_t at = 0; at < n; at += 7) {
            const Outcome outcome = screen(values, n, d, at);
            missed += outcome.missed;
            passed += outcome.passed;
        }
        CHECK(missed == 0);
        // On average half of the rows are as near as a random one.
        CHECK(passed < n * group_width * (n / 7 + 1) * 6 / 10);
    }
}

TEST_CASE("the screen misses no near row of data that float32 cannot hold") {
    constexpr std::size_t n = 320;
    constexpr std::size_t d = 9;
    const auto base = normals((n + group_width) * d, 99);
    const double shapes[][2] = {// scale, offset
                                {1, 1e9},     {1e-6, 1e9},  {1, 1e16},   {1e150, 0},
                                {1e-150, 0},  {1e-160, 0},  {1e-162, 0}, {1e-300, 0},
                                {1e-20, 1e3}, {1e307, 1e3}, {0, 5}};
    for (const auto& [scale, offset] : shapes) {
        std::vector<double> values = base;
        for (std::size_t i = 0; i < values.size(); ++i) {
            // Rows of very different size: every third is a thousandth, every eleventh huge.
            const std::size_t row = i / d;
            const double size = row % 3 == 0 ? 1e-3 : row % 11 == 0 ? 1e4 : 1;
            values[i] = values[i] * scale * (std::abs(scale) < 1e300 ? size : 1) + offset;
        }
        std::size_t missed = 0;
        for (std::size_t at = 0; at < n; at += 5) {
            missed += screen(values, n, d, at).missed;
        }
        CAPTURE(scale);
        CAPTURE(offset);
        CHECK(missed == 0);
    }
}

TEST_CASE("an outlier does not blind the screen for the other rows") {
    constexpr std::size_t n = 320;
    constexpr std::size_t d = 20;
    auto values = normals((n + group_width) * d, 5);
    const std::size_t before = screen(values, n, d, 9).passed;
    for (std::size_t j = 0; j < d; ++j) {
        values[100 * d + j] *= 1e5;  // not in the sample that makes the frame, were n larger
    }
    const Outcome after = screen(values, n, d, 9);
    CHECK(after.missed == 0);
    CHECK(after.passed <= before + n * group_width / 20);
}

TEST_CASE("limit and half norm are infinite when nothing can be said") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double inf = std::numeric_limits<double>::infinity();
    CHECK(screen_limit(inf, 1, 1, 3) == infinity);
    CHECK(screen_limit(1, 1, inf, 3) == infinity);
    CHECK(screen_limit(1, 1, nan, 3) == infinity);
    CHECK(screen_limit(1, 1, 1, 100000) == infinity);
    CHECK(screen_limit(1, 1, 1, 3) < 1e-5);
    CHECK(screen_half_norm(inf, 3) == -infinity);
    CHECK(screen_half_norm(nan, 3) == -infinity);
    CHECK(screen_half_norm(1, 100000) == -infinity);
    CHECK(screen_half_norm(1, 3) < 0.5F);
}

TEST_CASE("not-a-number passes the screen") {
    constexpr std::size_t d = 1;
    std::vector<float> group(group_width, 0.0F);
    std::vector<float> panel(panel_width, 0.0F);
    std::vector<float> half_norms(panel_width, 1.0F);
    std::vector<float> limit(group_width, 0.5F);
    panel[7] = std::numeric_limits<float>::infinity();  // 0 * inf
    std::vector<Pair> hits(group_width * panel_width);
    const std::size_t n_hits = assay::dispatch([&](auto level) {
        return Screen<decltype(level)>::run(group.data(), panel.data(), half_norms.data(), d, 1,
                                            limit.data(), hits.data());
    });
    CHECK(n_hits == group_width);
    CHECK(hits[0].row == 7);
}

TEST_CASE("no row with a score up to s is farther than the reach of s") {
    for (const double offset : {0.0, 100.0, 1e6}) {
        constexpr std::size_t n = 640;
        constexpr std::size_t d = 9;
        assay::RandomStream stream(5, static_cast<std::uint64_t>(offset));
        std::vector<double> values((n + group_width) * d);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = stream.normal() * (i % 7 == 0 ? 1e-3 : 1) + (i / d % 50 == 0 ? offset : 0);
        }
        const MatrixView<const double> rows{values.data(), n, d};
        const MatrixView<const double> queries{values.data() + n * d, group_width, d};
        const Frame frame(rows);
        ScreenPanels panels(n, d, panel_width);
        panels.pack(rows, frame, 1);
        ScreenPanels group(group_width, d, group_width);
        group.pack(queries, frame, 1);
        const std::vector<float> limit(group_width, std::numeric_limits<float>::infinity());
        std::vector<Pair> hits(n * group_width);
        std::vector<float> scores(n * group_width);
        const std::size_t n_hits = assay::dispatch([&](auto level) {
            return Screen<decltype(level)>::run(group.from(0), panels.from(0),
                                                panels.half_norms_from(0), d, n / panel_width,
                                                limit.data(), hits.data(), scores.data());
        });
        REQUIRE(n_hits == n * group_width);
        double loosest = 0;
        for (std::size_t h = 0; h < n_hits; ++h) {
            const auto [row, q] = hits[h];
            const double distance =
                std::sqrt(assay::squared_distance(queries.row(q), rows.row(row)));
            const double reach = screen_reach(scores[h], frame.scale, group.norm(q), d);
            CHECK(distance <= reach);
            if (offset == 0) {
                loosest = std::max(loosest, reach / distance);
            }
        }
        CHECK(loosest < 1.01);
    }
}

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "assay/neighbors/point_space.hpp"
#include "assay/neighbors/tree_walk.hpp"
#include "definition.hpp"

using namespace assay::neighbors;

namespace {

using Space = PointSpace<assay::Euclidean>;

// Takes every row within a limit that stays.
struct Collector {
    double most;
    std::vector<std::uint32_t> rows;

    [[nodiscard]] double limit() const noexcept { return most; }
    void offer(double, std::size_t row) { rows.push_back(static_cast<std::uint32_t>(row)); }
};

}  // namespace

TEST_CASE("a walk offers every row within the limit once, from whatever leaf it starts") {
    const std::size_t n = 500;
    const auto values = definition::table<double>(definition::Kind::normal, n + 1, 3, 1);
    const assay::MatrixView<const double> rows{values.data() + 3, n, 3};
    for (const std::size_t leaf_size : {1UL, 8UL, 600UL}) {
        const BoxTree<Space> tree(Space{{}, 3}, rows, leaf_size, 1);
        TreeWalk<Space> walk(tree);
        walk.ask(values.data());
        for (const double limit : {0.5, 2.0, std::numeric_limits<double>::infinity()}) {
            std::vector<std::uint32_t> expected;
            for (std::size_t i = 0; i < n; ++i) {
                double sum = 0;
                for (std::size_t j = 0; j < 3; ++j) {
                    const double gap = values[j] - rows(i, j);
                    sum += gap * gap;
                }
                if (sum <= limit) {
                    expected.push_back(static_cast<std::uint32_t>(i));
                }
            }
            for (const std::size_t home : {walk.home(), std::size_t{0}}) {
                Collector sink{limit, {}};
                walk.visit(sink, home);
                std::sort(sink.rows.begin(), sink.rows.end());
                CHECK(sink.rows == expected);
            }
        }
    }
}

TEST_CASE("a walk with a small limit leaves most rows alone") {
    const std::size_t n = 4000;
    const auto values = definition::table<double>(definition::Kind::normal, n, 2, 2);
    const assay::MatrixView<const double> rows{values.data(), n, 2};
    const BoxTree<Space> tree(Space{{}, 2}, rows, 16, 1);
    TreeWalk<Space> walk(tree);
    walk.ask(values.data());
    Collector sink{1e-12, {}};
    walk.visit(sink, walk.home());
    CHECK(sink.rows == std::vector<std::uint32_t>{0});
    CHECK(walk.rows_seen() < n / 10);
}

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "assay/neighbors/box_tree.hpp"
#include "assay/neighbors/point_space.hpp"
#include "definition.hpp"

using namespace assay::neighbors;

TEST_CASE("every row stands in one leaf, inside the boxes above it, for any number of threads") {
    using Space = PointSpace<assay::Euclidean>;
    for (const auto kind : definition::all_kinds) {
        const std::size_t n = 777;
        const std::size_t d = 3;
        const auto values = definition::table<double>(kind, n, d, 1);
        const assay::MatrixView<const double> rows{values.data(), n, d};
        const BoxTree<Space> tree({{}, d}, rows, 5, 1);
        const BoxTree<Space> other({{}, d}, rows, 5, 3);
        const TreeShape& shape = tree.shape();
        std::vector<bool> seen(n);
        for (std::size_t leaf = 0; leaf < shape.n_leaves(); ++leaf) {
            for (std::size_t lane = 0; lane < shape.leaf_rows(leaf); ++lane) {
                const std::size_t row = tree.row(shape.leaf_begin(leaf) + lane);
                CHECK(row == other.row(shape.leaf_begin(leaf) + lane));
                CHECK(!seen[row]);
                seen[row] = true;
                for (std::size_t kept = 0; kept + 1 < shape.levels.size(); ++kept) {
                    const std::size_t node = leaf >> (shape.depth - shape.levels[kept]);
                    const std::size_t below = leaf >> (shape.depth - shape.levels[kept + 1]);
                    const std::size_t child = below % shape.n_children(kept);
                    for (std::size_t j = 0; j < d; ++j) {
                        CHECK(tree.leaf(leaf)[j * shape.lanes + lane] == rows(row, j));
                        CHECK(tree.boxes(kept, node)[2 * j * fan_out + child] <= rows(row, j));
                        CHECK(tree.boxes(kept, node)[(2 * j + 1) * fan_out + child] >=
                              rows(row, j));
                    }
                }
            }
        }
        CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
    }
}

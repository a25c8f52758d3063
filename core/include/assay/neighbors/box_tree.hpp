// A k-d tree with boxes: rows cut in the middle of one column, again and again.
//
// A node knows the box of each of its (up to eight) children; the rows of a leaf stand
// together, transposed, ready for vectors. What a cut and a box are, the space says
// (point_space.hpp, code_space.hpp). The tree depends on the rows alone: equal values are
// parted by row number.
//
// Needs   1 <= rows < 2^32.
// Cost    O(n log n) time to build, n d numbers of memory and a few per leaf.
// Source  Friedman, Bentley, Finkel: An algorithm for finding best matches in logarithmic
//         expected time. ACM Transactions on Mathematical Software 3 (1977).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/neighbors/cut_select.hpp"
#include "assay/neighbors/tree_shape.hpp"

namespace assay::neighbors {

template <class Space>
class BoxTree {
  public:
    template <class T>
    BoxTree(Space space, MatrixView<const T> rows, std::size_t leaf_size, int n_threads)
        : space_(std::move(space)),
          d_(rows.cols),
          shape_(rows.rows, leaf_size),
          order_(rows.rows),
          leaves_(shape_.n_leaves() * shape_.lanes * d_),
          boxes_(shape_.n_nodes() * box_size()) {
        std::iota(order_.begin(), order_.end(), 0U);
        cut_all(rows, n_threads);
        fill_leaves(rows, n_threads);
        join_boxes();
    }

    [[nodiscard]] const Space& space() const noexcept { return space_; }
    [[nodiscard]] const TreeShape& shape() const noexcept { return shape_; }
    [[nodiscard]] std::size_t d() const noexcept { return d_; }
    [[nodiscard]] std::uint32_t row(std::size_t place) const noexcept { return order_[place]; }
    [[nodiscard]] std::span<const std::uint32_t> rows() const noexcept { return order_; }
    [[nodiscard]] const double* leaf(std::size_t leaf) const noexcept {
        return leaves_.data() + leaf * shape_.lanes * d_;
    }
    // The boxes of the children of a node on a kept level.
    [[nodiscard]] const double* boxes(std::size_t kept, std::size_t node) const noexcept {
        return boxes_.data() + (shape_.first_node[kept] + node) * box_size();
    }

  private:
    [[nodiscard]] std::size_t box_size() const noexcept { return 2 * d_ * fan_out; }

    template <class T>
    void cut_all(MatrixView<const T> rows, int n_threads) {
        // The first cuts level by level, then every subtree on its own, while it is in the cache.
        const int top = std::min(shape_.depth, 5);
        for (int level = 0; level < top; ++level) {
            parallel_chunks(std::size_t{1} << level, 1, n_threads, [&](Range range) {
                std::vector<CutItem> items;
                cut(rows, range.begin, level, items);
            });
        }
        if (top == shape_.depth) {
            return;
        }
        parallel_chunks(std::size_t{1} << top, 1, n_threads, [&](Range range) {
            std::vector<CutItem> items;
            for (int level = top; level < shape_.depth; ++level) {
                const std::size_t first = range.begin << (level - top);
                const std::size_t last = range.end << (level - top);
                for (std::size_t node = first; node < last; ++node) {
                    cut(rows, node, level, items);
                }
            }
        });
    }

    template <class T>
    void cut(MatrixView<const T> rows, std::size_t node, int level, std::vector<CutItem>& items) {
        const std::size_t begin = shape_.begin(node, level);
        const std::size_t end = shape_.begin(node + 1, level);
        const std::size_t middle = shape_.begin(2 * node + 1, level + 1);
        assert(begin <= middle && middle <= end && end <= order_.size());
        const std::span<std::uint32_t> part(order_.data() + begin, end - begin);
        if (part.size() < 2) {
            return;
        }
        const std::size_t column = space_.cut_column(rows, part);
        items.resize(2 * part.size());
        for (std::size_t i = 0; i < part.size(); ++i) {
            items[i] = CutItem(Space::cut_key(static_cast<double>(rows(part[i], column))), part[i]);
        }
        part_at({items.data(), part.size()}, middle - begin, items.data() + part.size());
        for (std::size_t i = 0; i < part.size(); ++i) {
            part[i] = static_cast<std::uint32_t>(items[i].row);
        }
    }

    template <class T>
    void fill_leaves(MatrixView<const T> rows, int n_threads) {
        parallel_chunks(shape_.n_leaves(), 256, n_threads, [&](Range range) {
            for (std::size_t leaf = range.begin; leaf < range.end; ++leaf) {
                fill_leaf(rows, leaf);
            }
        });
    }

    template <class T>
    void fill_leaf(MatrixView<const T> rows, std::size_t leaf) {
        const std::uint32_t* items = order_.data() + shape_.leaf_begin(leaf);
        const std::size_t count = shape_.leaf_rows(leaf);
        assert(count <= shape_.lanes);
        double* values = leaves_.data() + leaf * shape_.lanes * d_;
        for (std::size_t lane = 0; lane < count; ++lane) {
            for (std::size_t j = 0; j < d_; ++j) {
                values[j * shape_.lanes + lane] = static_cast<double>(rows(items[lane], j));
            }
        }
        for (std::size_t j = 0; j < d_; ++j) {
            std::fill(values + j * shape_.lanes + count, values + (j + 1) * shape_.lanes, 0.0);
        }
        if (shape_.depth == 0) {
            return;
        }
        double* box = child_box(shape_.levels.size() - 1, leaf);
        space_.open_box(box, fan_out);
        for (std::size_t j = 0; j < d_; ++j) {
            for (std::size_t lane = 0; lane < count; ++lane) {
                space_.add_to_box(box, fan_out, j, values[j * shape_.lanes + lane]);
            }
        }
    }

    // Where the box of a node on a kept level (not the first) is written.
    [[nodiscard]] double* child_box(std::size_t kept, std::size_t node) noexcept {
        const int bits = shape_.levels[kept] - shape_.levels[kept - 1];
        const std::size_t parent = node >> bits;
        const std::size_t child = node & ((std::size_t{1} << bits) - 1);
        return boxes_.data() + (shape_.first_node[kept - 1] + parent) * box_size() + child;
    }

    void join_boxes() {
        for (std::size_t kept = shape_.levels.size(); kept-- > 0;) {
            if (kept + 1 >= shape_.levels.size()) {
                continue;
            }
            const std::size_t nodes = std::size_t{1} << shape_.levels[kept];
            for (std::size_t node = 0; node < nodes; ++node) {
                double* children = boxes_.data() + (shape_.first_node[kept] + node) * box_size();
                // Children that are not there: numbers, so that a bound may be computed of them.
                for (std::size_t child = shape_.n_children(kept); child < fan_out; ++child) {
                    space_.open_box(children + child, fan_out);
                }
                if (kept == 0) {
                    continue;
                }
                double* box = child_box(kept, node);
                space_.open_box(box, fan_out);
                for (std::size_t child = 0; child < shape_.n_children(kept); ++child) {
                    space_.join_boxes(box, fan_out, children + child, fan_out);
                }
            }
        }
    }

    Space space_;
    std::size_t d_;
    TreeShape shape_;
    std::vector<std::uint32_t> order_;  // row at each place
    AlignedBuffer<double> leaves_;
    AlignedBuffer<double> boxes_;
};

}  // namespace assay::neighbors

// What the trees of a model say about rows.
//
//     sum[s][i][c] = init[c] + sum over trees t < stops[s] with t % n_groups == c / n_outputs
//                    of value(leaf of row i in tree t)[c % n_outputs]
//
// in ascending order of trees, in float64, at each stop: the same bits for any number of
// threads, any block of rows and either way of walking. Means, votes and products are
// sums of other values (see the Python side). `out_of_bag_sums` leaves out the trees that
// saw a row; `leaves` gives the leaf itself.
//
// Many rows and small trees: all nodes are asked about 64 rows at once (predict_masks.hpp).
// Many rows and large trees: nodes are packed (compact.hpp) tree by tree, and a block of rows that
// stays in L2 goes down each tree. Few rows: the flat arrays are walked as they are, eight trees at
// a time, so that one row costs microseconds.
//
// Needs   nodes that passed predict_check.hpp; X.cols == n_levels.size(); stops ascending,
//         none above n_trees; rooms of the sizes said.
// Cost    O(rows * trees * depth).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/tree/predict_masks.hpp"
#include "assay/tree/predict_walk.hpp"

namespace assay::tree {

namespace detail {

inline constexpr std::size_t row_block = 16384;
inline constexpr std::size_t cached_bytes = std::size_t{1} << 19;

// Chooses every row for every tree.
struct EveryRow {
    constexpr bool operator()(std::size_t, std::size_t) const noexcept { return true; }
};

// All trees for blocks of rows, packed or flat as it pays.
template <class T>
class ForestWalk {
  public:
    ForestWalk(const NodesView& nodes, MatrixView<const T> X, int n_threads)
        : nodes_(nodes), X_(X) {
        const std::size_t n_nodes = nodes.left.size();
        const std::size_t n_trees = nodes.n_trees();
        if (MaskForest::serves(nodes, X.rows)) {
            masks_.emplace(nodes);
            if (masks_->is_usable()) {
                // About 2 ns to ask a node about 64 rows.
                n_threads_ = threads_for(X.rows / 32 * n_nodes, n_threads);
                return;
            }
            masks_.reset();
        }
        // About 2 ns per step.
        const std::size_t depth = static_cast<std::size_t>(std::bit_width(n_nodes / n_trees)) + 1;
        n_threads_ = threads_for(2 * X.rows * n_trees * depth, n_threads);
        // Packing costs about 3 ns per node and saves about 30 ns per row and tree.
        if (X.rows * n_trees * 10 > n_nodes && X.rows >= walk_lanes &&
            X.cols <= CompactNode::most_columns) {
            packed_ = AlignedBuffer<CompactNode>(n_nodes);
            parallel_chunks(n_trees, 1, n_threads_, [&](Range range) {
                const std::size_t t = range.begin;
                compact_tree(nodes, t, packed_.data() + nodes.start[t]);
            });
            nominal_ = !nodes.words.empty();
        }
    }

    // Threads that pay for being woken.
    [[nodiscard]] int n_threads() const noexcept { return n_threads_; }

    // As many rows as threads leave: a tree fetched once should serve many rows. Where all trees
    // stay in the cache anyway, smaller blocks: the caller works on while its helpers wake up.
    [[nodiscard]] std::size_t block() const noexcept {
        const auto threads = static_cast<std::size_t>(n_threads_);
        const bool is_small = nodes_.left.size() * sizeof(CompactNode) <= cached_bytes;
        const std::size_t share = chunk_count(X_.rows, is_small ? 8 * threads : threads);
        return std::clamp<std::size_t>(share, masks_ || packed_.size() != 0 ? 64 : 1, row_block);
    }

    // For each tree t in order: visit(t, ids, count, leaf, slot) with the rows i of the block
    // that choose(t, i) wants, their leaves, and a function from leaf to value slot.
    template <class Choose, class Visit>
    void run(Range range, Choose choose, Visit visit) const {
        const auto compact = [&]<bool plain>(std::size_t t) {
            return CompactTree<plain>{packed_.data() + nodes_.start[t],
                                      {nodes_.words.data(), nodes_.n_levels.data()}};
        };
        if (masks_) {
            run_masks(range, choose, visit);
        } else if (X_.rows < walk_lanes) {
            run_rows(range, choose, visit);
        } else if (packed_.size() == 0) {
            run_trees(range, [&](std::size_t t) { return flat_tree(t); }, choose, visit);
        } else if (nominal_ || has_missing(range)) {
            run_trees(
                range, [&](std::size_t t) { return compact.template operator()<false>(t); }, choose,
                visit);
        } else {
            run_trees(
                range, [&](std::size_t t) { return compact.template operator()<true>(t); }, choose,
                visit);
        }
    }

    // Whether add_each may be called.
    [[nodiscard]] bool adds() const noexcept { return masks_ && nodes_.n_outputs == 1; }

    // sum[i * width + t % width] += value of tree t for row i of the block; after each tree
    // done(t, first row, rows).
    template <class Done>
    void add_each(Range range, std::size_t width, double* sum, Done done) const {
        std::vector<std::uint8_t> codes(masks_->code_bytes());
        const std::size_t count = range.end - range.begin;
        for (std::size_t first = 0; first < count; first += MaskForest::rows) {
            const std::size_t n = std::min(MaskForest::rows, count - first);
            masks_->code(X_.data + (range.begin + first) * X_.cols, X_.cols, n, codes.data());
            for (std::size_t t = 0; t < nodes_.n_trees(); ++t) {
                masks_->add(t, codes.data(), n, sum + first * width + t % width, width);
                done(t, first, n);
            }
        }
    }

  private:
    // Waking one more costs up to 100 microseconds.
    [[nodiscard]] static int threads_for(std::size_t nanoseconds, int n_threads) noexcept {
        const std::size_t useful = std::clamp<std::size_t>(nanoseconds / 100'000, 1, 1 << 20);
        return std::min(n_threads, static_cast<int>(useful));
    }

    [[nodiscard]] FlatTree flat_tree(std::size_t t) const noexcept {
        return {&nodes_, static_cast<std::size_t>(nodes_.start[t])};
    }

    [[nodiscard]] bool has_missing(Range range) const noexcept {
        const T* values = X_.data + range.begin * X_.cols;
        const std::size_t count = (range.end - range.begin) * X_.cols;
        bool found = false;
        for (std::size_t i = 0; i < count; ++i) {
            found |= values[i] != values[i];
        }
        return found;
    }

    // Tree by tree, eight rows at once.
    template <class TreeOf, class Choose, class Visit>
    void run_trees(Range range, TreeOf tree_of, Choose choose, Visit visit) const {
        const std::size_t count = range.end - range.begin;
        std::vector<std::uint32_t> ids(count);
        std::vector<std::uint32_t> leaf(count);
        WalkScratch scratch(count);
        const T* rows = X_.data + range.begin * X_.cols;
        for (std::size_t t = 0; t < nodes_.n_trees(); ++t) {
            std::size_t chosen = 0;
            for (std::size_t i = 0; i < count; ++i) {
                ids[chosen] = static_cast<std::uint32_t>(i);
                chosen += choose(t, i) ? 1 : 0;
            }
            const auto tree = tree_of(t);
            const auto n_nodes = static_cast<std::size_t>(nodes_.start[t + 1] - nodes_.start[t]);
            walk_rows(
                tree, n_nodes, chosen, [&](std::size_t i) { return rows + ids[i] * X_.cols; },
                leaf.data(), scratch);
            visit(t, ids.data(), chosen, leaf.data(),
                  [&](std::uint32_t at) { return tree.slot(at); });
        }
    }

    // Tree by tree for some rows at a time, all nodes of the tree.
    template <class Choose, class Visit>
    void run_masks(Range range, Choose choose, Visit visit) const {
        std::vector<std::uint8_t> codes(masks_->code_bytes());
        std::array<std::uint32_t, MaskForest::rows> ids;
        std::array<std::uint32_t, MaskForest::rows> leaf;
        const std::size_t count = range.end - range.begin;
        for (std::size_t first = 0; first < count; first += MaskForest::rows) {
            const std::size_t n = std::min(MaskForest::rows, count - first);
            masks_->code(X_.data + (range.begin + first) * X_.cols, X_.cols, n, codes.data());
            std::iota(ids.begin(), ids.end(), static_cast<std::uint32_t>(first));
            for (std::size_t t = 0; t < nodes_.n_trees(); ++t) {
                masks_->leaves(t, codes.data(), n, leaf.data());
                std::size_t chosen = n;
                if constexpr (!std::is_same_v<Choose, EveryRow>) {
                    chosen = 0;
                    for (std::size_t i = 0; i < n; ++i) {
                        ids[chosen] = static_cast<std::uint32_t>(first + i);
                        leaf[chosen] = leaf[i];
                        chosen += choose(t, first + i) ? 1 : 0;
                    }
                }
                if (chosen > 0) {
                    visit(t, ids.data(), chosen, leaf.data(),
                          [&, tree = flat_tree(t)](std::uint32_t at) { return tree.slot(at); });
                }
            }
        }
    }

    // Row by row, eight trees at once: a row alone still hides its loads.
    template <class Choose, class Visit>
    void run_rows(Range range, Choose choose, Visit visit) const {
        std::array<std::uint32_t, 64> leaf;
        for (std::size_t i = 0; i < range.end - range.begin; ++i) {
            const T* row = X_.data + (range.begin + i) * X_.cols;
            const auto id = static_cast<std::uint32_t>(i);
            for (std::size_t t = 0; t < nodes_.n_trees(); t += leaf.size()) {
                const std::size_t many = std::min(leaf.size(), nodes_.n_trees() - t);
                walk_trees(many, [&](std::size_t k) { return flat_tree(t + k); }, row, leaf.data());
                for (std::size_t k = 0; k < many; ++k) {
                    if (choose(t + k, i)) {
                        const FlatTree tree = flat_tree(t + k);
                        visit(t + k, &id, 1, &leaf[k],
                              [&](std::uint32_t at) { return tree.slot(at); });
                    }
                }
            }
        }
    }

    const NodesView& nodes_;
    MatrixView<const T> X_;
    int n_threads_ = 1;
    std::optional<MaskForest> masks_;
    AlignedBuffer<CompactNode> packed_;
    bool nominal_ = false;
};

// sum[id] += value row of the leaf, for every row of the block.
template <class Slot>
[[gnu::always_inline]] inline void add_values(const NodesView& nodes, std::size_t width,
                                              std::size_t offset, const std::uint32_t* ids,
                                              std::size_t count, const std::uint32_t* leaf,
                                              Slot slot, double* sum) noexcept {
    const double* value = nodes.value.data();
    const std::size_t k = nodes.n_outputs;
    const auto add = [&](std::size_t n_outputs) __attribute__((always_inline)) {
        for (std::size_t i = 0; i < count; ++i) {
            const double* from = value + slot(leaf[i]) * n_outputs;
            double* to = sum + ids[i] * width + offset;
            for (std::size_t c = 0; c < n_outputs; ++c) {
                to[c] += from[c];
            }
        }
    };
    if (k == 1) {
        add(1);
    } else if (k == 2) {
        add(2);
    } else {
        add(k);
    }
}

}  // namespace detail

// out: stops.size() matrices of X.rows rows and n_groups * n_outputs columns; init: empty,
// or one number per column.
template <class T>
void predict_sums(const NodesView& nodes, MatrixView<const T> X,
                  std::span<const std::int64_t> stops, std::size_t n_groups,
                  std::span<const double> init, double* out, int n_threads) {
    const detail::ForestWalk<T> walk(nodes, X, n_threads);
    const std::size_t width = n_groups * nodes.n_outputs;
    const bool in_place =
        stops.size() == 1 && stops[0] == static_cast<std::int64_t>(nodes.n_trees());
    parallel_chunks(X.rows, walk.block(), walk.n_threads(), [&](Range range) {
        const std::size_t count = range.end - range.begin;
        std::vector<double> apart(in_place ? 0 : count * width);
        double* sum = in_place ? out + range.begin * width : apart.data();
        for (std::size_t i = 0; i < count * width; ++i) {
            sum[i] = init.empty() ? 0.0 : init[i % width];
        }
        const auto keep = [&](std::size_t s, std::size_t from, std::size_t rows) {
            if (!in_place) {
                std::copy_n(sum + from * width, rows * width,
                            out + (s * X.rows + range.begin + from) * width);
            }
        };
        for (std::size_t s = 0; s < stops.size() && stops[s] == 0; ++s) {
            keep(s, 0, count);
        }
        const auto done = [&](std::size_t t, std::size_t from, std::size_t rows) {
            const auto n_trees = static_cast<std::int64_t>(t + 1);
            const auto [first, last] = std::equal_range(stops.begin(), stops.end(), n_trees);
            for (auto stop = first; stop != last; ++stop) {
                keep(static_cast<std::size_t>(stop - stops.begin()), from, rows);
            }
        };
        if (walk.adds()) {
            walk.add_each(range, width, sum, done);
            return;
        }
        walk.run(range, detail::EveryRow{},
                 [&](std::size_t t, const std::uint32_t* ids, std::size_t rows,
                     const std::uint32_t* leaf, auto slot) {
                     detail::add_values(nodes, width, t % n_groups * nodes.n_outputs, ids, rows,
                                        leaf, slot, sum);
                     done(t, ids[0], rows);
                 });
    });
}

// sum: X.rows x n_outputs; count: trees that did not see the row. in_bag: tree t at
// in_bag + t * X.rows, not 0 where the tree saw the row.
template <class T>
void out_of_bag_sums(const NodesView& nodes, MatrixView<const T> X, const std::uint8_t* in_bag,
                     double* sum, std::int32_t* trees, int n_threads) {
    const detail::ForestWalk<T> walk(nodes, X, n_threads);
    const std::size_t width = nodes.n_outputs;
    parallel_chunks(X.rows, walk.block(), walk.n_threads(), [&](Range range) {
        std::fill(sum + range.begin * width, sum + range.end * width, 0.0);
        std::fill(trees + range.begin, trees + range.end, 0);
        walk.run(
            range,
            [&](std::size_t t, std::size_t i) { return in_bag[t * X.rows + range.begin + i] == 0; },
            [&](std::size_t, const std::uint32_t* ids, std::size_t rows, const std::uint32_t* leaf,
                auto slot) {
                detail::add_values(nodes, width, 0, ids, rows, leaf, slot,
                                   sum + range.begin * width);
                for (std::size_t i = 0; i < rows; ++i) {
                    ++trees[range.begin + ids[i]];
                }
            });
    });
}

// out: X.rows x n_trees, node numbers from the root of each tree.
template <class T>
void leaves(const NodesView& nodes, MatrixView<const T> X, MatrixView<std::int32_t> out,
            int n_threads) {
    const detail::ForestWalk<T> walk(nodes, X, n_threads);
    parallel_chunks(X.rows, walk.block(), walk.n_threads(), [&](Range range) {
        walk.run(range, detail::EveryRow{},
                 [&](std::size_t t, const std::uint32_t* ids, std::size_t rows,
                     const std::uint32_t* leaf, auto) {
                     for (std::size_t i = 0; i < rows; ++i) {
                         out(range.begin + ids[i], t) = static_cast<std::int32_t>(leaf[i]);
                     }
                 });
    });
}

}  // namespace assay::tree

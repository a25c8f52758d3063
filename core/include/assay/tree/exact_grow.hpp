// Grows one full tree on numeric columns as they are: no bins, four bytes per value.
//
//     list(f)   the rows in ascending order of column f, ties by row; per row one word:
//               same << 31 | label << 30 | row
//     same      whether the row has the value of the row before it in the list
//     label     the class, for two classes and rows of equal weight; else 0
//
// Every column is sorted once; a split parts the lists of all columns, in order. Values are looked
// up only for the threshold that is chosen, half way between the two neighbours in the node. When
// rows between two rows of a list leave for the other side, the two are the same exactly when all
// links between them were: `same` is carried on without a look at the values.
//
// The tree is the one that grow.hpp grows on lossless bins, bit for bit: sums run in the same
// order, ties go to the lowest column and the lowest cut. Here any number of distinct values is
// lossless.
//
// Needs   1 <= rows < 2^30; values finite; weights, if not empty, positive and finite. Of the
//         options: best splitter, all columns, no monotone constraints, no limit on leaves, no
//         bootstrap; statistics are always kept.
// Cost    O(rows x columns) per level. 4 bytes per value, and about 30 per row (5 for two classes
//         with equal weights); while sorting, 24 per row.
// Source  Shafer, Agrawal, Mehta: SPRINT: a scalable parallel classifier (1996).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/tree/binary_cut.hpp"
#include "assay/tree/criterion.hpp"
#include "assay/tree/forest.hpp"
#include "assay/tree/grow_options.hpp"
#include "assay/tree/marked_rows.hpp"
#include "assay/tree/partition.hpp"
#include "assay/tree/radix_sort.hpp"
#include "assay/tree/split.hpp"
#include "assay/tree/tree_arrays.hpp"

namespace assay::tree {

template <class T, class Target>
class ExactGrower {
  public:
    using Entry = typename Target::Entry;
    using Unit = typename Target::Unit;

    ExactGrower(MatrixView<const T> X, const Target& target, const GrowOptions& options)
        : X_(X),
          target_(target),
          options_(options),
          width_(target.width()),
          n_flag_words_((X.cols + 63) / 64),
          lists_(X.rows * X.cols),
          goes_left_(X.rows) {}

    [[nodiscard]] Tree grow(std::span<const double> weight) {
        assert(X_.rows >= 1 && X_.rows < (std::size_t{1} << 30));
        assert(weight.empty() || weight.size() == X_.rows);
        packed_ =
            is_binary && std::all_of(weight.begin(), weight.end(), [](double w) { return w == 1; });
        sort_columns();
        Node root;
        root.end = X_.rows;
        totals_.assign(width_, Unit{});
        constants_.assign(n_flag_words_, 0);
        constant_.resize(n_flag_words_);
        total_.resize(width_);
        take_rows(weight);
        root.summary = target_.summary(rows(root), totals_.data());
        root_weight_ = root.summary.weight;
        n_shares_ = std::min<std::size_t>(static_cast<std::size_t>(options_.n_threads), 8);
        spare_.resize(X_.rows * n_shares_);
        cuts_.resize(X_.cols);
        tree_.importance.assign(X_.cols, 0.0);
        add_node(root);
        std::vector<Node> open{root};
        while (!open.empty()) {
            const Node node = open.back();
            open.pop_back();
            // Totals and constants lie on stacks that follow `open`.
            std::copy_n(totals_.begin() + offset(node.total_at), width_, total_.begin());
            std::copy_n(constants_.begin() + offset(node.constant_at), n_flag_words_,
                        constant_.begin());
            totals_.resize(node.total_at);
            constants_.resize(node.constant_at);
            Node left;
            Node right;
            if (may_split(node) && find_split(node) && part(node, left, right)) {
                open.push_back(right);
                open.push_back(left);
            } else {
                const auto i = static_cast<std::size_t>(node.index);
                tree_.slot[i] = node.index;
            }
        }
        assert(totals_.empty() && constants_.empty() && tree_.is_whole(true));
        return std::move(tree_);
    }

  private:
    static constexpr bool is_binary = std::is_same_v<Target, BinaryTarget>;
    static constexpr std::size_t parallel_rows = 2048;

    struct Node {
        std::size_t begin = 0;
        std::size_t end = 0;
        std::size_t total_at = 0;
        std::size_t constant_at = 0;
        std::int32_t index = 0;
        std::int32_t depth = 0;
        Summary summary;
        [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
    };

    // The best cut of a column in a node: behind the row at `place` of its list.
    struct Cut {
        double score = 0;
        std::size_t place = 0;
        bool found = false;
        bool is_constant = false;
        Unit left{};  // of a packed list
    };

    [[nodiscard]] static std::ptrdiff_t offset(std::size_t at) noexcept {
        return static_cast<std::ptrdiff_t>(at);
    }
    [[nodiscard]] std::span<const Entry> rows(const Node& node) const noexcept {
        return packed_ ? std::span<const Entry>{}
                       : std::span<const Entry>(entries_.data() + node.begin, node.size());
    }
    [[nodiscard]] std::span<MarkedRow> list(std::size_t f, const Node& node) noexcept {
        return {lists_.data() + f * X_.rows + node.begin, node.size()};
    }
    [[nodiscard]] double value(std::size_t f, MarkedRow marked) const noexcept {
        return static_cast<double>(X_(row_of_mark(marked), f)) + 0.0;  // one zero, not two
    }
    [[nodiscard]] bool is_constant(std::size_t f) const noexcept {
        return (constant_[f / 64] >> (f % 64) & 1U) != 0;
    }

    // One column after the other, though the keys of one are made by all threads: columns in
    // parallel would cost each thread as much memory as the lists of six columns.
    void sort_columns() {
        const std::size_t n = X_.rows;
        AlignedBuffer<SortKey<T>> keys(n);
        AlignedBuffer<SortItem> items(n);
        AlignedBuffer<SortItem> spare(n);
        for (std::size_t f = 0; f < X_.cols; ++f) {
            parallel_chunks(n, 16384, options_.n_threads, [&](Range range) {
                for (std::size_t i = range.begin; i < range.end; ++i) {
                    keys[i] = sort_key(X_(i, f));
                }
            });
            static_cast<void>(
                sort_column<SortKey<T>>({keys.data(), n}, {items.data(), n}, {spare.data(), n}));
            MarkedRow* out = lists_.data() + f * n;
            parallel_chunks(n, 16384, options_.n_threads, [&](Range range) {
                for (std::size_t i = range.begin; i < range.end; ++i) {
                    const std::uint32_t row = row_of(items[i]);
                    const bool same = i > 0 && keys[row] == keys[row_of(items[i - 1])];
                    assert(row < n);
                    out[i] = marked_row(row, same, packed_ && is_one(row));
                }
            });
        }
    }

    [[nodiscard]] bool is_one(std::size_t row) const noexcept {
        if constexpr (is_binary) {
            return target_.is_one(row) != 0;
        }
        return false;
    }

    void take_rows(std::span<const double> weight) {
        if constexpr (is_binary) {
            if (packed_) {
                for (std::size_t i = 0; i < X_.rows; ++i) {
                    target_.add(totals_.data(), target_.entry(i, 1.0));
                }
                return;
            }
        }
        entries_.resize(X_.rows);
        for (std::size_t i = 0; i < X_.rows; ++i) {
            entries_[i] = target_.entry(i, weight.empty() ? 1.0 : weight[i]);
            target_.add(totals_.data(), entries_[i]);
        }
        by_row_ = entries_;
        scratch_.resize(X_.rows);
    }

    [[nodiscard]] bool may_split(const Node& node) const noexcept {
        const double min_weight = options_.min_weight_fraction_leaf * root_weight_;
        return node.depth < options_.max_depth && node.size() >= options_.min_samples_split &&
               node.size() >= 2 * options_.min_samples_leaf &&
               node.summary.weight >= 2 * min_weight && !node.summary.pure &&
               node.summary.impurity > no_impurity;
    }

    // Fills best_ and best_cut_.
    [[nodiscard]] bool find_split(const Node& node) {
        const bool parallel = options_.n_threads > 1 && node.size() >= parallel_rows;
        if (parallel) {
            run_tasks(X_.cols, options_.n_threads, [&](std::size_t f) {
                if (!is_constant(f)) {
                    std::vector<typename Target::Number> scratch(target_.scratch_size());
                    cuts_[f] = search(node, f, scratch.data());
                }
            });
        }
        scan_scratch_.resize(target_.scratch_size());
        best_cut_ = {};
        for (std::size_t f = 0; f < X_.cols; ++f) {
            if (is_constant(f)) {
                continue;
            }
            const Cut cut = parallel ? cuts_[f] : search(node, f, scan_scratch_.data());
            if (cut.is_constant) {
                constant_[f / 64] |= std::uint64_t{1} << (f % 64);
            } else if (cut.found && (!best_cut_.found || cut.score > best_cut_.score)) {
                best_cut_ = cut;
                best_ = f;
            }
        }
        return best_cut_.found;
    }

    [[nodiscard]] Cut search(const Node& node, std::size_t f, typename Target::Number* scratch) {
        Cut cut;
        const std::span<const MarkedRow> run = list(f, node);
        if (value(f, run.front()) == value(f, run.back())) {
            cut.is_constant = true;
            return cut;
        }
        if constexpr (is_binary) {
            if (packed_) {
                const double least = std::max(options_.min_weight_fraction_leaf * root_weight_,
                                              static_cast<double>(options_.min_samples_leaf));
                const BinaryCut found = dispatch([&](auto level) {
                    return BinaryCutSearch<decltype(level)>::marked(
                        run.data(), run.size(), static_cast<std::uint32_t>(total_[0]), least);
                });
                cut.found = found.last_left >= 0;
                cut.score = found.score;
                cut.place = static_cast<std::size_t>(found.last_left);
                cut.left = std::uint64_t{found.left_weight} << 32 | found.left_ones;
                return cut;
            }
        }
        SideLimits limits;
        limits.min_rows = options_.min_samples_leaf;
        limits.min_weight = options_.min_weight_fraction_leaf * root_weight_;
        typename Target::Scan scan(target_, total_.data(), scratch);
        scan.clear();
        const bool free = limits.are_free();
        for (std::size_t i = 0; i + 1 < run.size(); ++i) {
            scan.add_entry(by_row_[row_of_mark(run[i])]);
            if (!is_same(run[i + 1]) &&
                (free || sides_allowed(scan, i + 1, run.size() - i - 1, limits))) {
                const double score = scan.score();
                if (score > (cut.found ? cut.score : -std::numeric_limits<double>::infinity())) {
                    cut.score = score;
                    cut.place = i;
                    cut.found = true;
                }
            }
        }
        return cut;
    }

    // Parts the rows behind the best cut; false when the gain is too small.
    [[nodiscard]] bool part(const Node& node, Node& left, Node& right) {
        const std::span<const MarkedRow> run = list(best_, node);
        const std::size_t n_left = best_cut_.place + 1;
        const double low = value(best_, run[n_left - 1]);
        const double high = value(best_, run[n_left]);
        const double middle = low / 2 + high / 2;
        assert(n_left < run.size() && low < high);
        for (std::size_t i = 0; i < run.size(); ++i) {
            goes_left_[row_of_mark(run[i])] = i < n_left ? 1 : 0;
        }
        if (!packed_) {
            partition_rows<Entry>({entries_.data() + node.begin, node.size()}, scratch_.data(),
                                  [&](std::size_t row) { return goes_left_[row] != 0; });
        }
        left.begin = node.begin;
        left.end = right.begin = node.begin + n_left;
        right.end = node.end;
        left.depth = right.depth = node.depth + 1;
        for (Node* child : {&right, &left}) {  // the right one's totals lie deeper
            child->total_at = totals_.size();
            totals_.resize(totals_.size() + width_, Unit{});
            child->constant_at = constants_.size();
            constants_.insert(constants_.end(), constant_.begin(), constant_.end());
            Unit* total = totals_.data() + child->total_at;
            if constexpr (is_binary) {
                if (packed_) {
                    *total = child == &left ? best_cut_.left : total_[0] - best_cut_.left;
                }
            }
            for (const Entry& e : rows(*child)) {
                target_.add(total, e);
            }
            child->summary = target_.summary(rows(*child), total);
        }
        const double improvement = (node.summary.weight * node.summary.impurity -
                                    left.summary.weight * left.summary.impurity -
                                    right.summary.weight * right.summary.impurity) /
                                   root_weight_;
        if (improvement + no_impurity < options_.min_impurity_decrease) {
            totals_.resize(right.total_at);
            constants_.resize(right.constant_at);
            return false;
        }
        part_lists(node);
        const auto i = static_cast<std::size_t>(node.index);
        left.index = static_cast<std::int32_t>(tree_.left.size());
        right.index = left.index + 1;
        assert(tree_.left[i] == 0);  // a leaf so far
        tree_.left[i] = left.index;
        tree_.feature[i] = static_cast<std::int32_t>(best_);
        tree_.missing_left[i] = left.summary.weight >= right.summary.weight ? 1 : 0;
        tree_.threshold[i] = middle < high && middle >= low ? middle : low;
        tree_.importance[best_] += improvement;
        add_node(left);
        add_node(right);
        return true;
    }

    void part_lists(const Node& node) {
        // Every thread has scratch of its own and a share of the columns.
        const std::size_t n_shares = node.size() < parallel_rows ? 1 : n_shares_;
        run_tasks(n_shares, options_.n_threads, [&](std::size_t share) {
            for (std::size_t f = share; f < X_.cols; f += n_shares) {
                // Constant columns are not looked at below; that of the split lies in order.
                if (f != best_ && !is_constant(f)) {
                    part_marked(list(f, node), goes_left_.data(), spare_.data() + share * X_.rows);
                }
            }
        });
    }

    void add_node(const Node& node) {
        tree_.add_leaf();
        tree_.impurity.push_back(node.summary.impurity);
        tree_.n_samples.push_back(static_cast<std::int64_t>(node.size()));
        tree_.weight.push_back(node.summary.weight);
        target_.values(rows(node), totals_.data() + node.total_at,
                       tree_.add_value(target_.n_outputs()));
    }

    MatrixView<const T> X_;
    Target target_;
    GrowOptions options_;
    std::size_t width_;
    std::size_t n_flag_words_;
    AlignedBuffer<MarkedRow> lists_;
    std::vector<std::uint8_t> goes_left_;
    bool packed_ = false;  // labels are in the lists, and nothing else is needed of the rows
    std::vector<Entry> entries_;
    std::vector<Entry> by_row_;
    std::vector<Entry> scratch_;
    std::vector<MarkedRow> spare_;
    std::size_t n_shares_ = 1;
    std::vector<Unit> totals_;
    std::vector<Unit> total_;  // of the current node
    std::vector<std::uint64_t> constants_;
    std::vector<std::uint64_t> constant_;
    std::vector<typename Target::Number> scan_scratch_;
    std::vector<Cut> cuts_;
    Cut best_cut_;
    std::size_t best_ = 0;
    Tree tree_;
    double root_weight_ = 0;
};

// One tree with statistics; y holds class codes.
template <class T>
[[nodiscard]] Grown grow_exact_classes(MatrixView<const T> X, std::span<const std::int32_t> y,
                                       std::span<const double> weight, const GrowOptions& options) {
    const auto grown = [&](const auto& target) {
        std::vector<Tree> trees(1);
        trees[0] = ExactGrower<T, std::decay_t<decltype(target)>>(X, target, options).grow(weight);
        return detail::laid_out(trees, target.n_outputs(), options);
    };
    if (!detail::are_small_integers(weight, X.rows, 0) || options.n_classes > 65535) {
        return grown(
            ClassTarget<Criterion::at_run_time, double>(options.criterion, y, options.n_classes));
    }
    if (options.n_classes == 2 && options.criterion == Criterion::gini) {
        return grown(BinaryTarget(y));
    }
    return grown(ClassTarget<Criterion::at_run_time, std::uint32_t>(options.criterion, y,
                                                                    options.n_classes));
}

// y is row-major (rows, n_outputs).
template <class T>
[[nodiscard]] Grown grow_exact_values(MatrixView<const T> X, std::span<const double> y,
                                      std::size_t n_outputs, std::span<const double> weight,
                                      const GrowOptions& options) {
    const std::vector<double> offset = options.criterion == Criterion::poisson
                                           ? std::vector<double>(n_outputs)
                                           : detail::offsets(y, n_outputs, weight);
    const auto grown = [&](const auto& target) {
        std::vector<Tree> trees(1);
        trees[0] = ExactGrower<T, std::decay_t<decltype(target)>>(X, target, options).grow(weight);
        return detail::laid_out(trees, target.n_outputs(), options);
    };
    if (n_outputs == 1) {
        return grown(MeanTarget<1>(options.criterion, y, 1, offset));
    }
    return grown(MeanTarget<0>(options.criterion, y, n_outputs, offset));
}

}  // namespace assay::tree

// Grows one tree on binned columns.
//
// At every node the columns drawn for it (all, or max_features at random) are searched for
// the best split; the rows are parted in place and both children follow, depth first, or
// best first under a limit on leaves. Random choices of a node come from a stream of its
// own, keyed by (seed, tree, path from the root): they depend neither on the order of growth
// nor on limits, so a tree cut at depth d is the tree grown with max_depth = d.
//
// Columns are drawn until max_features of them are not constant in the node; one that is
// constant is not tried again below. (scikit-learn counts constant columns as drawn: on tables
// with many rare yes/no columns its deep nodes then see few real candidates, and its forests
// are worse.) A split needs no gain (XOR would have none at its root); the stops decide.
//
// Needs   at least one row with positive weight; 1 <= max_features <= cols.
// Cost    O(rows x columns drawn) per level; scratch of one entry per row, and one bin list.
// Source  Breiman, Friedman, Olshen, Stone (1984); Geurts, Ernst, Wehenkel: Extremely
//         randomized trees (2006).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/parallel.hpp"
#include "assay/common/random.hpp"
#include "assay/tree/below.hpp"
#include "assay/tree/binary_cut.hpp"
#include "assay/tree/bins.hpp"
#include "assay/tree/bootstrap.hpp"
#include "assay/tree/class_cut.hpp"
#include "assay/tree/criterion.hpp"
#include "assay/tree/cut_guide.hpp"
#include "assay/tree/grow_options.hpp"
#include "assay/tree/histogram.hpp"
#include "assay/tree/nominal_split.hpp"
#include "assay/tree/partition.hpp"
#include "assay/tree/presort.hpp"
#include "assay/tree/split.hpp"
#include "assay/tree/tree_arrays.hpp"

namespace assay::tree {

template <class Code, class Target>
class Grower {
  public:
    using Entry = typename Target::Entry;
    using Unit = typename Target::Unit;

    Grower(const BinnedView<Code>& bins, const CutGuide& guide, const Target& target,
           const GrowOptions& options)
        : bins_(bins),
          guide_(guide),
          target_(target),
          options_(options),
          width_(target.width()),
          n_flag_words_((bins.cols + 63) / 64),
          scan_scratch_(target.scratch_size()),
          columns_(bins.cols),
          goes_left_(nominal_bins(bins), 0) {
        assert(bins.rows >= 1 && bins.cols >= 1);
        assert(options.monotone.empty() || options.monotone.size() == bins.cols);
        std::iota(columns_.begin(), columns_.end(), 0U);
        if constexpr (binary_gini) {
            cells32_.assign(256 * group_size, 0);
            cells64_.assign(256 * group_size, 0);
        }
        if constexpr (counts_classes<Target>) {
            lanes_ = target.criterion() == Criterion::gini ? class_lanes(width_) : 0;
        }
    }

    // The rows of a tree: all of positive weight, or a bootstrap sample of them. False when the
    // sample has none. `weight` may be empty: all 1.
    [[nodiscard]] bool take_rows(std::span<const double> weight, std::uint64_t tree_number,
                                 std::uint64_t attempt) {
        if (options_.n_draws != 0) {
            counts_.resize(bins_.rows);
            bootstrap_counts(options_.seed, tree_number, options_.n_draws, counts_, attempt);
        }
        assert(weight.empty() || weight.size() == bins_.rows);
        weight_ = weight;
        entries_.resize(bins_.rows);
        std::size_t n = 0;
        const ByRow by_row = this->by_row();
        for (std::size_t i = 0; i < bins_.rows; ++i) {
            entries_[n] = by_row[i];
            n += static_cast<std::size_t>(by_row.weight_of(i) > 0);
        }
        entries_.resize(n);
        return n > 0;
    }

    // `unit`: every entry has weight 1, so that rows need not be counted beside weights.
    void prepare(bool unit) {
        has_kernel_ = (binary_gini || lanes_ != 0) && !options_.random_splitter &&
                      options_.monotone.empty() && (unit || options_.min_samples_leaf == 1);
        if (has_kernel_ && lanes_ != 0) {
            class_cells_.assign(256 * lanes_ * group_size, 0);
            class_total_.assign(lanes_, 0);
        }
        is_free_ = options_.monotone.empty() && options_.min_samples_leaf == 1 &&
                   options_.min_weight_fraction_leaf <= 0;
        weights_follow_ = unit && options_.n_trees == 1 && options_.with_stats;
        wide_lists_.clear();
        narrow_lists_.clear();
        if (is_absolute || options_.random_splitter || options_.max_features * 2 < bins_.cols) {
            return;
        }
        std::vector<std::uint32_t> fine;
        for (std::size_t f = 0; f < bins_.cols; ++f) {
            if (bins_.nominal[f] == 0 && bins_.n_bins[f] > coarse_bins) {
                fine.push_back(static_cast<std::uint32_t>(f));
            }
        }
        // Lists of few columns cost more to part at every split than they save.
        if (fine.size() * 4 < bins_.cols) {
            return;
        }
        goes_left_row_.resize(bins_.rows);
        n_shares_ = std::min<std::size_t>(static_cast<std::size_t>(options_.n_threads), 8);
        const auto sort = [&](auto& lists) {
            lists.sort(bins_, target_, std::span<const Entry>(entries_), fine, options_.n_threads,
                       n_shares_);
        };
        if (!binary_gini && bins_.rows <= narrow_rows) {
            sort(narrow_lists_);
        } else {
            sort(wide_lists_);
        }
    }

    [[nodiscard]] Tree grow(std::uint64_t tree_number) {
        assert(!entries_.empty() && is_clean());
        tree_.clear();
        tree_.importance.assign(bins_.cols, 0.0);
        if (options_.n_trees == 1 && options_.with_stats) {
            tree_.reserve(most_nodes(), target_.n_outputs());
        }
        total_.resize(width_);
        constant_.resize(n_flag_words_);
        make_room(scratch_, entries_.size());
        totals_.assign(width_, Unit{});
        side_.assign(width_, Unit{});
        left_total_.assign(width_, Unit{});
        if (options_.random_splitter) {
            gathered_.resize(std::max(gathered_.size(), group_size * entries_.size()));
        }
        constants_.assign(n_flag_words_, 0);
        Node root;
        root.end = entries_.size();
        root.key = root_key(tree_number);
        sum(root, totals_.data());
        root.summary = target_.summary(rows(root), totals_.data());
        root_weight_ = root.summary.weight;
        add_node(root);
        if (options_.max_leaf_nodes != 0) {
            grow_best_first(root);
        } else {
            grow_depth_first(root);
        }
        assert(is_clean() && tree_.is_whole(options_.with_stats));
        if (options_.n_trees == 1) {
            finish_only_tree();
            return std::move(tree_);
        }
        return tree_;  // a copy: exactly as long as needed, and the room here serves again
    }

  private:
    static constexpr bool binary_gini = std::is_same_v<Target, BinaryTarget>;
    static constexpr bool is_absolute = requires { Target::is_absolute; };
    static constexpr std::int32_t coarse_bins = 255;  // codes of one byte, whatever Code is

    static constexpr std::size_t group_size = 4;
    static constexpr std::size_t parallel_rows = 2048;  // 20 columns: 40 us on each of two cores

    struct Node {
        std::size_t begin = 0;
        std::size_t end = 0;
        std::uint64_t key = 0;
        std::size_t total_at = 0;     // in totals_
        std::size_t constant_at = 0;  // in constants_
        std::int32_t index = 0;
        std::int32_t depth = 0;
        Summary summary;
        double low = -std::numeric_limits<double>::infinity();
        double high = std::numeric_limits<double>::infinity();
        [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
    };

    // The entry of each row of the table, made when asked for: sorted columns come by rows, and a
    // copy in that order would take more of the cache than the target itself.
    struct ByRow {
        const Target* target;
        const double* weight;
        const std::uint32_t* count;

        [[nodiscard]] double weight_of(std::size_t row) const noexcept {
            return (count != nullptr ? count[row] : 1U) * (weight != nullptr ? weight[row] : 1.0);
        }
        [[nodiscard]] Entry operator[](std::size_t row) const noexcept {
            return target->entry(row, weight_of(row));
        }
    };
    [[nodiscard]] ByRow by_row() const noexcept {
        return {&target_, weight_.empty() ? nullptr : weight_.data(),
                options_.n_draws != 0 ? counts_.data() : nullptr};
    }

    struct Children {
        Node left;
        Node right;
        double improvement = 0;
    };

    static std::size_t nominal_bins(const BinnedView<Code>& bins) {
        std::size_t most = 0;
        for (std::size_t f = 0; f < bins.cols; ++f) {
            if (bins.nominal[f] != 0) {
                most = std::max(most, static_cast<std::size_t>(bins.n_bins[f]) + 1);
            }
        }
        return most;
    }

    template <class T>
    static void make_room(AlignedBuffer<T>& buffer, std::size_t size) {
        if (buffer.size() < size) {
            buffer = AlignedBuffer<T>(size);
        }
    }

    [[nodiscard]] std::size_t most_nodes() const noexcept {
        std::size_t leaves = entries_.size() / options_.min_samples_leaf;
        if (options_.max_leaf_nodes != 0) {
            leaves = std::min(leaves, options_.max_leaf_nodes);
        }
        if (options_.max_depth < 31) {
            leaves = std::min(leaves, std::size_t{1} << options_.max_depth);
        }
        return 2 * std::max<std::size_t>(leaves, 1) - 1;
    }

    [[nodiscard]] std::span<Entry> rows(const Node& node) noexcept {
        return {entries_.data() + node.begin, node.size()};
    }

    // What is zero between calls; for asserts, as are the next two.
    [[nodiscard]] bool is_clean() const noexcept {
        return is_zero(std::span(cells32_)) && is_zero(std::span(cells64_)) &&
               is_zero(std::span(class_cells_));
    }
    [[nodiscard]] bool are_in_order() const noexcept {
        return n_group_ == 0 && std::is_sorted(columns_.begin(), columns_.end());
    }
    [[nodiscard]] bool is_sum_of_rows(const Unit* total, const Node& node) {
        std::vector<Unit> again(width_);
        sum(node, again.data());
        return std::equal(again.begin(), again.end(), total);
    }

    void sum(const Node& node, Unit* total) noexcept {
        for (const Entry& e : rows(node)) {
            target_.add(total, e);
        }
    }

    // Gives back the working memory first: what is made of the tree then takes its place.
    void finish_only_tree() {
        std::vector<Entry>().swap(entries_);
        scratch_ = {};
        wide_lists_ = {};
        narrow_lists_ = {};
        tree_.shrink();
        if (weights_follow_) {
            tree_.weight.assign(tree_.n_samples.begin(), tree_.n_samples.end());
        }
    }

    // --- order of growth ---

    // Makes the node's totals and constant columns the current ones.
    void enter(const Node& node) noexcept {
        assert(node.begin < node.end && node.end <= entries_.size());
        assert(node.total_at + width_ <= totals_.size());
        assert(node.constant_at + n_flag_words_ <= constants_.size());
        for (std::size_t k = 0; k < width_; ++k) {
            total_[k] = totals_[node.total_at + k];
        }
        for (std::size_t word = 0; word < n_flag_words_; ++word) {
            constant_[word] = constants_[node.constant_at + word];
        }
    }

    void grow_depth_first(const Node& root) {
        std::vector<Node> open{root};
        while (!open.empty()) {
            const Node node = open.back();
            open.pop_back();
            // Totals and constants lie on stacks that follow `open`.
            enter(node);
            totals_.resize(node.total_at);
            constants_.resize(node.constant_at);
            Children children;
            if (!may_split(node) || !find_split(node) || !part(node, children)) {
                finish_leaf(node);
                continue;
            }
            link(node, children);
            open.push_back(children.right);
            open.push_back(children.left);
        }
        assert(totals_.empty() && constants_.empty());
    }

    struct Candidate {
        Node node;
        Children children;
        Split split;
        bool splits = false;
    };

    [[nodiscard]] Candidate candidate(const Node& node) {
        Candidate c;
        c.node = node;
        enter(node);
        if (may_split(node) && find_split(node) && part(node, c.children)) {
            c.splits = true;
            c.split = best_;
        }
        return c;
    }

    void grow_best_first(const Node& root) {
        std::vector<Candidate> open;
        open.push_back(candidate(root));
        std::size_t leaves = 1;
        while (leaves < options_.max_leaf_nodes) {
            // The largest gain; among equal ones the node made first.
            std::size_t best = open.size();
            for (std::size_t i = 0; i < open.size(); ++i) {
                if (open[i].splits &&
                    (best == open.size() ||
                     open[i].children.improvement > open[best].children.improvement)) {
                    best = i;
                }
            }
            if (best == open.size()) {
                break;
            }
            Candidate chosen = std::move(open[best]);
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(best));
            best_ = std::move(chosen.split);
            link(chosen.node, chosen.children);
            open.push_back(candidate(chosen.children.left));
            open.push_back(candidate(chosen.children.right));
            ++leaves;
        }
        for (const Candidate& c : open) {
            enter(c.node);
            finish_leaf(c.node);
        }
    }

    // --- one node ---

    [[nodiscard]] bool may_split(const Node& node) const noexcept {
        const double min_weight = options_.min_weight_fraction_leaf * root_weight_;
        return node.depth < options_.max_depth && node.size() >= options_.min_samples_split &&
               node.size() >= 2 * options_.min_samples_leaf &&
               node.summary.weight >= 2 * min_weight && !node.summary.pure &&
               node.summary.impurity > no_impurity;
    }

    // In nodes of a few rows many columns part the rows alike. If the first of them always won,
    // the trees of a forest would resemble each other, and ask the first columns too often.
    [[nodiscard]] bool breaks_ties_at_random() const noexcept {
        return options_.n_draws != 0 || options_.random_splitter ||
               options_.max_features < bins_.cols;
    }

    [[nodiscard]] bool is_constant(std::size_t f) const noexcept {
        return (constant_[f / 64] >> (f % 64) & 1U) != 0;
    }

    // Columns that are read several at a time.
    [[nodiscard]] bool is_grouped(std::size_t f) const noexcept {
        return !is_absolute && bins_.nominal[f] == 0 && bins_.has_missing[f] == 0 &&
               (options_.random_splitter || (has_kernel_ && bins_.n_bins[f] <= coarse_bins));
    }

    // Fills best_.
    [[nodiscard]] bool find_split(const Node& node) {
        best_.score = -std::numeric_limits<double>::infinity();
        best_.feature = -1;
        best_.tie_key = breaks_ties_at_random() ? mixed(options_.seed ^ node.key) | 1U : 0;
        best_.is_drawn = false;
        RandomStream stream(options_.seed, node.key);
        std::size_t n_tried = 0;
        n_group_ = 0;
        if constexpr (is_absolute) {
            target_.enter(rows(node));
        }
        const auto look_at = [&](std::size_t f) {
            if (is_constant(f)) {
                return;
            }
            if (is_grouped(f)) {
                assert(n_group_ < group_size);
                group_[n_group_++] = f;
                if (n_group_ == group_size) {
                    n_tried += try_group(node, stream);
                }
            } else {
                n_tried += try_column(node, f, stream) ? 1 : 0;
            }
        };
        search_sorted(node);
        if (options_.max_features >= bins_.cols) {
            for (std::size_t f = 0; f < bins_.cols; ++f) {
                look_at(f);
            }
            try_group(node, stream);
            assert(are_in_order());
            return best_.found();
        }
        swaps_.clear();
        for (std::size_t i = 0; i < bins_.cols; ++i) {
            if (n_tried + n_group_ >= options_.max_features) {
                n_tried += try_group(node, stream);
                if (n_tried >= options_.max_features) {
                    break;
                }
            }
            const std::size_t j = i + stream.below(static_cast<std::uint32_t>(bins_.cols - i));
            std::swap(columns_[i], columns_[j]);
            swaps_.push_back(static_cast<std::uint32_t>(j));
            look_at(columns_[i]);
        }
        try_group(node, stream);
        for (std::size_t i = swaps_.size(); i > 0; --i) {
            std::swap(columns_[i - 1], columns_[swaps_[i - 1]]);
        }
        assert(are_in_order());
        return best_.found();
    }

    // False when the column is constant in this node.
    bool try_column(const Node& node, std::size_t f, RandomStream& stream) {
        if constexpr (is_absolute) {
            target_.collect(bins_, f, rows(node), cells_);
        } else {
            const auto n_bins = static_cast<std::size_t>(bins_.n_bins[f]);
            if (has_list(f)) {
                return with_lists([&](auto& lists) {
                    return try_sorted(node, f, lists.run(f, node.begin, node.end), by_row(),
                                      stream);
                });
            }
            if (!prefers_histogram(node.size(), n_bins, width_)) {
                const std::span<const Entry> entries = rows(node);
                return try_sorted(node, f,
                                  sorted_rows(bins_.codes + f * bins_.rows, bins_.n_bins[f],
                                              entries, histogram_.sorted, histogram_.spare),
                                  entries.data(), stream);
            }
            collect_cells<Code, Target>(bins_, f, target_, rows(node), histogram_, cells_);
        }
        return try_cells(node, f, stream);
    }

    // The column by what its bins add up to, in cells_.
    bool try_cells(const Node& node, std::size_t f, RandomStream& stream) {
        if (cells_.count <= 1) {
            constant_[f / 64] |= std::uint64_t{1} << (f % 64);
            return false;
        }
        const SideLimits limits = this->limits(node, f);
        typename Target::Scan scan(target_, total_.data(), scan_scratch_.data());
        const std::size_t n = node.size();
        double threshold = 0;
        Best best;
        if (bins_.nominal[f] != 0) {
            best = options_.random_splitter
                       ? random_bipartition(target_, scan, total_.data(), cells_, n, limits, stream,
                                            nominal_)
                       : best_bipartition(target_, scan, cells_, n, limits, nominal_);
        } else {
            best = options_.random_splitter
                       ? drawn_cut(bins_, guide_, f, scan, cells_, n, limits, stream, threshold)
                       : best_cut(scan, cells_, n, limits);
        }
        const auto column = static_cast<std::int32_t>(f);
        if (best.found && best_.loses_to(best.score, column)) {
            take(best, column, threshold);
        }
        return true;
    }

    // A column by its rows in order; elements number `entries`. False when it is constant.
    template <class Item, class Entries>
    bool try_sorted(const Node& node, std::size_t f, std::span<const Item> run, Entries entries,
                    RandomStream& stream) {
        assert(run.size() == node.size());
        assert(std::is_sorted(run.begin(), run.end(),
                              [](Item a, Item b) { return element_code(a) < element_code(b); }));
        if (element_code(run.front()) == element_code(run.back())) {
            constant_[f / 64] |= std::uint64_t{1} << (f % 64);
            return false;
        }
        if (options_.random_splitter || bins_.nominal[f] != 0 ||
            element_code(run.back()) == bins_.n_bins[f]) {
            collect_sorted(run, bins_.n_bins[f], target_, entries, cells_);
            return try_cells(node, f, stream);
        }
        const auto column = static_cast<std::int32_t>(f);
        const SortedCut cut = is_searched(f)
                                  ? sorted_cuts_[f]
                                  : sorted_cut(node, f, run, entries, scan_scratch_.data());
        if (cut.found && best_.loses_to(cut.score, column)) {
            best_.score = cut.score;
            best_.feature = column;
            best_.nominal = best_.missing_left = best_.has_missing = false;
            best_.last_left = cut.last_left;
            best_.first_right = cut.first_right;
            best_.knows_left = cut.knows_left;
            left_total_[0] = cut.left;
        }
        return true;
    }

    // The best cut of a column that is not constant and has no missing value in this node.
    struct SortedCut {
        double score = 0;
        std::int32_t last_left = 0;
        std::int32_t first_right = 0;
        bool found = false;
        bool knows_left = false;
        Unit left{};
    };

    template <class Item, class Entries>
    [[nodiscard]] SortedCut sorted_cut(const Node& node, std::size_t f, std::span<const Item> run,
                                       Entries entries, typename Target::Number* scratch) const {
        if constexpr (binary_gini && std::is_same_v<Item, Element>) {
            if (has_kernel_ && has_list(f)) {
                const BinaryCut cut = dispatch([&](auto level) {
                    return BinaryCutSearch<decltype(level)>::sorted(
                        run.data(), run.size(), static_cast<std::uint32_t>(total_[0] >> 32),
                        static_cast<std::uint32_t>(total_[0]), min_weight());
                });
                return {cut.score,          cut.last_left, cut.first_right,
                        cut.last_left >= 0, true,          packed(cut)};
            }
        }
        typename Target::Scan scan(target_, total_.data(), scratch);
        const Best best = best_sorted_cut(scan, run, entries, limits(node, f));
        if (!best.found) {
            return {};
        }
        return {best.score,
                element_code(run[best.place]),
                element_code(run[best.place + 1]),
                true,
                false,
                Unit{}};
    }

    [[nodiscard]] static Unit packed(const BinaryCut& cut) noexcept {
        return static_cast<Unit>(std::uint64_t{cut.left_weight} << 32 | cut.left_ones);
    }

    // One big tree: the sorted columns of a big node are searched in parallel. What a column
    // finds does not depend on the others; the best is chosen in their order as ever.
    void search_sorted(const Node& node) {
        n_searched_ = 0;
        if constexpr (!is_absolute) {
            if (options_.n_threads == 1 || node.size() < parallel_rows || !has_lists() ||
                options_.max_features < bins_.cols) {
                return;
            }
            sorted_cuts_.resize(bins_.cols);
            n_searched_ = bins_.cols;
            run_tasks(bins_.cols, options_.n_threads, [&](std::size_t f) {
                if (!has_list(f) || is_constant(f)) {
                    return;
                }
                with_lists([&](auto& lists) {
                    const auto run = lists.run(f, node.begin, node.end);
                    if (element_code(run.front()) != element_code(run.back()) &&
                        element_code(run.back()) != bins_.n_bins[f]) {
                        std::vector<typename Target::Number> scratch(target_.scratch_size());
                        sorted_cuts_[f] = sorted_cut(node, f, run, by_row(), scratch.data());
                    }
                });
            });
        }
    }
    [[nodiscard]] bool is_searched(std::size_t f) const noexcept {
        return f < n_searched_ && has_list(f);
    }

    // Columns kept in order, in one of two widths.
    [[nodiscard]] bool has_lists() const noexcept {
        return wide_lists_.has_any() || narrow_lists_.has_any();
    }
    [[nodiscard]] bool has_list(std::size_t f) const noexcept {
        return wide_lists_.has(f) || narrow_lists_.has(f);
    }
    template <class Call>
    decltype(auto) with_lists(Call call) {
        return narrow_lists_.has_any() ? call(narrow_lists_) : call(wide_lists_);
    }

    // Where rows need not be counted: of rows and of weight, the larger demand.
    [[nodiscard]] double min_weight() const noexcept {
        return std::max(options_.min_weight_fraction_leaf * root_weight_,
                        static_cast<double>(options_.min_samples_leaf));
    }

    // Columns of a group are read in one pass over the rows; returns how many are not constant.
    std::size_t try_group(const Node& node, RandomStream& stream) {
        switch (std::exchange(n_group_, 0)) {
            case 1:
                return try_columns<1>(node, stream);
            case 2:
                return try_columns<2>(node, stream);
            case 3:
                return try_columns<3>(node, stream);
            case 4:
                return try_columns<4>(node, stream);
            default:
                return 0;
        }
    }

    template <std::size_t n>
    std::size_t try_columns(const Node& node, RandomStream& stream) {
        if (options_.random_splitter) {
            return try_random_cuts<n>(node, stream);
        }
        if constexpr (binary_gini) {
            return try_best_cuts<n>(node);
        } else if constexpr (counts_classes<Target>) {
            return try_class_cuts<n>(node, stream);
        }
        return 0;
    }

    // Codes of the rows, column after column. Arguments by value: bytes written may alias
    // anything else, and every pointer would be read again for every row.
    template <std::size_t n>
    static void gather(std::span<const Entry> entries, std::array<const Code*, n> codes,
                       Code* __restrict out) noexcept {
        const std::size_t size = entries.size();
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t row = entries[i].row;
            for (std::size_t g = 0; g < n; ++g) {
                out[g * size + i] = codes[g][row];
            }
        }
    }

    // The same, with the smallest and the largest code of each column.
    template <std::size_t n>
    static void gather_range(std::span<const Entry> entries, std::array<const Code*, n> codes,
                             Code* __restrict out, std::array<Code, n>& first,
                             std::array<Code, n>& last) noexcept {
        const std::size_t size = entries.size();
        std::array<Code, n> low;
        std::array<Code, n> high;
        for (std::size_t g = 0; g < n; ++g) {
            low[g] = high[g] = codes[g][entries[0].row];
        }
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t row = entries[i].row;
            for (std::size_t g = 0; g < n; ++g) {
                const Code code = codes[g][row];
                out[g * size + i] = code;
                low[g] = std::min(low[g], code);
                high[g] = std::max(high[g], code);
            }
        }
        first = low;
        last = high;
    }

    // One random cut of each column: no histogram, only the sums below it.
    template <std::size_t n>
    std::size_t try_random_cuts(const Node& node, RandomStream& stream) {
        const std::span<const Entry> entries = rows(node);
        const std::size_t size = entries.size();
        std::array<const Code*, n> codes;
        for (std::size_t g = 0; g < n; ++g) {
            codes[g] = bins_.codes + group_[g] * bins_.rows;
        }
        std::array<Code, n> first;
        std::array<Code, n> last;
        if (size <= few_rows) {
            gather_range<n>(entries, codes, gathered_.data(), first, last);
        } else {
            gather<n>(entries, codes, gathered_.data());
            for (std::size_t g = 0; g < n; ++g) {
                const auto range = dispatch([&](auto level) {
                    return Below<decltype(level)>::range(gathered_.data() + g * size, size);
                });
                first[g] = static_cast<Code>(range.first);
                last[g] = static_cast<Code>(range.second);
            }
        }
        // All cuts before any sum: their cache misses wait for each other no longer.
        std::array<RandomCut, n> cuts;
        std::size_t n_tried = 0;
        for (std::size_t g = 0; g < n; ++g) {
            const std::size_t f = group_[g];
            if (first[g] == last[g]) {
                constant_[f / 64] |= std::uint64_t{1} << (f % 64);
            } else {
                ++n_tried;
                cuts[g] = random_cut(guide_, f, first[g], last[g], random_share(stream));
                assert(first[g] <= cuts[g].last_left && cuts[g].last_left < last[g]);
            }
        }
        if constexpr (n == 4 && binary_gini && sizeof(Code) == 1) {
            std::uint8_t lasts[4];
            std::uint64_t sums[4];
            for (std::size_t g = 0; g < 4; ++g) {
                lasts[g] = static_cast<std::uint8_t>(cuts[g].last_left);
            }
            dispatch([&](auto level) {
                Below<decltype(level)>::weights4(entries.data(), gathered_.data(), size, lasts,
                                                 sums);
            });
            for (std::size_t g = 0; g < 4; ++g) {
                if (first[g] != last[g]) {
                    side_[0] = sums[g];
                    take_random_cut(node, group_[g], cuts[g], {gathered_.data() + g * size, size});
                }
            }
        } else {
            for (std::size_t g = 0; g < n; ++g) {
                if (first[g] != last[g]) {
                    const std::span<const Code> below(gathered_.data() + g * size, size);
                    std::fill(side_.begin(), side_.end(), Unit{});
                    target_.add_below(side_.data(), entries, below.data(), cuts[g].last_left);
                    take_random_cut(node, group_[g], cuts[g], below);
                }
            }
        }
        return n_tried;
    }

    // side_ has the sums of its left side.
    void take_random_cut(const Node& node, std::size_t f, const RandomCut& cut,
                         std::span<const Code> codes) {
        typename Target::Scan scan(target_, total_.data(), scan_scratch_.data());
        scan.add(side_.data());
        // Both sides have a row: the cut is inside the range.
        if (!is_free_ && !is_allowed(node, f, cut, codes, scan)) {
            return;
        }
        const auto column = static_cast<std::int32_t>(f);
        const double score = scan.score();
        if (!best_.loses_to(score, column)) {
            return;
        }
        best_.score = score;
        best_.feature = column;
        best_.nominal = best_.missing_left = best_.has_missing = false;
        best_.last_left = cut.last_left;
        best_.first_right = -1;
        best_.drawn = cut.drawn;
        best_.is_drawn = true;
        best_.knows_left = true;
        std::copy(side_.begin(), side_.end(), left_total_.begin());
    }

    template <class Scan>
    [[nodiscard]] bool is_allowed(const Node& node, std::size_t f, const RandomCut& cut,
                                  std::span<const Code> codes, const Scan& scan) const {
        const auto left_rows = static_cast<std::size_t>(
            std::count_if(codes.begin(), codes.end(), [&](Code c) { return c <= cut.last_left; }));
        return sides_allowed(scan, left_rows, codes.size() - left_rows, limits(node, f));
    }

    [[nodiscard]] SideLimits limits(const Node& node, std::size_t f) const noexcept {
        SideLimits limits;
        limits.min_rows = options_.min_samples_leaf;
        limits.min_weight = options_.min_weight_fraction_leaf * root_weight_;
        if (!options_.monotone.empty()) {
            limits.monotone = options_.monotone[f];
            limits.low = node.low;
            limits.high = node.high;
        }
        return limits;
    }

    // The common case of forests: two classes, bytes, no missing values.
    template <std::size_t n>
    std::size_t try_best_cuts(const Node& node) {
        const std::span<const Entry> entries = rows(node);
        const auto weight = static_cast<std::uint32_t>(total_[0] >> 32);
        const auto ones = static_cast<std::uint32_t>(total_[0]);
        const double min_weight = this->min_weight();
        std::array<const Code*, n> codes;
        for (std::size_t g = 0; g < n; ++g) {
            codes[g] = bins_.codes + group_[g] * bins_.rows;
        }
        std::size_t n_tried = 0;
        if (entries.size() <= few_rows && weight < (1U << 12)) {
            alignas(cache_line) std::uint32_t keys[n][few_rows];
            std::size_t i = 0;
            for (const Entry& e : entries) {
                const std::uint32_t load = (e.load >> 4 & 0xFFF000U) | (e.load & 0xFFFU);
                for (std::size_t g = 0; g < n; ++g) {
                    keys[g][i] = std::uint32_t{codes[g][e.row]} << 24 | load;
                }
                ++i;
            }
            for (; i % 16 != 0; ++i) {
                for (std::size_t g = 0; g < n; ++g) {
                    keys[g][i] = no_key;
                }
            }
            for (std::size_t g = 0; g < n; ++g) {
                n_tried += take_cut(group_[g], min_weight, dispatch([&](auto level) {
                                        return BinaryCutSearch<decltype(level)>::few(
                                            keys[g], entries.size(), weight, ones, min_weight);
                                    }));
            }
        } else if (weight < (1U << 16)) {
            n_tried = try_dense<n>(entries, codes, cells32_.data(), weight, ones, min_weight);
        } else {
            n_tried = try_dense<n>(entries, codes, cells64_.data(), weight, ones, min_weight);
        }
        return n_tried;
    }

    template <std::size_t n, class Word>
    static void fill(std::span<const Entry> entries, std::array<const Code*, n> codes,
                     Word* __restrict cells) noexcept {
        for (const Entry e : entries) {
            Word load = e.load;
            if constexpr (sizeof(Word) == 8) {
                load = Target::unit(e.load);
            }
            for (std::size_t g = 0; g < n; ++g) {
                cells[256 * g + codes[g][e.row]] += load;
            }
        }
    }

    template <std::size_t n, class Word>
    std::size_t try_dense(std::span<const Entry> entries, const std::array<const Code*, n>& codes,
                          Word* cells, std::uint32_t weight, std::uint32_t ones,
                          double min_weight) {
        fill<n>(entries, codes, cells);
        std::size_t n_tried = 0;
        for (std::size_t g = 0; g < n; ++g) {
            const auto n_bins = static_cast<std::size_t>(bins_.n_bins[group_[g]]);
            assert(n_bins <= static_cast<std::size_t>(coarse_bins));
            n_tried += take_cut(group_[g], min_weight, dispatch([&](auto level) {
                                    return BinaryCutSearch<decltype(level)>::dense(
                                        cells + 256 * g, n_bins, weight, ones, min_weight);
                                }));
            std::fill_n(cells + 256 * g, n_bins, Word{0});
        }
        return n_tried;
    }

    // 0 when the column is constant in this node; sum_left() makes left_total_ that of the cut.
    template <class Cut, class SumLeft>
    std::size_t take_cut(std::size_t f, double min_weight, const Cut& cut, SumLeft sum_left) {
        if (cut.last_left < 0) {
            if (min_weight <= 1) {
                constant_[f / 64] |= std::uint64_t{1} << (f % 64);
                return 0;
            }
            return 1;
        }
        const auto column = static_cast<std::int32_t>(f);
        if (best_.loses_to(cut.score, column)) {
            best_.score = cut.score;
            best_.feature = column;
            best_.nominal = best_.missing_left = best_.has_missing = false;
            best_.last_left = cut.last_left;
            best_.first_right = cut.first_right;
            best_.knows_left = true;
            sum_left();
        }
        return 1;
    }
    std::size_t take_cut(std::size_t f, double min_weight, const BinaryCut& cut) {
        return take_cut(f, min_weight, cut, [&] { left_total_[0] = packed(cut); });
    }

    // Several classes. Small nodes sort their rows instead where the column has many bins; big ones
    // need wider counts.
    template <std::size_t n>
    std::size_t try_class_cuts(const Node& node, RandomStream& stream) {
        if (node.summary.weight >= class_cut_weight) {
            std::size_t n_tried = 0;
            for (std::size_t g = 0; g < n; ++g) {
                n_tried += try_column(node, group_[g], stream) ? 1 : 0;
            }
            return n_tried;
        }
        std::size_t n_tried = 0;
        std::size_t n_dense = 0;
        for (std::size_t g = 0; g < n; ++g) {
            const std::size_t f = group_[g];
            const auto n_bins = static_cast<std::size_t>(bins_.n_bins[f]);
            if (prefers_class_cut(node.size(), n_bins, lanes_)) {
                group_[n_dense++] = f;
            } else {
                n_tried += try_column(node, f, stream) ? 1 : 0;
            }
        }
        switch (n_dense) {
            case 1:
                return n_tried + try_class_dense<1>(node);
            case 2:
                return n_tried + try_class_dense<2>(node);
            case 3:
                return n_tried + try_class_dense<3>(node);
            case 4:
                return n_tried + try_class_dense<4>(node);
            default:
                return n_tried;
        }
    }

    template <std::size_t n>
    std::size_t try_class_dense(const Node& node) {
        std::array<const Code*, n> codes;
        for (std::size_t g = 0; g < n; ++g) {
            codes[g] = bins_.codes + group_[g] * bins_.rows;
        }
        const std::size_t room = 256 * lanes_;
        fill_classes<n>(rows(node), codes, class_cells_.data(), lanes_);
        for (std::size_t k = 0; k < width_; ++k) {
            class_total_[k] = static_cast<std::int16_t>(total_[k]);
        }
        std::size_t n_tried = 0;
        for (std::size_t g = 0; g < n; ++g) {
            std::int16_t* cells = class_cells_.data() + room * g;
            const auto n_bins = static_cast<std::size_t>(bins_.n_bins[group_[g]]);
            const ClassCut cut = dispatch([&](auto level) {
                return ClassCutSearch<decltype(level)>::dense(cells, n_bins, lanes_,
                                                              class_total_.data(), min_weight());
            });
            n_tried +=
                take_cut(group_[g], min_weight(), cut, [&] { sum_classes(cells, cut.last_left); });
            std::fill_n(cells, n_bins * lanes_, std::int16_t{0});
        }
        return n_tried;
    }

    // By value: counts may alias anything else (see gather).
    template <std::size_t n>
    static void fill_classes(std::span<const Entry> entries, std::array<const Code*, n> codes,
                             std::int16_t* __restrict cells, std::size_t lanes) noexcept {
        const int shift = std::countr_zero(lanes);
        for (const Entry e : entries) {
            assert(static_cast<std::size_t>(e.label) < lanes);
            for (std::size_t g = 0; g < n; ++g) {
                std::int16_t& count = cells[((256 * g + codes[g][e.row]) << shift) + e.label];
                count = static_cast<std::int16_t>(count + e.weight);
            }
        }
    }

    // left_total_ from the bins up to `last`.
    void sum_classes(const std::int16_t* cells, std::int32_t last) noexcept {
        std::fill(left_total_.begin(), left_total_.end(), Unit{});
        for (std::int32_t b = 0; b <= last; ++b) {
            const std::int16_t* cell = cells + static_cast<std::size_t>(b) * lanes_;
            for (std::size_t k = 0; k < width_; ++k) {
                left_total_[k] += static_cast<Unit>(cell[k]);
            }
        }
    }

    void take(const Best& best, std::int32_t column, double threshold) {
        const auto f = static_cast<std::size_t>(column);
        best_.score = best.score;
        best_.feature = column;
        best_.nominal = bins_.nominal[f] != 0;
        best_.has_missing = cells_.has_missing;
        best_.knows_left = best_.is_drawn = false;
        best_.first_right = -1;
        if (best_.nominal) {
            best_.left_bins.clear();
            best_.right_bins.clear();
            for (std::size_t j = 0; j < cells_.n_values(); ++j) {
                (nominal_.best_side[j] != 0 ? best_.left_bins : best_.right_bins)
                    .push_back(cells_.bin[j]);
            }
            best_.missing_left = cells_.has_missing && nominal_.best_side[cells_.n_values()] != 0;
            return;
        }
        best_.missing_left = best.missing_left;
        best_.last_left = cells_.bin[best.place];
        if (best.place + 1 == cells_.n_values()) {
            best_.threshold = std::numeric_limits<double>::max();  // every value
        } else {
            best_.threshold =
                options_.random_splitter
                    ? threshold
                    : bins_.threshold(f, cells_.bin[best.place], cells_.bin[best.place + 1]);
        }
    }

    // Parts the rows by best_; false when the gain is too small. Puts the totals and
    // constants of both children on the stacks, the right one's first.
    [[nodiscard]] bool part(const Node& node, Children& children) {
        const auto f = static_cast<std::size_t>(best_.feature);
        assert(best_.feature >= 0 && f < bins_.cols);
        const Code* codes = bins_.codes + f * bins_.rows;
        const std::int32_t last = best_.last_left;
        std::size_t n_left = 0;
        if (best_.nominal) {
            for (const std::int32_t b : best_.left_bins) {
                goes_left_[static_cast<std::size_t>(b)] = 1;
            }
            for (const std::int32_t b : best_.right_bins) {
                goes_left_[static_cast<std::size_t>(b)] = 0;
            }
            const auto missing = static_cast<std::size_t>(bins_.n_bins[f]);
            goes_left_[missing] = best_.missing_left ? 1 : 0;
            n_left = partition_rows<Entry>(rows(node), scratch_.data(), [&](std::size_t row) {
                return goes_left_[codes[row]] != 0;
            });
        } else if (best_.missing_left) {
            const std::int32_t missing = bins_.n_bins[f];
            n_left = partition_rows<Entry>(rows(node), scratch_.data(), [&](std::size_t row) {
                return (codes[row] <= last) | (codes[row] == missing);
            });
        } else {
            n_left = partition_rows<Entry>(rows(node), scratch_.data(),
                                           [&](std::size_t row) { return codes[row] <= last; });
        }
        assert(0 < n_left && n_left < node.size());
        if (best_.is_drawn) {
            best_.threshold = settled(bins_, guide_, f, {best_.last_left, best_.drawn});
        } else if (best_.first_right >= 0) {
            best_.threshold = bins_.threshold(f, best_.last_left, best_.first_right);
        }
        part_presorted(node, node.begin + n_left);
        Node& left = children.left;
        Node& right = children.right;
        left.begin = node.begin;
        left.end = right.begin = node.begin + n_left;
        right.end = node.end;
        left.depth = right.depth = node.depth + 1;
        left.key = child_key(node.key, false);
        right.key = child_key(node.key, true);
        for (Node* child : {&right, &left}) {
            child->total_at = totals_.size();
            for (std::size_t k = 0; k < width_; ++k) {
                totals_.push_back(Unit{});
            }
            child->constant_at = constants_.size();
            for (std::size_t word = 0; word < n_flag_words_; ++word) {
                constants_.push_back(constant_[word]);
            }
            sum_child(*child, child == &left);
            child->summary = target_.summary(rows(*child), totals_.data() + child->total_at);
        }
        children.improvement = (node.summary.weight * node.summary.impurity -
                                left.summary.weight * left.summary.impurity -
                                right.summary.weight * right.summary.impurity) /
                               root_weight_;
        if (children.improvement + no_impurity < options_.min_impurity_decrease) {
            totals_.resize(right.total_at);
            constants_.resize(right.constant_at);
            return false;
        }
        if (!best_.has_missing) {
            best_.missing_left = left.summary.weight >= right.summary.weight;
        }
        if (!options_.monotone.empty()) {
            bound_children(node, children);
        }
        return true;
    }

    void part_presorted(const Node& node, std::size_t middle) {
        if (!has_lists()) {
            return;
        }
        for (std::size_t i = node.begin; i < node.end; ++i) {
            goes_left_row_[entries_[i].row] = i < middle ? 1 : 0;
        }
        // Every thread has scratch of its own and a share of the columns.
        const auto n_shares = node.size() < parallel_rows ? std::size_t{1} : n_shares_;
        run_tasks(n_shares, options_.n_threads, [&](std::size_t share) {
            for (std::size_t f = share; f < bins_.cols; f += n_shares) {
                // Constant columns are not looked at below; that of the split lies in order.
                const bool in_order =
                    f == static_cast<std::size_t>(best_.feature) && !best_.missing_left;
                if (has_list(f) && !is_constant(f) && !in_order) {
                    with_lists([&](auto& lists) {
                        lists.part_run(f, node.begin, node.end, goes_left_row_.data(), share);
                    });
                }
            }
        });
    }

    // Integer sums are exact: the right side is what the left one leaves.
    void sum_child(const Node& child, bool is_left) {
        Unit* total = totals_.data() + child.total_at;
        if (std::is_integral_v<Unit> && !is_absolute && best_.knows_left) {
            for (std::size_t k = 0; k < width_; ++k) {
                total[k] = is_left ? left_total_[k] : total_[k] - left_total_[k];
            }
            assert(is_sum_of_rows(total, child));
            return;
        }
        sum(child, total);
    }

    void bound_children(const Node& node, Children& children) {
        children.left.low = children.right.low = node.low;
        children.left.high = children.right.high = node.high;
        const int sign = options_.monotone[static_cast<std::size_t>(best_.feature)];
        if (sign == 0) {
            return;
        }
        const double middle = (value_of(children.left) + value_of(children.right)) / 2;
        if (sign > 0) {
            children.left.high = children.right.low = middle;
        } else {
            children.left.low = children.right.high = middle;
        }
    }

    // The monotone quantity of a node, within its bounds.
    [[nodiscard]] double value_of(const Node& node) {
        value_.resize(target_.n_outputs());
        target_.values(rows(node), totals_.data() + node.total_at, value_.data());
        return std::clamp(value_[options_.n_classes == 2 ? 1 : 0], node.low, node.high);
    }

    // --- output ---

    void add_node(const Node& node) {
        tree_.add_leaf();
        if (options_.with_stats) {
            tree_.impurity.push_back(node.summary.impurity);
            tree_.n_samples.push_back(static_cast<std::int64_t>(node.size()));
            if (!weights_follow_) {
                tree_.weight.push_back(node.summary.weight);
            }
            write_value(node, totals_.data() + node.total_at, tree_.add_value(target_.n_outputs()));
        }
    }

    void write_value(const Node& node, const Unit* total, double* value) {
        target_.values(rows(node), total, value);
        if (!options_.monotone.empty()) {
            const std::size_t k = options_.n_classes == 2 ? 1 : 0;
            value[k] = std::clamp(value[k], node.low, node.high);
            if (k == 1) {
                value[0] = 1 - value[1];
            }
        }
    }

    void finish_leaf(const Node& node) {
        const auto i = static_cast<std::size_t>(node.index);
        if (options_.with_stats) {
            tree_.slot[i] = node.index;
            return;
        }
        const bool is_shared =
            options_.n_classes != 0 && node.summary.pure && options_.monotone.empty();
        if (is_shared) {
            tree_.slot[i] = target_.pure_class(total_.data());
            assert(0 <= tree_.slot[i] &&
                   static_cast<std::size_t>(tree_.slot[i]) < options_.n_classes);
            return;
        }
        tree_.slot[i] = static_cast<std::int32_t>(options_.n_classes +
                                                  tree_.value.size() / target_.n_outputs());
        write_value(node, total_.data(), tree_.add_value(target_.n_outputs()));
    }

    void link(const Node& node, Children& children) {
        const auto i = static_cast<std::size_t>(node.index);
        const auto f = static_cast<std::size_t>(best_.feature);
        assert(i < tree_.left.size() && tree_.left[i] == 0);  // a leaf so far
        children.left.index = static_cast<std::int32_t>(tree_.left.size());
        children.right.index = children.left.index + 1;
        tree_.left[i] = children.left.index;
        tree_.feature[i] = best_.feature;
        tree_.missing_left[i] = best_.missing_left ? 1 : 0;
        tree_.importance[f] += children.improvement;
        if (best_.nominal) {
            tree_.slot[i] = static_cast<std::int32_t>(tree_.words.size());
            add_level_words(bins_, f, best_.left_bins, best_.right_bins, best_.missing_left,
                            level_scratch_, tree_.words);
        } else {
            tree_.threshold[i] = best_.threshold;
        }
        add_node(children.left);
        add_node(children.right);
    }

    BinnedView<Code> bins_;
    const CutGuide& guide_;
    Target target_;
    GrowOptions options_;
    std::size_t width_;
    std::size_t n_flag_words_;

    std::vector<Entry> entries_;
    AlignedBuffer<Entry> scratch_;
    std::span<const double> weight_;
    std::vector<std::uint32_t> counts_;
    std::vector<Unit> totals_;
    std::vector<Unit> total_;  // of the current node
    std::vector<std::uint64_t> constants_;
    std::vector<std::uint64_t> constant_;
    HistogramScratch<Unit> histogram_;
    Cells<Unit> cells_;
    NominalScratch nominal_;
    std::vector<typename Target::Number> scan_scratch_;
    std::vector<std::uint32_t> columns_;
    std::vector<std::uint32_t> swaps_;
    std::vector<std::uint8_t> goes_left_;
    std::vector<std::uint8_t> level_scratch_;
    std::vector<double> value_;
    std::vector<std::uint32_t> cells32_;  // zero between calls
    std::vector<std::uint64_t> cells64_;
    std::size_t lanes_ = 0;                  // of class_cut.hpp, 0: not used
    std::vector<std::int16_t> class_cells_;  // zero between calls
    std::vector<std::int16_t> class_total_;
    std::array<std::size_t, group_size> group_{};
    std::size_t n_group_ = 0;
    Presorted<Element> wide_lists_;
    Presorted<NarrowElement> narrow_lists_;
    std::vector<std::uint8_t> goes_left_row_;
    std::size_t n_shares_ = 1;
    std::vector<SortedCut> sorted_cuts_;  // of the columns already searched in this node
    std::size_t n_searched_ = 0;
    bool has_kernel_ = false;
    bool is_free_ = false;         // any side with a row is allowed
    bool weights_follow_ = false;  // the weight of a node is its number of rows
    std::vector<Code> gathered_;
    std::vector<Unit> side_;
    std::vector<Unit> left_total_;  // of best_, where it knows_left
    Split best_;
    Tree tree_;
    double root_weight_ = 0;
};

}  // namespace assay::tree

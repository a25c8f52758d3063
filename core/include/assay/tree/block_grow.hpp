// Grows trees whose cuts are drawn at random on bitmaps (block.hpp) instead of lists of rows.
//
// A block is the table, or a copy of some of its rows. A node is a bitmap over the rows of its
// block; where it has few of them left, they are copied into a block of their own, a sixteenth
// as long, and the smallest blocks have 64 rows: one word, one vector per column. So no row is
// moved or looked up in a node, and what a small node costs is a few vector instructions per
// column drawn. The tree is the one that Grower would grow: the same columns and shares from
// the same streams, the same scores; only sums of real targets are added in another order.
// Where it is given the columns whose bins hold several values as numbers (fine_rows.hpp), blocks
// of at most 512 rows cut those between any two values, and the tree is a finer one.
//
// Needs   serves(); rows of weight 1, or for MeanTarget of equal weight.
// Cost    O(rows of the block / 64) per node and column drawn; memory: the blocks, which are
//         small, and a bitmap for each open node.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/random.hpp"
#include "assay/tree/bins.hpp"
#include "assay/tree/block.hpp"
#include "assay/tree/bootstrap.hpp"
#include "assay/tree/criterion.hpp"
#include "assay/tree/cut_guide.hpp"
#include "assay/tree/fine_rows.hpp"
#include "assay/tree/grow_options.hpp"
#include "assay/tree/nominal_split.hpp"
#include "assay/tree/row_copy.hpp"
#include "assay/tree/split.hpp"
#include "assay/tree/tree_arrays.hpp"

namespace assay::tree {

// Targets whose sums over rows of weight 1 are counts, or a sum of one number.
template <class Target>
inline constexpr bool has_blocks = std::is_same_v<Target, BinaryTarget> ||
                                   std::is_same_v<Target, MeanTarget<1>> || counts_classes<Target>;

template <class Target>
class BlockGrower {
    static_assert(has_blocks<Target>);

  public:
    using Unit = typename Target::Unit;
    using View = BinnedView<std::uint8_t>;

    // Grows on all rows of the table. `records` may be empty: slower; so may `fine`: coarser.
    BlockGrower(const View& bins, const RowCopy& records, const FineRows& fine,
                const CutGuide& guide, const Target& target, const GrowOptions& options,
                double weight)
        : BlockGrower(bins, fine, guide, target, options, weight, nullptr, bins.rows) {
        block_ = {bins.codes, bins.rows, bins.rows};
        records_ = records.empty() ? nullptr : records.data();
        step_ = records.step();
        place_.clear();
        take_rows([](std::size_t i) { return i; });
        for (BlockGrower* block = this; block->below_; block = block->below_.get()) {
            block->below_->make_room(records_ != nullptr, step_);
        }
    }

    // Whether trees of this kind on this table can be grown here.
    [[nodiscard]] static bool serves(const View& bins, const GrowOptions& options) noexcept {
        return bins.cols > 0 && options.random_splitter && options.monotone.empty() &&
               options.max_leaf_nodes == 0 && options.criterion != Criterion::poisson;
    }

    BlockGrower(const BlockGrower&) = delete;
    BlockGrower& operator=(const BlockGrower&) = delete;

    [[nodiscard]] Tree grow(std::uint64_t tree_number) {
        own_tree_.clear();
        own_tree_.importance.assign(bins_.cols, 0.0);
        Node root;
        root.key = root_key(tree_number);
        root.index = own_tree_.add_leaf();
        root.depth = 0;
        take_all();
        std::fill_n(constants_.begin(), n_flag_words_, 0);
        fill_cells(rows_.data(), 1, totals_.data());
        root.summary = summary(rows_.data(), totals_.data());
        for (BlockGrower* block = this; block != nullptr; block = block->below_.get()) {
            block->root_weight_ = root.summary.weight;
            block->tree_ = &own_tree_;
        }
        if (options_.with_stats) {
            add_stats(root, rows_.data(), totals_.data());
        }
        grow_below(root);
        if (options_.n_trees == 1) {
            return std::move(own_tree_);
        }
        return own_tree_;  // a copy: exactly as long as needed, and the room here serves again
    }

  private:
    static constexpr bool is_binary = std::is_same_v<Target, BinaryTarget>;
    static constexpr bool is_mean = std::is_same_v<Target, MeanTarget<1>>;
    static constexpr bool is_classes = counts_classes<Target>;
    static constexpr std::size_t group_size = BlockCuts::most;
    static constexpr std::size_t sampled_group = 4;  // as in Grower: it is the order of the stream

    struct Node {
        std::uint64_t key;
        std::int32_t index;
        std::int32_t depth;
        Summary summary;
    };

    BlockGrower(const View& bins, const FineRows& fine, const CutGuide& guide, const Target& target,
                const GrowOptions& options, double weight, BlockGrower* above, std::size_t rows)
        : bins_(bins),
          fine_(fine),
          guide_(guide),
          tables_(guide.tables()),
          target_(target),
          options_(options),
          above_(above),
          most_rows_(rows),
          words_((rows + word_rows - 1) / word_rows),
          n_outputs_(target.n_outputs()),
          width_(target.width()),
          n_flag_words_((bins.cols + 63) / 64),
          all_grouped_(!has_any(bins.has_missing) && !has_any(bins.nominal)),
          is_free_(options.min_samples_leaf == 1 && options.min_weight_fraction_leaf <= 0),
          weight_(weight),
          constants_(n_flag_words_),
          constant_(n_flag_words_),
          total_(width_),
          columns_(bins.cols),
          sides_(group_size * words_),
          cells_(group_size * width_),
          scan_scratch_(target.scratch_size()),
          best_left_(words_),
          left_total_(width_) {
        std::iota(columns_.begin(), columns_.end(), 0U);
        const std::size_t fewer = rows_below(rows, !fine.empty());
        if (fewer != 0) {
            below_.reset(new BlockGrower(bins, fine, guide, target, options, weight, this, fewer));
        }
        if (above != nullptr && !fine.empty()) {
            if (rows <= FineRows::most_rows) {
                number_rows_.resize(below_ ? fine.step * rows : 0);
                take_fine_columns();
            }
        }
    }

    // The columns that this block has as numbers.
    void take_fine_columns() {
        const std::size_t stride = words_ * word_rows;
        numbers_ = AlignedBuffer<float>(fine_.step * stride);
        is_coarse_.resize(n_flag_words_);
        all_fine_ = true;
        for (std::size_t f = 0; f < bins_.cols; ++f) {
            const bool is_coarse = fine_.slots[f] < 0;
            is_coarse_[f / 64] |= std::uint64_t{is_coarse} << (f % 64);
            all_fine_ &= !is_coarse;
        }
    }

    [[nodiscard]] static bool has_any(std::span<const std::uint8_t> flags) noexcept {
        return std::any_of(flags.begin(), flags.end(), [](std::uint8_t f) { return f != 0; });
    }

    // How many rows the blocks below one of `rows` rows have; 0: there are none below.
    [[nodiscard]] static std::size_t rows_below(std::size_t rows, bool is_fine) noexcept {
        return rows <= word_rows                           ? 0
               : rows > 8192                               ? rows / 16
               : is_fine && rows > 2 * FineRows::most_rows ? FineRows::most_rows
                                                           : word_rows;
    }

    // Mostly of one word, for which std::copy_n would call a function.
    template <class T>
    static void copy(const T* from, std::size_t n, T* to) noexcept {
        if (n == 1) {
            *to = *from;
        } else {
            std::copy_n(from, n, to);
        }
    }

    // --- rows of the block ---

    void make_room(bool has_records, std::size_t step) {
        step_ = step;
        const std::size_t stride = words_ * word_rows;
        codes_ = AlignedBuffer<std::uint8_t>(stride * (has_records ? step : bins_.cols));
        block_ = {codes_.data(), stride, 0};
        if (has_records && below_) {
            record_room_.resize(stride * step);
            records_ = record_room_.data();
        }
        loaded_.resize(n_flag_words_);
    }

    // Copies some rows of the block above.
    void copy_rows(const std::uint64_t* rows, std::size_t n) {
        assert(n >= 1 && n <= most_rows_);
        block_.rows = n;
        words_ = block_.words();
        place_.resize(n);
        std::size_t i = 0;
        for (std::size_t w = 0; i < n; ++w) {
            for (std::uint64_t rest = rows[w]; rest != 0; rest &= rest - 1) {
                place_[i++] = static_cast<std::uint32_t>(w * word_rows) +
                              static_cast<std::uint32_t>(std::countr_zero(rest));
            }
        }
        assert(i == n);
        if (!fine_.empty()) {
            copy_numbers(n);
        }
        if (has_fine() && all_fine_) {
            // No code is asked for.
        } else if (above_->records_ != nullptr) {
            const std::uint8_t* from = above_->records_;
            dispatch([&](auto level) {
                using Kernel = Block<decltype(level)>;
                if (records_ != nullptr) {
                    Kernel::copy_records(from, step_, place_.data(), n, record_room_.data());
                    Kernel::transpose(records_, step_, nullptr, n, codes_.data(), block_.stride);
                } else {
                    Kernel::transpose(from, step_, place_.data(), n, codes_.data(), block_.stride);
                }
            });
        } else {
            std::fill(loaded_.begin(), loaded_.end(), 0);
        }
        take_rows([this](std::size_t k) { return place_[k]; });
    }

    // The columns that are numbers: row by row for the blocks below, and as columns for cuts.
    // Blocks that have no use for them only know where their rows are in the table.
    void copy_numbers(std::size_t n) {
        const bool is_first = above_->number_rows_.empty();
        if (is_first && above_->above_ != nullptr) {
            origin_.resize(n);
            for (std::size_t i = 0; i < n; ++i) {
                origin_[i] = above_->origin_[place_[i]];
            }
        } else if (is_first) {
            origin_.assign(place_.begin(), place_.end());
        }
        if (!has_fine()) {
            return;
        }
        const float* from = is_first ? fine_.values : above_->number_rows_.data();
        const std::uint32_t* place = is_first ? origin_.data() : place_.data();
        dispatch([&](auto level) {
            using Kernel = Block<decltype(level)>;
            if (below_) {
                Kernel::copy_records(reinterpret_cast<const std::uint8_t*>(from),
                                     fine_.step * sizeof(float), place, n,
                                     reinterpret_cast<std::uint8_t*>(number_rows_.data()));
                from = number_rows_.data();
                place = nullptr;
            }
            Kernel::fine_columns(from, fine_.step, place, n, numbers_.data(), stride_of_numbers());
        });
    }

    [[nodiscard]] std::size_t stride_of_numbers() const noexcept {
        return numbers_.size() / fine_.step;
    }

    // Makes sure that a column is there, where columns are copied one by one.
    void load(std::size_t f) noexcept {
        const std::uint64_t flag = std::uint64_t{1} << (f % 64);
        if (above_ == nullptr || above_->records_ != nullptr || (loaded_[f / 64] & flag) != 0) {
            return;
        }
        assert(f < bins_.cols);
        loaded_[f / 64] |= flag;
        above_->load(f);
        const std::uint8_t* from = above_->block_.codes + f * above_->block_.stride;
        std::uint8_t* to = codes_.data() + f * block_.stride;
        for (std::size_t i = 0; i < block_.rows; ++i) {
            to[i] = from[place_[i]];
        }
    }

    // What the target knows of the rows: row i is place(i) of the block above, or of the table.
    template <class Place>
    void take_rows(Place place) {
        const std::size_t n = block_.rows;
        if constexpr (is_binary) {
            ones_.assign(words_, 0);
            for (std::size_t i = 0; i < n; ++i) {
                const std::size_t j = place(i);
                const std::uint64_t one =
                    above_ == nullptr ? target_.is_one(j) : above_->ones_[j / 64] >> (j % 64) & 1U;
                ones_[i / 64] |= one << (i % 64);
            }
        } else if constexpr (is_mean) {
            number_.resize(n);
            value_.resize(n);
            for (std::size_t i = 0; i < n; ++i) {
                value_[i] = above_ == nullptr ? target_.output(place(i)) : above_->value_[place(i)];
                number_[i] = value_[i] - target_.offset();
            }
        } else {
            label_.resize(n);
            ones_.assign(width_ * words_, 0);
            for (std::size_t i = 0; i < n; ++i) {
                label_[i] = above_ == nullptr ? target_.label(place(i))
                                              : class_here_[above_->label_[place(i)]];
                ones_[label_[i] * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
            }
        }
    }

    // A node of all rows, as entry 0.
    void take_all() {
        rows_.resize(std::max(rows_.size(), words_));
        totals_.resize(std::max(totals_.size(), width_));
        std::fill_n(rows_.begin(), words_, ~std::uint64_t{0});
        if (block_.rows % word_rows != 0) {
            rows_[words_ - 1] >>= word_rows - block_.rows % word_rows;
        }
    }

    // --- order of growth ---

    // A node that is given as entry 0 of rows_, totals_ and constants_.
    void grow_below(const Node& first) {
        open_.assign(1, first);
        while (!open_.empty()) {
            const Node node = open_.back();
            open_.pop_back();
            const std::size_t slot = open_.size();
            const std::uint64_t* rows = rows_.data() + slot * words_;
            const Unit* total = totals_.data() + slot * width_;
            const std::uint64_t* constant = constants_.data() + slot * n_flag_words_;
            assert(count_rows(rows, words_) == rows_of(node.summary.weight));
            if (!may_split(node)) {
                finish_leaf(node, rows, total);
            } else if (below_ && rows_of(node.summary.weight) <= below_->most_rows_) {
                below_->take_node(node, rows, total, constant);
            } else {
                copy(total, width_, total_.data());
                copy(constant, n_flag_words_, constant_.data());
                if (!find_split(node, rows) || !part(node, slot)) {
                    finish_leaf(node, rows_.data() + slot * words_, total_.data());
                }
            }
        }
    }

    void take_node(const Node& node, const std::uint64_t* rows, const Unit* total,
                   const std::uint64_t* constant) {
        if constexpr (is_classes) {
            take_classes(total);
        }
        copy_rows(rows, rows_of(node.summary.weight));
        take_all();
        if constexpr (is_classes) {
            for (std::size_t k = 0; k < width_; ++k) {
                totals_[k] = total[class_above_[k]];
            }
        } else {
            copy(total, width_, totals_.data());
        }
        copy(constant, n_flag_words_, constants_.data());
        for (std::size_t w = 0; w < is_coarse_.size(); ++w) {
            constants_[w] &= is_coarse_[w];  // one bin, but perhaps several numbers
        }
        grow_below(node);
    }

    // Classes without a row here are left out below: with many classes small nodes have but a few.
    void take_classes(const Unit* total) {
        class_here_.resize(above_->width_);
        class_above_.clear();
        class_of_.clear();
        for (std::size_t k = 0; k < above_->width_; ++k) {
            if (total[k] > 0) {
                class_here_[k] = static_cast<std::uint16_t>(class_of_.size());
                class_above_.push_back(static_cast<std::uint16_t>(k));
                class_of_.push_back(above_->above_ == nullptr ? static_cast<std::uint16_t>(k)
                                                              : above_->class_of_[k]);
            }
        }
        assert(!class_of_.empty());
        width_ = class_of_.size();
        target_ = target_.with_classes(width_);
    }

    // --- one node ---

    [[nodiscard]] std::size_t rows_of(double weight) const noexcept {
        return static_cast<std::size_t>(weight / weight_ + 0.5);  // NOLINT: a count, below 2^31
    }

    [[nodiscard]] bool may_split(const Node& node) const noexcept {
        const std::size_t n_rows = rows_of(node.summary.weight);
        const double min_weight = options_.min_weight_fraction_leaf * root_weight_;
        return !node.summary.pure && node.summary.impurity > no_impurity &&
               node.depth < options_.max_depth && n_rows >= options_.min_samples_split &&
               n_rows >= 2 * options_.min_samples_leaf && node.summary.weight >= 2 * min_weight;
    }

    [[nodiscard]] bool has_fine() const noexcept { return !is_coarse_.empty(); }
    [[nodiscard]] bool is_fine(std::size_t f) const noexcept {
        return has_fine() && fine_.slots[f] >= 0;
    }

    [[nodiscard]] bool is_constant(std::size_t f) const noexcept {
        return (constant_[f / 64] >> (f % 64) & 1U) != 0;
    }

    // Fills best_.
    [[nodiscard]] bool find_split(const Node& node, const std::uint64_t* rows) {
        best_.score = -std::numeric_limits<double>::infinity();
        best_.feature = -1;
        best_.tie_key = mixed(options_.seed ^ node.key) | 1U;
        pair_.is_there = is_free_ && words_ == 1 && rows_of(node.summary.weight) == 2;
        if (pair_.is_there) {
            enter_pair(rows);
        }
        RandomStream stream(options_.seed, node.key);
        draw_columns(rows, stream);
        assert(n_group_ == 0 && std::is_sorted(columns_.begin(), columns_.end()));
        if (pair_.is_there && best_.found()) {
            settle_pair();
        }
        return best_.found();
    }

    // Tries columns until max_features of them are not constant.
    void draw_columns(const std::uint64_t* rows, RandomStream& stream) {
        n_group_ = 0;
        if (options_.max_features >= bins_.cols) {
            // Where some columns go alone, groups end as in Grower.
            const std::size_t most = all_grouped_ ? group_size : sampled_group;
            for (std::size_t f = 0; f < bins_.cols; ++f) {
                if (!is_constant(f)) {
                    look_at(static_cast<std::uint32_t>(f), most, rows, stream);
                }
            }
            try_group(rows, stream);
            return;
        }
        std::size_t n_tried = 0;
        swaps_.clear();
        for (std::size_t i = 0; i < bins_.cols; ++i) {
            if (n_tried + n_group_ >= options_.max_features) {
                n_tried += try_group(rows, stream);
                if (n_tried >= options_.max_features) {
                    break;
                }
            }
            const std::size_t j = i + stream.below(static_cast<std::uint32_t>(bins_.cols - i));
            std::swap(columns_[i], columns_[j]);
            swaps_.push_back(static_cast<std::uint32_t>(j));
            if (!is_constant(columns_[i])) {
                n_tried += look_at(columns_[i], sampled_group, rows, stream);
            }
        }
        try_group(rows, stream);
        for (std::size_t i = swaps_.size(); i > 0; --i) {
            std::swap(columns_[i - 1], columns_[swaps_[i - 1]]);
        }
    }

    // Each of these: how many columns were tried that are not constant.
    std::size_t look_at(std::uint32_t f, std::size_t most, const std::uint64_t* rows,
                        RandomStream& stream) {
        if (bins_.nominal[f] != 0) {
            return try_nominal(f, rows, stream);
        }
        if (bins_.has_missing[f] != 0) {
            return try_missing(f, rows, stream);
        }
        assert(n_group_ < most && most <= group_size);
        group_[n_group_++] = f;
        return n_group_ == most ? try_group(rows, stream) : 0;
    }

    std::size_t try_group(const std::uint64_t* rows, RandomStream& stream) {
        if (n_group_ == 0) {
            return 0;
        }
        const std::size_t n = n_group_;
        n_group_ = 0;
        if (pair_.is_there) {
            std::size_t n_tried = 0;
            for (std::size_t g = 0; g < n; ++g) {
                n_tried += try_pair(group_[g], stream);
            }
            return n_tried;
        }
        // Shares for all columns; those of constant ones are given back.
        double shares[group_size];
        const RandomStream before = stream;
        for (std::size_t g = 0; g < n; ++g) {
            shares[g] = random_share(stream);
        }
        FineCuts fine;
        fine.n = 0;
        const std::size_t n_coarse = has_fine() ? try_fine(n, rows, shares, fine) : n;
        const std::size_t n_fine = fine.n;
        BlockCuts cuts;
        cuts.n = 0;
        if (n_coarse > 0) {
            for (std::size_t g = 0; g < n_coarse; ++g) {
                load(group_[g]);
            }
            dispatch([&](auto level) {
                Block<decltype(level)>::cuts(tables_, block_, group_.data(), n_coarse, rows,
                                             shares + n_fine, constant_.data(), cuts,
                                             sides_.data() + n_fine * words_);
            });
        }
        const std::size_t n_cuts = n_fine + cuts.n;
        assert(n_cuts <= n);
        if (n_cuts < n) {
            stream = before;
            for (std::size_t g = 0; g < n_cuts; ++g) {
                static_cast<void>(stream());
            }
        }
        fill_cells(sides_.data(), n_cuts, cells_.data());
        for (std::size_t g = 0; g < n_fine; ++g) {
            take_cut(fine.column[g], {0, static_cast<double>(fine.drawn[g])}, g, {});
        }
        for (std::size_t g = 0; g < cuts.n; ++g) {
            take_cut(cuts.column[g], {cuts.last_left[g], cuts.drawn[g]}, n_fine + g, {});
        }
        return n_cuts;
    }

    // Cuts the columns of the group that are numbers; the others, so many, stay in group_.
    std::size_t try_fine(std::size_t n, const std::uint64_t* rows, const double* shares,
                         FineCuts& cuts) {
        std::uint32_t columns[group_size];
        std::uint32_t slots[group_size];
        std::size_t n_fine = 0;
        std::size_t n_coarse = 0;
        for (std::size_t g = 0; g < n; ++g) {
            const std::uint32_t f = group_[g];
            if (fine_.slots[f] >= 0) {
                slots[n_fine] = static_cast<std::uint32_t>(fine_.slots[f]);
                columns[n_fine++] = f;
            } else {
                group_[n_coarse++] = f;
            }
        }
        if (n_fine > 0) {
            dispatch([&](auto level) {
                Block<decltype(level)>::fine_cuts(numbers_.data(), stride_of_numbers(), columns,
                                                  slots, n_fine, rows, words_, shares,
                                                  constant_.data(), cuts, sides_.data());
            });
        }
        return n_coarse;
    }

    // A column that may be missing: its missing rows go with the greater part of the others.
    std::size_t try_missing(std::uint32_t f, const std::uint64_t* rows, RandomStream& stream) {
        if (pair_.is_there) {
            return try_pair(f, stream);
        }
        load(f);
        const std::int32_t n_bins = bins_.n_bins[f];
        std::uint64_t* below = sides_.data();
        std::uint64_t* known = below + words_;
        const bool has_known = n_bins > 0 && side(f, n_bins - 1, rows, known);
        const bool has_missing = !std::equal(known, known + words_, rows);
        std::uint8_t low = 0;
        std::uint8_t high = 0;
        if (has_known) {
            dispatch(
                [&](auto level) { Block<decltype(level)>::range(block_, f, known, low, high); });
        }
        if (!has_known || (low == high && !has_missing)) {
            constant_[f / 64] |= std::uint64_t{1} << (f % 64);
            return 0;
        }
        if (low == high) {
            std::copy_n(known, words_, below);
            fill_cells(below, 1, cells_.data());
            take_cut(f, {n_bins - 1, 0}, 0, {true, false});
            return 1;
        }
        assert(low < high && high < n_bins);
        const RandomCut cut = random_cut(guide_, f, low, high, random_share(stream));
        side(f, cut.last_left, known, below);
        const bool missing_left =
            has_missing && 2 * count_rows(below, words_) > count_rows(known, words_);
        for (std::size_t w = 0; w < words_ && missing_left; ++w) {
            below[w] |= rows[w] & ~known[w];
        }
        fill_cells(below, 1, cells_.data());
        take_cut(f, cut, 0, {has_missing, missing_left});
        return 1;
    }

    // As random_bipartition has it; missing values are a level.
    std::size_t try_nominal(std::uint32_t f, const std::uint64_t* rows, RandomStream& stream) {
        if (pair_.is_there) {
            return try_pair(f, stream);
        }
        load(f);
        const std::uint8_t* codes = block_.codes + f * block_.stride;
        const std::int32_t missing = bins_.n_bins[f];
        std::int32_t place[256];
        std::fill_n(place, 256, -1);
        for_each_row(rows, [&](std::size_t i) { place[codes[i]] = 0; });
        level_bins_.clear();
        for (std::int32_t b = 0; b <= missing; ++b) {
            if (place[b] == 0) {
                place[b] = static_cast<std::int32_t>(level_bins_.size());
                level_bins_.push_back(b);
            }
        }
        const std::size_t n_levels = level_bins_.size();
        if (n_levels <= 1) {
            constant_[f / 64] |= std::uint64_t{1} << (f % 64);
            return 0;
        }
        level_sets_.assign(n_levels * words_, 0);
        for_each_row(rows, [&](std::size_t i) {
            level_sets_[static_cast<std::size_t>(place[codes[i]]) * words_ + i / 64] |=
                std::uint64_t{1} << (i % 64);
        });
        level_cells_.resize(n_levels * width_);
        fill_cells(level_sets_.data(), n_levels, level_cells_.data());
        const std::size_t n_left =
            random_order(target_, total_.data(), level_cells_.data(), n_levels, stream, nominal_);
        std::fill_n(sides_.begin(), words_, 0);
        bool missing_left = false;
        for (std::size_t i = 0; i < n_left; ++i) {
            const std::size_t j = nominal_.order[i];
            missing_left |= level_bins_[j] == missing;
            for (std::size_t w = 0; w < words_; ++w) {
                sides_[w] |= level_sets_[j * words_ + w];
            }
        }
        fill_cells(sides_.data(), 1, cells_.data());
        if (take_cut(f, {}, 0, {level_bins_.back() == missing, missing_left})) {
            best_.nominal = true;
            best_.left_bins.clear();
            best_.right_bins.clear();
            for (std::size_t i = 0; i < n_levels; ++i) {
                const std::int32_t b = level_bins_[nominal_.order[i]];
                if (b != missing) {
                    (i < n_left ? best_.left_bins : best_.right_bins).push_back(b);
                }
            }
        }
        return 1;
    }

    [[nodiscard]] static std::size_t count_rows(const std::uint64_t* rows,
                                                std::size_t n_words) noexcept {
        std::size_t count = 0;
        for (std::size_t w = 0; w < n_words; ++w) {
            count += static_cast<std::size_t>(std::popcount(rows[w]));
        }
        return count;
    }

    template <class Body>
    void for_each_row(const std::uint64_t* rows, Body body) const {
        for (std::size_t w = 0; w < words_; ++w) {
            for (std::uint64_t rest = rows[w]; rest != 0; rest &= rest - 1) {
                body(w * word_rows + static_cast<std::size_t>(std::countr_zero(rest)));
            }
        }
    }

    // Two rows, as every third node has: a column that is not constant parts them, and there are
    // but two scores, by which of them is on the left. Only the column that wins needs a cut.
    struct TwoRows {
        bool is_there = false;
        std::size_t row[2];
        double score[2];
        std::size_t left = 0;  // of the best column so far
        std::int32_t low = 0;  // codes of the left and the right row
        std::int32_t high = 0;
        double share = 0;
    };

    void enter_pair(const std::uint64_t* rows) {
        pair_.row[0] = static_cast<std::size_t>(std::countr_zero(rows[0]));
        pair_.row[1] = static_cast<std::size_t>(std::countr_zero(rows[0] & (rows[0] - 1)));
        assert(pair_.row[0] < pair_.row[1] && pair_.row[1] < block_.rows);
        for (std::size_t k = 0; k < 2; ++k) {
            sides_[k] = std::uint64_t{1} << pair_.row[k];
        }
        fill_cells(sides_.data(), 2, cells_.data());
        pair_.score[0] = score(cells_.data());
        pair_.score[1] = score(cells_.data() + width_);
    }

    std::size_t try_pair(std::uint32_t f, RandomStream& stream) {
        if (is_fine(f)) {
            return try_fine_pair(f, stream);
        }
        load(f);
        const std::uint8_t* codes = block_.codes + f * block_.stride;
        const std::int32_t code[2] = {codes[pair_.row[0]], codes[pair_.row[1]]};
        if (code[0] == code[1]) {
            constant_[f / 64] |= std::uint64_t{1} << (f % 64);
            return 0;
        }
        std::size_t left = code[0] < code[1] ? 0 : 1;
        const bool has_missing =
            (bins_.has_missing[f] | bins_.nominal[f]) != 0 && code[1 - left] == bins_.n_bins[f];
        double share = 0;
        if (bins_.nominal[f] != 0) {
            level_cells_.resize(2 * width_);  // the smaller code first
            copy(cells_.data() + left * width_, width_, level_cells_.data());
            copy(cells_.data() + (1 - left) * width_, width_, level_cells_.data() + width_);
            static_cast<void>(
                random_order(target_, total_.data(), level_cells_.data(), 2, stream, nominal_));
            left = nominal_.order[0] == 0 ? left : 1 - left;
        } else if (!has_missing) {
            share = random_share(stream);
        }
        const auto column = static_cast<std::int32_t>(f);
        if (best_.loses_to(pair_.score[left], column)) {
            best_.score = pair_.score[left];
            best_.feature = column;
            best_.nominal = bins_.nominal[f] != 0;
            best_.has_missing = has_missing;
            best_.missing_left = best_.nominal && has_missing && code[left] == bins_.n_bins[f];
            pair_.left = left;
            pair_.low = code[left];
            pair_.high = code[1 - left];
            pair_.share = share;
        }
        return 1;
    }

    [[nodiscard]] const float* numbers(std::size_t f) const noexcept {
        return numbers_.data() + static_cast<std::size_t>(fine_.slots[f]) * stride_of_numbers();
    }

    std::size_t try_fine_pair(std::uint32_t f, RandomStream& stream) {
        const float* column = numbers(f);
        if (column[pair_.row[0]] == column[pair_.row[1]]) {
            constant_[f / 64] |= std::uint64_t{1} << (f % 64);
            return 0;
        }
        const std::size_t left = column[pair_.row[0]] < column[pair_.row[1]] ? 0 : 1;
        const double share = random_share(stream);
        if (best_.loses_to(pair_.score[left], static_cast<std::int32_t>(f))) {
            best_.score = pair_.score[left];
            best_.feature = static_cast<std::int32_t>(f);
            best_.nominal = false;
            best_.has_missing = false;
            pair_.left = left;
            pair_.share = share;
        }
        return 1;
    }

    void settle_pair() {
        const auto f = static_cast<std::size_t>(best_.feature);
        if (is_fine(f)) {
            const float* column = numbers(f);
            best_.drawn = static_cast<double>(fine_cut(
                column[pair_.row[pair_.left]], column[pair_.row[1 - pair_.left]], pair_.share));
        } else if (best_.nominal) {
            best_.left_bins.assign(pair_.low != bins_.n_bins[f] ? 1 : 0, pair_.low);
            best_.right_bins.assign(pair_.high != bins_.n_bins[f] ? 1 : 0, pair_.high);
        } else {
            const RandomCut cut = best_.has_missing
                                      ? RandomCut{bins_.n_bins[f] - 1, 0}
                                      : random_cut(guide_, f, pair_.low, pair_.high, pair_.share);
            best_.last_left = cut.last_left;
            best_.drawn = cut.drawn;
        }
        best_left_[0] = sides_[pair_.left];
        copy(cells_.data() + pair_.left * width_, width_, left_total_.data());
    }

    // The rows with code <= last; whether there are any.
    bool side(std::size_t f, std::int32_t last, const std::uint64_t* rows,
              std::uint64_t* left) const noexcept {
        return dispatch([&](auto level) {
            return Block<decltype(level)>::side(block_, f, static_cast<std::uint8_t>(last), rows,
                                                left);
        });
    }

    void fill_cells(const std::uint64_t* sets, std::size_t n, Unit* cells) const noexcept {
        dispatch([&](auto level) {
            using Kernel = Block<decltype(level)>;
            if constexpr (is_binary) {
                Kernel::counts(sets, n, words_, ones_.data(), cells);
            } else if constexpr (is_mean) {
                Kernel::sums(sets, n, number_.data(), block_.rows, cells);
                for (std::size_t i = 0; i < 2 * n; ++i) {
                    cells[i] *= weight_;
                }
            } else {
                Kernel::class_counts(sets, n, words_, ones_.data(), width_, cells);
            }
        });
    }

    // Missing values in the node, and where they go.
    struct Missing {
        bool any = false;
        bool go_left = false;
    };

    // The cut whose left side is set `s` of sides_ and cells_: is it the best so far?
    bool take_cut(std::uint32_t f, const RandomCut& cut, std::size_t s, Missing missing) {
        const Unit* cell = cells_.data() + s * width_;
        const double score = this->score(cell);
        const auto column = static_cast<std::int32_t>(f);
        // The first question alone would do, but it is a call, and most cuts do not come so far.
        if (score < best_.score || score == -std::numeric_limits<double>::infinity() ||
            !best_.loses_to(score, column)) {
            return false;
        }
        best_.score = score;
        best_.feature = column;
        best_.nominal = false;
        best_.last_left = cut.last_left;
        best_.drawn = cut.drawn;
        best_.has_missing = missing.any;
        best_.missing_left = missing.go_left;
        copy(sides_.data() + s * words_, words_, best_left_.data());
        copy(cell, width_, left_total_.data());
        return true;
    }

    // As Target::Scan has it; -inf where a side is too small.
    [[nodiscard]] double score(const Unit* cell) noexcept {
        if (is_free_) {
            if constexpr (is_binary) {
                const auto all = static_cast<double>(total_[0] >> 32);
                const auto ones = static_cast<double>(total_[0] & 0xFFFFFFFFU);
                const auto left = static_cast<double>(*cell >> 32);
                const double difference =
                    static_cast<double>(*cell & 0xFFFFFFFFU) * all - ones * left;
                return difference * difference / (left * (all - left));
            } else if constexpr (is_mean) {
                const double difference = cell[1] * total_[0] - total_[1] * cell[0];
                return difference * difference / (cell[0] * (total_[0] - cell[0]));
            }
        }
        typename Target::Scan scan(target_, total_.data(), scan_scratch_.data());
        scan.add(cell);
        SideLimits limits;
        limits.min_rows = options_.min_samples_leaf;
        limits.min_weight = options_.min_weight_fraction_leaf * root_weight_;
        if (!limits.are_free() && !sides_allowed(scan, rows_of(scan.left_weight()),
                                                 rows_of(scan.right_weight()), limits)) {
            return -std::numeric_limits<double>::infinity();
        }
        return scan.score();
    }

    // Puts both children on the stack, the right one first, and into the tree; false when the gain
    // is too small. `slot` holds the rows of the node.
    [[nodiscard]] bool part(const Node& node, std::size_t slot) {
        rows_.resize(std::max(rows_.size(), (slot + 2) * words_));
        totals_.resize(std::max(totals_.size(), (slot + 2) * width_));
        constants_.resize(std::max(constants_.size(), (slot + 2) * n_flag_words_));
        std::uint64_t* right_rows = rows_.data() + slot * words_;  // those of the node, so far
        std::uint64_t* left_rows = right_rows + words_;
        Unit* right_total = totals_.data() + slot * width_;
        Unit* left_total = right_total + width_;
        for (std::size_t w = 0; w < words_; ++w) {
            assert((best_left_[w] & ~right_rows[w]) == 0);  // rows of this node only
            left_rows[w] = best_left_[w];
            right_rows[w] &= ~best_left_[w];
        }
        assert(count_rows(left_rows, words_) > 0 && count_rows(right_rows, words_) > 0);
        copy(left_total_.data(), width_, left_total);
        if constexpr (is_mean) {
            fill_cells(right_rows, 1, right_total);
        } else {
            for (std::size_t k = 0; k < width_; ++k) {
                right_total[k] = total_[k] - left_total_[k];
            }
        }
        Node left;
        Node right;
        left.summary = summary(left_rows, left_total);
        right.summary = summary(right_rows, right_total);
        const double improvement = (node.summary.weight * node.summary.impurity -
                                    left.summary.weight * left.summary.impurity -
                                    right.summary.weight * right.summary.impurity) /
                                   root_weight_;
        if (improvement + no_impurity < options_.min_impurity_decrease) {
            for (std::size_t w = 0; w < words_; ++w) {
                right_rows[w] |= left_rows[w];
            }
            return false;
        }
        for (std::size_t child = slot; child < slot + 2; ++child) {
            copy(constant_.data(), n_flag_words_, constants_.data() + child * n_flag_words_);
        }
        left.key = child_key(node.key, false);
        right.key = child_key(node.key, true);
        left.depth = right.depth = node.depth + 1;
        left.index = tree_->add_leaf();
        right.index = tree_->add_leaf();
        link(node, left, right, improvement);
        if (options_.with_stats) {
            add_stats(left, left_rows, left_total);
            add_stats(right, right_rows, right_total);
        }
        open_.push_back(right);
        open_.push_back(left);
        return true;
    }

    void link(const Node& node, const Node& left, const Node& right, double improvement) {
        const auto i = static_cast<std::size_t>(node.index);
        const auto f = static_cast<std::size_t>(best_.feature);
        const bool missing_left =
            best_.has_missing ? best_.missing_left : left.summary.weight >= right.summary.weight;
        assert(tree_->left[i] == 0);  // a leaf so far
        tree_->left[i] = left.index;
        tree_->feature[i] = best_.feature;
        tree_->missing_left[i] = missing_left ? 1 : 0;
        if (best_.nominal) {
            tree_->slot[i] = static_cast<std::int32_t>(tree_->words.size());
            add_level_words(bins_, f, best_.left_bins, best_.right_bins, missing_left,
                            level_scratch_, tree_->words);
        } else if (is_fine(f)) {
            tree_->threshold[i] = fine_threshold(static_cast<float>(best_.drawn));
        } else {
            tree_->threshold[i] = best_.last_left + 1 == bins_.n_bins[f]
                                      ? std::numeric_limits<double>::max()  // every value
                                      : settled(bins_, guide_, f, {best_.last_left, best_.drawn});
        }
        tree_->importance[f] += improvement;
    }

    [[nodiscard]] Summary summary(const std::uint64_t* rows, const Unit* total) const noexcept {
        if constexpr (is_mean) {
            Summary out{total[0], 0, false};
            dispatch([&](auto level) {
                using Kernel = Block<decltype(level)>;
                out.pure = Kernel::are_equal(rows, value_.data(), block_.rows);
                if (!out.pure) {
                    out.impurity =
                        Kernel::squares(rows, number_.data(), block_.rows, total[1] / total[0]) /
                        (total[0] / weight_);
                }
            });
            return out;
        } else {
            return target_.summary({}, total);
        }
    }

    // --- output ---

    void add_stats(const Node& node, const std::uint64_t* rows, const Unit* total) {
        tree_->impurity.push_back(node.summary.impurity);
        tree_->n_samples.push_back(static_cast<std::int64_t>(rows_of(node.summary.weight)));
        tree_->weight.push_back(node.summary.weight);
        write_value(node, rows, total, tree_->add_value(n_outputs_));
    }

    void write_value(const Node& node, const std::uint64_t* rows, const Unit* total,
                     double* value) const noexcept {
        if constexpr (is_mean) {
            // In the order of the rows, as MeanTarget does it.
            double sum = 0;
            for (std::size_t w = 0; w < words_; ++w) {
                for (std::uint64_t rest = rows[w]; rest != 0; rest &= rest - 1) {
                    const double y =
                        value_[w * word_rows + static_cast<std::size_t>(std::countr_zero(rest))];
                    if (node.summary.pure) {
                        *value = y;
                        return;
                    }
                    sum += y;
                }
            }
            *value = sum / (total[0] / weight_);
        } else if (is_classes && above_ != nullptr) {
            for (std::size_t k = 0; k < width_; ++k) {
                value[class_of_[k]] = static_cast<double>(total[k]) / node.summary.weight;
            }
        } else {
            target_.values({}, total, value);
        }
    }

    void finish_leaf(const Node& node, const std::uint64_t* rows, const Unit* total) {
        std::int32_t& slot = tree_->slot[static_cast<std::size_t>(node.index)];
        if (options_.with_stats) {
            slot = node.index;
        } else if (options_.n_classes != 0 && node.summary.pure) {
            slot = target_.pure_class(total);
            if (is_classes && above_ != nullptr) {
                slot = class_of_[static_cast<std::size_t>(slot)];
            }
        } else {
            slot = static_cast<std::int32_t>(options_.n_classes + tree_->value.size() / n_outputs_);
            write_value(node, rows, total, tree_->add_value(n_outputs_));
        }
    }

    View bins_;
    FineRows fine_;
    const CutGuide& guide_;
    CutTables tables_;
    Target target_;
    GrowOptions options_;
    BlockGrower* above_;
    std::unique_ptr<BlockGrower> below_;
    std::size_t most_rows_;
    std::size_t words_;  // of a bitmap
    std::size_t n_outputs_;
    std::size_t width_;  // units of a cell
    std::size_t n_flag_words_;
    bool all_grouped_;  // no column is nominal or may be missing
    bool is_free_;      // any side with a row is allowed
    double weight_;     // of each row

    // The rows: columns and, for the blocks below, records; what the target knows of them.
    BlockCodes block_{};
    AlignedBuffer<std::uint8_t> codes_;
    const std::uint8_t* records_ = nullptr;
    std::vector<std::uint8_t> record_room_;
    std::size_t step_ = 0;
    std::vector<std::uint32_t> origin_;     // of each row in the table
    std::vector<std::uint32_t> place_;      // of each row in the block above
    AlignedBuffer<float> numbers_;          // of the columns in fine_, in small blocks
    std::vector<float> number_rows_;        // the same row by row, for the blocks below
    std::vector<std::uint64_t> is_coarse_;  // flags of the other columns; empty above these
    bool all_fine_ = false;
    std::vector<std::uint64_t> loaded_;       // columns of codes_ that hold these rows
    std::vector<std::uint64_t> ones_;         // a bitmap of class 1, or one of each class
    std::vector<std::uint16_t> label_;        // number of the class, in this block
    std::vector<std::uint16_t> class_here_;   // of the classes of the block above
    std::vector<std::uint16_t> class_above_;  // of the classes of this block
    std::vector<std::uint16_t> class_of_;     // the class of the table; not in the first block
    std::vector<double> value_;
    std::vector<double> number_;  // value - offset

    std::vector<Node> open_;
    std::vector<std::uint64_t> rows_;  // of open_, one bitmap each
    std::vector<Unit> totals_;
    std::vector<std::uint64_t> constants_;

    // The current node.
    std::vector<std::uint64_t> constant_;
    std::vector<Unit> total_;
    std::vector<std::uint32_t> columns_;
    std::vector<std::uint32_t> swaps_;
    std::array<std::uint32_t, group_size> group_{};
    std::size_t n_group_ = 0;
    TwoRows pair_;
    std::vector<std::uint64_t> sides_;
    std::vector<Unit> cells_;
    // The levels of a nominal column in the node: bins, rows, what they add up to.
    std::vector<std::int32_t> level_bins_;
    std::vector<std::uint64_t> level_sets_;
    std::vector<Unit> level_cells_;
    NominalScratch nominal_;
    std::vector<typename Target::Number> scan_scratch_;
    Split best_;
    std::vector<std::uint8_t> level_scratch_;
    std::vector<std::uint64_t> best_left_;
    std::vector<Unit> left_total_;
    Tree own_tree_;  // of the block of all rows
    Tree* tree_ = nullptr;
    double root_weight_ = 0;
};

}  // namespace assay::tree

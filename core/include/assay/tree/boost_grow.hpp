// One tree of gradient boosting: grown leaf by leaf, the largest gain first.
//
// A histogram is built for the smaller child of each split; the larger one gets what is left
// of the parent's. Rows are divided between the threads of the team, each with a histogram
// of its own: the words are integers, so their sums have the same bits however divided. Rows of a
// node stay in ascending order.
//
// A word has no count of rows. Where the curvature does not tell it, a split is checked
// when its turn comes: should a side have too few rows, the rows of the node are counted per
// code of that column, and the node goes back into the queue with its next best split. Its
// gain can only be lower, so the order of splits is the one that exact counts would give.
//
// Needs   the words of boost_loss.hpp in `units`.
// Cost    O(rows d) per level of depth at worst, O(leaves bins d) for the search.
// Source  Ke et al.: LightGBM (NIPS 2017); Shi: Best-first decision tree learning (2007).
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/tree/boost_divide.hpp"
#include "assay/tree/boost_split.hpp"
#include "assay/tree/boost_table.hpp"
#include "assay/tree/boost_team.hpp"

namespace assay::tree {

struct BoostTreeOptions {
    std::size_t max_leaves = 31;  // 0: no limit
    std::size_t max_depth = 0;    // 0: no limit
    std::size_t min_samples_leaf = 20;
    double l1 = 0;
    double l2 = 0;
    double min_hessian = 1e-3;
    std::span<const std::int8_t> monotone;  // per column, or empty
};

struct BoostNode {
    std::int32_t left = 0;  // 0: a leaf
    std::size_t depth = 0;
    std::size_t begin = 0;  // its rows
    std::size_t end = 0;
    SplitNode sums;
    BoostSplit split;
    std::size_t hist = 0;  // buffer + 1; 0: none
};

class BoostGrower {
  public:
    BoostGrower(const BoostTable& table, const BoostTreeOptions& options, int n_threads)
        : table_(table),
          options_(options),
          rows_(table.rows()),
          left_(table.rows()),
          right_(table.rows()),
          columns_of_(table.n_groups()),
          partial_(static_cast<std::size_t>(n_threads)),
          used_(static_cast<std::size_t>(n_threads)) {
        for (std::size_t f = 0; f < table.bins().cols; ++f) {
            columns_of_[table.column(f).group].push_back(f);
        }
        for (std::size_t t = 1; t < partial_.size(); ++t) {
            partial_[t] = AlignedBuffer<std::int64_t>(table.n_slots());
        }
    }

    // Grows one tree on the rows `sample` (empty: all), from the columns `allowed` (empty:
    // all). nodes() and rows() are the result.
    void grow(Team& team, const std::int64_t* word, const GradientUnits& units,
              std::span<const std::int32_t> sample, std::span<const std::uint8_t> allowed) {
        assert(allowed.empty() || allowed.size() == table_.bins().cols);
        assert(sample.size() <= table_.rows());
        word_ = word;
        allowed_ = allowed;
        all_rows_ = sample.empty();
        const std::size_t n = all_rows_ ? table_.rows() : sample.size();
        if (all_rows_) {
            std::iota(rows_.begin(), rows_.begin() + n, 0);
        } else {
            std::copy(sample.begin(), sample.end(), rows_.begin());
        }
        set_rules(units);
        nodes_.clear();
        queue_.clear();
        free_.clear();
        for (std::size_t b = 0; b < pool_.size(); ++b) {
            free_.push_back(b);
        }
        n_leaves_ = 1;
        BoostNode root;
        root.end = n;
        nodes_.push_back(root);
        start(team);
        while (!queue_.empty() && !full()) {
            const std::size_t i = pop();
            split(team, i);
        }
        assert(every_buffer_has_one_owner());
    }

    [[nodiscard]] std::span<const BoostNode> nodes() const noexcept { return nodes_; }
    [[nodiscard]] const std::int32_t* rows() const noexcept { return rows_.data(); }
    [[nodiscard]] const SplitRules& rules() const noexcept { return rules_; }

    // Which bytes of the split's column (or its bundle) go left, bit by bit.
    [[nodiscard]] static std::array<std::uint32_t, 8> left_bytes(const BoostSplit& split,
                                                                 const BoostTable& table) noexcept {
        const auto f = static_cast<std::size_t>(split.column);
        const auto code_of = table.codes_of_bytes(f);
        const std::int32_t missing = table.column(f).n_bins;
        std::array<std::uint32_t, 8> set{};
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::size_t c = code_of[byte];
            const auto code = static_cast<std::int32_t>(c);
            const bool goes_left = code == missing ? split.missing_left
                                   : split.nominal ? (split.bins[c / 32] >> (c % 32) & 1U) != 0
                                                   : code <= split.bin;
            set[byte / 32] |= (goes_left ? 1U : 0U) << (byte % 32);
        }
        return set;
    }

  private:
    static constexpr std::size_t parallel_rows = 4096;  // fewer are not worth a phase
    static constexpr std::size_t chunk_rows = 2048;

    void set_rules(const GradientUnits& units) noexcept {
        rules_.units = units;
        rules_.lambda = options_.l2 * units.h_scale;
        rules_.alpha = options_.l1 * units.g_scale;
        const double floor = std::min(options_.min_hessian * units.h_scale, 0x1p50);
        rules_.min_hessian = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(floor)));
        rules_.min_rows = static_cast<std::int64_t>(options_.min_samples_leaf);
        rules_.bounded = !options_.monotone.empty();
        if (units.unit_hessian) {  // the curvature counts the rows
            rules_.min_hessian = std::max(rules_.min_hessian, rules_.min_rows);
        }
    }

    [[nodiscard]] bool full() const noexcept {
        return options_.max_leaves != 0 && n_leaves_ >= options_.max_leaves;
    }

    [[nodiscard]] bool may_split(const BoostNode& node) const noexcept {
        return node.end - node.begin >= 2 * options_.min_samples_leaf &&
               (options_.max_depth == 0 || node.depth < options_.max_depth) &&
               rules_.units.hessian(node.sums.total) >= 2 * rules_.min_hessian;
    }

    [[nodiscard]] std::size_t take_buffer() {
        if (free_.empty()) {
            pool_.emplace_back(table_.n_slots());
            found_.emplace_back(table_.bins().cols);
            return pool_.size() - 1;
        }
        const std::size_t b = free_.back();
        free_.pop_back();
        return b;
    }

    // For an assert: a buffer is free, or holds the histogram of one node.
    [[nodiscard]] bool every_buffer_has_one_owner() const {
        std::vector<int> owners(pool_.size());
        for (const std::size_t b : free_) {
            ++owners[b];
        }
        for (const BoostNode& node : nodes_) {
            if (node.hist != 0) {
                ++owners[node.hist - 1];
            }
        }
        return std::all_of(owners.begin(), owners.end(), [](int n) { return n == 1; });
    }

    void push(std::size_t i) {
        assert(nodes_[i].hist != 0);
        BoostNode& node = nodes_[i];
        if (node.split.column < 0) {
            free_.push_back(node.hist - 1);
            node.hist = 0;
            return;
        }
        queue_.push_back(i);
    }

    // With a limit of leaves the largest gain first (then the oldest); without one all are
    // split, and the newest first keeps few histograms alive.
    [[nodiscard]] std::size_t pop() {
        assert(!queue_.empty());
        std::size_t best = queue_.size() - 1;
        if (options_.max_leaves != 0) {
            best = 0;
            for (std::size_t q = 1; q < queue_.size(); ++q) {
                const double gain = nodes_[queue_[q]].split.gain;
                const double top = nodes_[queue_[best]].split.gain;
                if (gain > top || (gain == top && queue_[q] < queue_[best])) {
                    best = q;
                }
            }
        }
        const std::size_t i = queue_[best];
        queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(best));
        return i;
    }

    void start(Team& team) {
        const std::size_t n = nodes_[0].end;
        const std::size_t chunks = n < parallel_rows ? 1 : chunk_count(n, chunk_rows);
        const std::size_t step = chunks == 1 ? n : chunk_rows;
        std::vector<std::int64_t> sum(chunks);
        const std::size_t b = take_buffer();
        clear(pool_[b]);
        std::fill(used_.begin(), used_.end(), std::uint8_t{0});
        team.each(chunks, [&](std::size_t c, int thread) {
            const std::size_t begin = c * step;
            const std::size_t end = std::min(n, begin + step);
            for (std::size_t i = begin; i < end; ++i) {
                sum[c] += word_[static_cast<std::size_t>(rows_[i])];
            }
            table_.add(own(thread, pool_[b]), all_rows_ ? nullptr : rows_.data() + begin, begin,
                       end - begin, [&](std::size_t r) { return word_[r]; });
        });
        BoostNode& root = nodes_[0];
        root.hist = b + 1;
        root.sums.total = std::accumulate(sum.begin(), sum.end(), std::int64_t{0});
        root.sums.rows = n;
        if (!may_split(root) || options_.max_leaves == 1) {
            free_.push_back(b);
            root.hist = 0;
            return;
        }
        search(team, 0, nullptr, b, 0);
        push(0);
    }

    static void clear(AlignedBuffer<std::int64_t>& buffer) noexcept {
        std::memset(buffer.data(), 0, buffer.size() * sizeof(std::int64_t));
    }

    // The histogram that a thread adds to: the leader's is the result itself.
    [[nodiscard]] std::int64_t* own(int thread, AlignedBuffer<std::int64_t>& result) noexcept {
        const auto t = static_cast<std::size_t>(thread);
        if (t == 0) {
            return result.data();
        }
        if (used_[t] == 0) {
            used_[t] = 1;
            clear(partial_[t]);
        }
        return partial_[t].data();
    }

    void split(Team& team, std::size_t i) {
        const BoostNode parent = nodes_[i];
        assert(parent.left == 0 && parent.hist != 0 && parent.begin < parent.end);
        const auto f = static_cast<std::size_t>(parent.split.column);
        const auto set = left_bytes(parent.split, table_);
        const std::size_t n = parent.end - parent.begin;
        const std::size_t chunks = n < parallel_rows ? 1 : chunk_count(n, chunk_rows);
        const std::size_t step = chunks == 1 ? n : chunk_rows;
        lefts_.assign(chunks, 0);
        team.each(chunks, [&](std::size_t c, int) {
            const std::size_t begin = parent.begin + c * step;
            const std::size_t end = std::min(parent.end, begin + step);
            lefts_[c] = divide(f, set, begin, end);
        });
        const std::size_t n_left = std::accumulate(lefts_.begin(), lefts_.end(), std::size_t{0});
        const bool too_few =
            std::min(n_left, n - n_left) < std::max<std::size_t>(1, options_.min_samples_leaf);
        if (too_few) {
            recount(i);
            return;
        }

        const auto c = static_cast<std::int32_t>(nodes_.size());
        nodes_[i].left = c;
        if (!parent.split.has_missing && !any_missing(parent, f)) {
            // No row to learn from: the way of most rows.
            nodes_[i].split.missing_left = n_left >= n - n_left;
        }
        BoostNode left;
        BoostNode right;
        left.depth = right.depth = parent.depth + 1;
        left.begin = parent.begin;
        left.end = right.begin = parent.begin + n_left;
        right.end = parent.end;
        left.sums = {parent.split.left, n_left, parent.sums.low, parent.sums.high};
        right.sums = {parent.sums.total - parent.split.left, n - n_left, parent.sums.low,
                      parent.sums.high};
        if (rules_.bounded) {
            bound(parent, left.sums, right.sums);
        }
        nodes_.push_back(left);
        nodes_.push_back(right);
        ++n_leaves_;
        const bool last = full();
        const bool left_open = !last && may_split(left);
        const bool right_open = !last && may_split(right);
        const bool wanted = left_open || right_open;
        const bool left_small = n_left <= n - n_left;
        const std::size_t b = wanted ? take_buffer() : 0;
        if (wanted) {
            clear(pool_[b]);
            std::fill(used_.begin(), used_.end(), std::uint8_t{0});
        }
        starts_.resize(chunks);
        std::exclusive_scan(lefts_.begin(), lefts_.end(), starts_.begin(), std::size_t{0});
        team.each(chunks, [&](std::size_t chunk, int thread) {
            const std::size_t begin = parent.begin + chunk * step;
            const std::size_t end = std::min(parent.end, begin + step);
            const std::size_t l = lefts_[chunk];
            const std::size_t r = end - begin - l;
            const std::int32_t* from_left = left_.data() + begin;
            const std::int32_t* from_right = right_.data() + begin;
            std::copy_n(from_left, l, rows_.data() + left.begin + starts_[chunk]);
            std::copy_n(from_right, r,
                        rows_.data() + right.begin + (chunk * step - starts_[chunk]));
            if (wanted) {
                table_.add(own(thread, pool_[b]), left_small ? from_left : from_right, 0,
                           left_small ? l : r, [&](std::size_t row) { return word_[row]; });
            }
        });
        assert(starts_.back() + lefts_.back() == n_left);
        const std::size_t parent_buffer = parent.hist - 1;
        nodes_[i].hist = 0;
        if (!wanted) {
            free_.push_back(parent_buffer);
            return;
        }
        const auto l = static_cast<std::size_t>(c);
        const std::size_t small = left_small ? l : l + 1;
        const std::size_t large = left_small ? l + 1 : l;
        nodes_[small].hist = b + 1;
        nodes_[large].hist = parent_buffer + 1;
        const bool small_open = left_small ? left_open : right_open;
        const bool large_open = left_small ? right_open : left_open;
        search(team, small, &pool_[parent_buffer], b, large, small_open, large_open);
        push(l);
        push(l + 1);
    }

    // Whether the node has missing rows whose words are all zero.
    [[nodiscard]] bool any_missing(const BoostNode& node, std::size_t f) const noexcept {
        const BoostTable::Column& place = table_.column(f);
        if (place.n_codes == place.n_bins) {
            return false;
        }
        const std::uint8_t* bytes = table_.bytes(f);
        const auto code_of = table_.codes_of_bytes(f);
        return std::any_of(rows_.data() + node.begin, rows_.data() + node.end, [&](auto row) {
            return code_of[bytes[static_cast<std::size_t>(row)]] == place.n_bins;
        });
    }

    // Rows begin .. end - 1 to left_ and right_ at the same place; returns how many go left.
    std::size_t divide(std::size_t f, const std::array<std::uint32_t, 8>& set, std::size_t begin,
                       std::size_t end) noexcept {
        const int peek = table_.rows() < 4 ? 0 : table_.neighbour(f);
        return dispatch([&](auto level) {
            return BoostDivide<decltype(level)>::run(table_.bytes(f), peek, set.data(),
                                                     rows_.data() + begin, end - begin,
                                                     left_.data() + begin, right_.data() + begin);
        });
    }

    void bound(const BoostNode& parent, SplitNode& left, SplitNode& right) const noexcept {
        const int direction = options_.monotone[static_cast<std::size_t>(parent.split.column)];
        if (direction == 0) {
            return;
        }
        const double vl = rules_.value(left.total, left.low, left.high);
        const double vr = rules_.value(right.total, right.low, right.high);
        const double middle = vl / 2 + vr / 2;
        (direction > 0 ? left.high : left.low) = middle;
        (direction > 0 ? right.low : right.high) = middle;
    }

    // Completes the histogram in buffer b (adding what the other threads have), subtracts it
    // from `whole`, and searches the node with it and the node that keeps `whole`.
    void search(Team& team, std::size_t small, AlignedBuffer<std::int64_t>* whole, std::size_t b,
                std::size_t large, bool small_open = true, bool large_open = false) {
        std::int64_t* hist = pool_[b].data();
        std::vector<BoostSplit>& small_found = found_[b];
        std::vector<BoostSplit>& large_found = found_[nodes_[large].hist - 1];
        const double small_merit = rules_.node_merit(nodes_[small].sums);
        const double large_merit = rules_.node_merit(nodes_[large].sums);
        const std::size_t groups = table_.n_groups();
        const std::size_t step = std::max<std::size_t>(1, groups / 8);
        team.each(chunk_count(groups, step), [&](std::size_t chunk, int) {
            const std::size_t end = std::min(groups, (chunk + 1) * step);
            const std::size_t first = table_.group_slot(chunk * step);
            const std::size_t last = table_.group_slot(end);
            for (std::size_t t = 1; t < partial_.size(); ++t) {
                if (used_[t] != 0) {
                    const std::int64_t* part = partial_[t].data();
                    for (std::size_t s = first; s < last; ++s) {
                        hist[s] += part[s];
                    }
                }
            }
            if (whole != nullptr) {
                std::int64_t* rest = whole->data();
                for (std::size_t s = first; s < last; ++s) {
                    rest[s] -= hist[s];
                }
            }
            for (std::size_t g = chunk * step; g < end; ++g) {
                for (const std::size_t f : columns_of_[g]) {
                    if (small_open) {
                        small_found[f] =
                            search_column(f, nodes_[small], hist, small_merit, nullptr);
                    }
                    if (large_open) {
                        large_found[f] =
                            search_column(f, nodes_[large], whole->data(), large_merit, nullptr);
                    }
                }
            }
        });
        if (small_open) {
            nodes_[small].split = best_of(small_found);
        }
        if (large_open) {
            nodes_[large].split = best_of(large_found);
        }
    }

    [[nodiscard]] BoostSplit search_column(std::size_t f, const BoostNode& node,
                                           const std::int64_t* hist, double merit,
                                           const std::int64_t* count) const noexcept {
        const BoostTable::Column& place = table_.column(f);
        if (place.n_codes < 2 || (!allowed_.empty() && allowed_[f] == 0)) {
            return {};
        }
        std::array<std::int64_t, 256> scratch;
        SplitColumn column;
        column.hist = table_.histogram(hist, node.sums.total, f, scratch.data());
        column.count = count;
        column.n_bins = place.n_bins;
        column.has_missing = place.n_codes > place.n_bins;
        column.nominal = table_.bins().nominal[f] != 0;
        column.direction = options_.monotone.empty() ? 0 : options_.monotone[f];
        return best_split(rules_, node.sums, merit, column, f);
    }

    [[nodiscard]] static const BoostSplit& best_of(const std::vector<BoostSplit>& found) noexcept {
        assert(!found.empty());
        std::size_t best = 0;
        for (std::size_t f = 1; f < found.size(); ++f) {
            if (found[f].gain > found[best].gain) {
                best = f;
            }
        }
        return found[best];
    }

    // After a split with too few rows on one side: that column again with its rows counted.
    void recount(std::size_t i) {
        BoostNode& node = nodes_[i];
        assert(node.hist != 0);
        const auto f = static_cast<std::size_t>(node.split.column);
        const std::uint8_t* bytes = table_.bytes(f);
        const auto code_of = table_.codes_of_bytes(f);
        std::array<std::int64_t, 256> count{};
        for (std::size_t at = node.begin; at < node.end; ++at) {
            ++count[code_of[bytes[static_cast<std::size_t>(rows_[at])]]];
        }
        std::vector<BoostSplit>& found = found_[node.hist - 1];
        found[f] = search_column(f, node, pool_[node.hist - 1].data(), rules_.node_merit(node.sums),
                                 count.data());
        node.split = best_of(found);
        push(i);
    }

    const BoostTable& table_;
    BoostTreeOptions options_;
    AlignedBuffer<std::int32_t> rows_;
    AlignedBuffer<std::int32_t> left_;
    AlignedBuffer<std::int32_t> right_;
    std::vector<std::vector<BoostSplit>> found_;        // per buffer: the best split of each column
    std::vector<std::vector<std::size_t>> columns_of_;  // per group
    std::vector<AlignedBuffer<std::int64_t>> partial_;  // per thread; the leader needs none
    std::vector<std::uint8_t> used_;
    std::vector<AlignedBuffer<std::int64_t>> pool_;
    std::vector<std::size_t> free_;
    std::vector<std::size_t> queue_;
    std::vector<std::size_t> lefts_;
    std::vector<std::size_t> starts_;
    std::vector<BoostNode> nodes_;
    SplitRules rules_;
    const std::int64_t* word_ = nullptr;
    std::span<const std::uint8_t> allowed_;
    bool all_rows_ = true;
    std::size_t n_leaves_ = 0;
};

}  // namespace assay::tree

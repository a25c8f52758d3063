// Regression by absolute error: leaves are weighted medians.
//
//     impurity = min_m sum_i w_i |y_i - m| / W,   score = -(loss left + loss right)
//
// Medians do not add up, so a cell is a run of the node's rows, sorted by code, and a Scan
// moves the rows of a run from the right side to the left. Each side keeps weights and
// weighted targets in a Fenwick tree over the ranks of y within the node: a move and a
// median take O(log n). Medians are exact; between two middle values the leaf takes their
// mean, as scikit-learn does. Levels of nominal columns are sorted by their medians, which is
// a heuristic here.
//
// Cost    O(n log n) per node and column.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/tree/bins.hpp"
#include "assay/tree/criterion.hpp"
#include "assay/tree/histogram.hpp"

namespace assay::tree {

class AbsoluteTarget {
  public:
    using Unit = std::uint32_t;  // a cell: first of the run, and its length
    using Number = double;
    struct Entry {
        std::uint32_t row;
        double weight;
    };
    static constexpr bool is_absolute = true;

    AbsoluteTarget(std::span<const double> y, std::size_t n_outputs) noexcept
        : y_(y), n_outputs_(n_outputs) {}

    [[nodiscard]] static std::size_t width() noexcept { return 2; }
    [[nodiscard]] std::size_t n_outputs() const noexcept { return n_outputs_; }
    [[nodiscard]] static Entry entry(std::size_t row, double weight) noexcept {
        return {static_cast<std::uint32_t>(row), weight};
    }
    [[nodiscard]] static std::uint16_t load(const Entry&) noexcept { return 0; }
    static void add(Unit*, const Entry&) noexcept {}
    [[nodiscard]] static std::size_t scratch_size() noexcept { return 0; }
    template <class Code>
    static void add_below(Unit*, std::span<const Entry>, const Code*, std::int32_t) noexcept {}
    [[nodiscard]] static bool is_ordered() noexcept { return true; }
    [[nodiscard]] static std::int32_t pure_class(const Unit*) noexcept { return -1; }
    static void shares(const Unit*, double*) noexcept {}

    [[nodiscard]] double mean_of(const Unit* cell) const {
        return median({run_.data() + cell[0], cell[1]}, 0);
    }
    [[nodiscard]] static std::size_t n_keys(const Unit*) noexcept { return 1; }
    [[nodiscard]] double key(const Unit*, const Unit* cell, std::size_t) const {
        return mean_of(cell);
    }

    [[nodiscard]] Summary summary(std::span<const Entry> entries, const Unit*) const {
        Summary out;
        out.pure = true;
        for (const Entry& e : entries) {
            out.weight += e.weight;
        }
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const double middle = median(entries, k);
            const double first = value(entries[0], k);
            double loss = 0;
            for (const Entry& e : entries) {
                loss += e.weight * std::abs(value(e, k) - middle);
                out.pure = out.pure && value(e, k) == first;
            }
            out.impurity += loss / out.weight / static_cast<double>(n_outputs_);
        }
        return out;
    }
    void values(std::span<const Entry> entries, const Unit*, double* out) const {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            out[k] = median(entries, k);
        }
    }

    // Ranks the targets of a node before its columns are searched.
    void enter(std::span<const Entry> entries) {
        const std::size_t n = entries.size();
        rank_.resize(y_.size());
        sorted_.resize(n_outputs_);
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            sort_rows(entries, k);
            sorted_[k].resize(n);
            for (std::size_t i = 0; i < n; ++i) {
                sorted_[k][i] = value(order_[i], k);
                rank_[std::size_t{order_[i].row} * n_outputs_ + k] = static_cast<std::uint32_t>(i);
            }
        }
    }

    // What collect_cells does, with runs as cells.
    template <class Code>
    void collect(const BinnedView<Code>& bins, std::size_t f, std::span<const Entry> entries,
                 Cells<Unit>& out) {
        const Code* codes = bins.codes + f * bins.rows;
        run_.assign(entries.begin(), entries.end());
        std::stable_sort(run_.begin(), run_.end(), [&](const Entry& a, const Entry& b) {
            return codes[a.row] < codes[b.row];
        });
        out.start(2, entries.size());
        for (std::size_t i = 0; i < run_.size(); ++i) {
            const std::int32_t code = codes[run_[i].row];
            if (i == 0 || code != out.bin[out.count - 1]) {
                out.bin[out.count] = code;
                out.rows[out.count] = 0;
                out.units[2 * out.count] = static_cast<Unit>(i);
                out.units[2 * out.count + 1] = 0;
                ++out.count;
            }
            ++out.rows[out.count - 1];
            ++out.units[2 * out.count - 1];
        }
        out.has_missing = out.bin[out.count - 1] == bins.n_bins[f];
    }

    class Scan {
      public:
        Scan(AbsoluteTarget& target, const Unit*, double*) noexcept : target_(target) {}
        void clear() {
            const std::size_t n = target_.run_.size();
            left_.assign(n, target_.n_outputs_);
            right_.assign(n, target_.n_outputs_);
            left_weight_ = 0;
            right_weight_ = 0;
            for (const Entry& e : target_.run_) {
                target_.move(right_, e, e.weight);
                right_weight_ += e.weight;
            }
        }
        void add(const Unit* cell) { shift(cell, 1); }
        void remove(const Unit* cell) { shift(cell, -1); }
        [[nodiscard]] double left_weight() const noexcept { return left_weight_; }
        [[nodiscard]] double right_weight() const noexcept { return right_weight_; }
        [[nodiscard]] double left_value() const { return target_.middle(left_, left_weight_, 0); }
        [[nodiscard]] double right_value() const {
            return target_.middle(right_, right_weight_, 0);
        }
        [[nodiscard]] double score() const {
            double loss = 0;
            for (std::size_t k = 0; k < target_.n_outputs_; ++k) {
                loss += target_.loss(left_, left_weight_, k);
                loss += target_.loss(right_, right_weight_, k);
            }
            return -loss;
        }

      private:
        friend class AbsoluteTarget;
        void shift(const Unit* cell, int sign) {
            for (std::size_t i = cell[0]; i < cell[0] + cell[1]; ++i) {
                const Entry& e = target_.run_[i];
                target_.move(left_, e, sign * e.weight);
                target_.move(right_, e, -sign * e.weight);
                left_weight_ += sign * e.weight;
                right_weight_ -= sign * e.weight;
            }
        }
        AbsoluteTarget& target_;
        struct Side {
            std::vector<double> weight;  // Fenwick trees, one per output
            std::vector<double> sum;
            std::size_t n = 0;
            void assign(std::size_t rows, std::size_t n_outputs) {
                n = rows;
                weight.assign(rows * n_outputs, 0.0);
                sum.assign(rows * n_outputs, 0.0);
            }
        };
        Side left_;
        Side right_;
        double left_weight_ = 0;
        double right_weight_ = 0;
    };

  private:
    [[nodiscard]] double value(const Entry& e, std::size_t k) const noexcept {
        return y_[std::size_t{e.row} * n_outputs_ + k];
    }

    void sort_rows(std::span<const Entry> entries, std::size_t k) const {
        order_.assign(entries.begin(), entries.end());
        std::stable_sort(order_.begin(), order_.end(),
                         [&](const Entry& a, const Entry& b) { return value(a, k) < value(b, k); });
    }

    [[nodiscard]] double median(std::span<const Entry> entries, std::size_t k) const {
        sort_rows(entries, k);
        double total = 0;
        for (const Entry& e : order_) {
            total += e.weight;
        }
        double below = 0;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            below += order_[i].weight;
            if (below > total / 2 || i + 1 == order_.size()) {
                return value(order_[i], k);
            }
            if (below == total / 2) {
                return value(order_[i], k) / 2 + value(order_[i + 1], k) / 2;
            }
        }
        return 0;
    }

    template <class Side>
    void move(Side& side, const Entry& e, double weight) const noexcept {
        for (std::size_t k = 0; k < n_outputs_; ++k) {
            const double product = weight * value(e, k);
            const std::size_t at = k * side.n;
            for (std::size_t i = rank_[std::size_t{e.row} * n_outputs_ + k] + std::size_t{1};
                 i <= side.n; i += i & (~i + 1)) {
                side.weight[at + i - 1] += weight;
                side.sum[at + i - 1] += product;
            }
        }
    }

    // The rows below the median: how many ranks, their weight and their sum.
    template <class Side>
    [[nodiscard]] std::size_t below_median(const Side& side, double total, std::size_t k,
                                           double& weight, double& sum) const noexcept {
        std::size_t step = 1;
        while (step * 2 <= side.n) {
            step *= 2;
        }
        std::size_t rank = 0;
        weight = 0;
        sum = 0;
        for (; step > 0; step /= 2) {
            const std::size_t next = rank + step;
            if (next < side.n && weight + side.weight[k * side.n + next - 1] < total / 2) {
                rank = next;
                weight += side.weight[k * side.n + next - 1];
                sum += side.sum[k * side.n + next - 1];
            }
        }
        return rank;
    }

    template <class Side>
    [[nodiscard]] double middle(const Side& side, double total, std::size_t k) const noexcept {
        double weight = 0;
        double sum = 0;
        return sorted_[k][below_median(side, total, k, weight, sum)];
    }

    template <class Side>
    [[nodiscard]] double loss(const Side& side, double total, std::size_t k) const noexcept {
        double weight = 0;
        double sum = 0;
        const double median = sorted_[k][below_median(side, total, k, weight, sum)];
        double all = 0;
        for (std::size_t i = side.n; i > 0; i -= i & (~i + 1)) {
            all += side.sum[k * side.n + i - 1];
        }
        return (all - sum - median * (total - weight)) + (median * weight - sum);
    }

    std::span<const double> y_;
    std::size_t n_outputs_;
    mutable std::vector<Entry> order_;
    std::vector<Entry> run_;  // rows of the node, sorted by code
    std::vector<std::uint32_t> rank_;
    std::vector<std::vector<double>> sorted_;
};

}  // namespace assay::tree

// Impurities, and the gain of a split from the sums on both sides of it.
//
// A target says what one row adds to a *cell* (a bin, a side, a node) of `width` units,
// and a Scan moves cells from the right side of a split to the left and scores it. With
// weights w, W = w(left) + w(right), the scores (larger is better, comparable within a
// node) are
//
//     gini            sum_side sum_k c_k^2 / w
//     entropy         sum_side (sum_k c_k log2 c_k - w log2 w)
//     error           sum_side max_k c_k
//     squared_error   sum_outputs (S_left w_right - S_right w_left)^2 / (w_left w_right)
//     friedman_mse    the same of the mean output
//     poisson         sum_side S log(S / w)
//
// Two classes are the squared error of a 0/1 target. Where there is a division, it is the
// last step: with integer weights numerator and denominator are integers, exact while they
// are below 2^53 (nodes of 200,000 rows, or 10,000 for two classes), and equal gains are then
// equal numbers, whatever the column.
//
// Source  Breiman, Friedman, Olshen, Stone: Classification and regression trees (1984);
//         Friedman: Greedy function approximation (2001), equation 35.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>

#include "assay/common/dispatch.hpp"
#include "assay/tree/below.hpp"
#include "assay/tree/grow_options.hpp"

namespace assay::tree {

struct Summary {
    double weight = 0;
    double impurity = 0;
    bool pure = false;
};

[[nodiscard]] inline double x_log2_x(double x) noexcept { return x > 0 ? x * std::log2(x) : 0; }

// Impurity of a node from its class weights.
template <class Count>
[[nodiscard]] double class_impurity(Criterion criterion, std::span<const Count> counts) noexcept {
    double weight = 0;
    double squares = 0;
    double most = 0;
    double logs = 0;
    for (const Count count : counts) {
        const auto c = static_cast<double>(count);
        weight += c;
        squares += c * c;
        most = std::max(most, c);
    }
    switch (criterion) {
        case Criterion::entropy:
            for (const Count count : counts) {
                const double share = static_cast<double>(count) / weight;
                logs -= share > 0 ? share * std::log2(share) : 0;
            }
            return logs;
        case Criterion::error:
            return 1 - most / weight;
        default:
            return 1 - squares / (weight * weight);
    }
}

// Two classes, integer weights, Gini: a cell is one word, (weight << 32) + weight of class 1.
class BinaryTarget {
  public:
    using Unit = std::uint64_t;
    using Number = double;
    using Entry = Pair;  // load: weight << 16 | weight of class 1

    explicit BinaryTarget(std::span<const std::int32_t> y) noexcept : y_(y) {}

    [[nodiscard]] static std::size_t width() noexcept { return 1; }
    [[nodiscard]] static std::size_t n_outputs() noexcept { return 2; }
    [[nodiscard]] static std::size_t scratch_size() noexcept { return 0; }
    [[nodiscard]] Entry entry(std::size_t row, double weight) const noexcept {
        const auto w = static_cast<std::uint32_t>(weight);
        return {static_cast<std::uint32_t>(row), w << 16 | (y_[row] != 0 ? w : 0)};
    }
    [[nodiscard]] std::uint64_t is_one(std::size_t row) const noexcept {
        return y_[row] != 0 ? 1 : 0;
    }
    [[nodiscard]] static Unit unit(std::uint32_t load) noexcept {
        return Unit{load & 0xFFFF0000U} << 16 | (load & 0xFFFFU);
    }
    static void add(Unit* cell, const Entry& e) noexcept { *cell += unit(e.load); }
    // For presort.hpp: weight and class in 16 bits.
    [[nodiscard]] static std::uint16_t load(const Entry& e) noexcept {
        return static_cast<std::uint16_t>(e.load >> 16 << 1 | ((e.load & 0xFFFFU) != 0 ? 1 : 0));
    }
    // Adds the entries with codes up to `last`.
    template <class Code>
    static void add_below(Unit* cell, std::span<const Entry> entries, const Code* codes,
                          std::int32_t last) noexcept {
        if constexpr (sizeof(Code) == 1) {
            *cell += dispatch([&](auto level) {
                return Below<decltype(level)>::weights(entries.data(), codes, entries.size(),
                                                       static_cast<Code>(last));
            });
        } else {
            for (std::size_t i = 0; i < entries.size(); ++i) {
                *cell += codes[i] <= last ? unit(entries[i].load) : 0;
            }
        }
    }
    // Whether levels sorted by their mean hold the best bipartition as a cut.
    [[nodiscard]] static bool is_ordered() noexcept { return true; }
    [[nodiscard]] static double mean_of(const Unit* cell) noexcept {
        return static_cast<double>(*cell & 0xFFFFFFFFU) / static_cast<double>(*cell >> 32);
    }
    static void shares(const Unit* cell, double* share) noexcept { *share = mean_of(cell); }
    // What levels may be put in order by: how many keys there are in a node, and one of them.
    [[nodiscard]] static std::size_t n_keys(const Unit*) noexcept { return 1; }
    [[nodiscard]] static double key(const Unit*, const Unit* cell, std::size_t) noexcept {
        return mean_of(cell);
    }

    [[nodiscard]] Summary summary(std::span<const Entry>, const Unit* total) const noexcept {
        const std::uint64_t weight = *total >> 32;
        const std::uint64_t ones = *total & 0xFFFFFFFFU;
        const std::uint64_t counts[2] = {weight - ones, ones};
        const bool pure = ones == 0 || ones == weight;
        return {static_cast<double>(weight),
                pure ? 0 : class_impurity<std::uint64_t>(Criterion::gini, counts), pure};
    }
    void values(std::span<const Entry>, const Unit* total, double* value) const noexcept {
        value[1] = static_cast<double>(*total & 0xFFFFFFFFU) / static_cast<double>(*total >> 32);
        value[0] = static_cast<double>((*total >> 32) - (*total & 0xFFFFFFFFU)) /
                   static_cast<double>(*total >> 32);
    }
    // The class of a pure node: its leaf shares a row of values.
    [[nodiscard]] static std::int32_t pure_class(const Unit* total) noexcept {
        return (*total & 0xFFFFFFFFU) != 0 ? 1 : 0;
    }

    class Scan {
      public:
        Scan(const BinaryTarget&, const Unit* total, double*) noexcept
            : weight_(static_cast<double>(*total >> 32)),
              ones_(static_cast<double>(*total & 0xFFFFFFFFU)) {}
        void clear() noexcept { left_ = 0; }
        void add(const Unit* cell) noexcept { left_ += *cell; }
        void remove(const Unit* cell) noexcept { left_ -= *cell; }
        void add_entry(const Entry& e) noexcept { left_ += unit(e.load); }
        [[nodiscard]] double left_weight() const noexcept {
            return static_cast<double>(left_ >> 32);
        }
        [[nodiscard]] double right_weight() const noexcept { return weight_ - left_weight(); }
        [[nodiscard]] double left_value() const noexcept { return left_ones() / left_weight(); }
        [[nodiscard]] double right_value() const noexcept {
            return (ones_ - left_ones()) / right_weight();
        }
        [[nodiscard]] double score() const noexcept {
            const double w = left_weight();
            const double p = left_ones();
            const double difference = p * weight_ - ones_ * w;
            return difference * difference / (w * (weight_ - w));
        }

      private:
        [[nodiscard]] double left_ones() const noexcept {
            return static_cast<double>(left_ & 0xFFFFFFFFU);
        }
        Unit left_ = 0;
        double weight_;
        double ones_;
    };

  private:
    std::span<const std::int32_t> y_;
};

// Any number of classes; a cell has one count (integer weights) or weight per class.
template <Criterion fixed, class Count>  // Count: std::uint32_t or double
class ClassTarget {
  public:
    using Unit = Count;
    using Number = Count;  // of scratch
    static constexpr bool is_integer = std::is_integral_v<Count>;
    using Square = std::conditional_t<is_integer, std::uint64_t, double>;
    using Weight = Square;
    struct IntegerEntry {
        std::uint32_t row;
        std::uint16_t label;
        std::uint16_t weight;
    };
    struct RealEntry {
        std::uint32_t row;
        std::uint32_t label;
        double weight;
    };
    using Entry = std::conditional_t<is_integer, IntegerEntry, RealEntry>;

    ClassTarget(Criterion criterion, std::span<const std::int32_t> y,
                std::size_t n_classes) noexcept
        : criterion_(criterion), y_(y), n_classes_(n_classes) {}
    ClassTarget(std::span<const std::int32_t> y, std::size_t n_classes) noexcept
        : ClassTarget(fixed, y, n_classes) {
        static_assert(fixed != Criterion::at_run_time);
    }

    [[nodiscard]] std::size_t width() const noexcept { return n_classes_; }
    [[nodiscard]] std::size_t n_outputs() const noexcept { return n_classes_; }
    [[nodiscard]] Entry entry(std::size_t row, double weight) const noexcept {
        Entry e;
        e.row = static_cast<std::uint32_t>(row);
        e.label = static_cast<decltype(e.label)>(y_[row]);
        e.weight = static_cast<decltype(e.weight)>(weight);
        return e;
    }
    // The same for fewer classes, which the caller numbers anew.
    [[nodiscard]] ClassTarget with_classes(std::size_t n_classes) const noexcept {
        return ClassTarget(criterion_, y_, n_classes);
    }
    [[nodiscard]] std::uint16_t label(std::size_t row) const noexcept {
        return static_cast<std::uint16_t>(y_[row]);
    }
    static void add(Unit* cell, const Entry& e) noexcept { cell[e.label] += e.weight; }
    [[nodiscard]] static std::uint16_t load(const Entry&) noexcept { return 0; }
    template <class Code>
    static void add_below(Unit* cell, std::span<const Entry> entries, const Code* codes,
                          std::int32_t last) noexcept {
        for (std::size_t i = 0; i < entries.size(); ++i) {
            // Times 0 or 1, not a branch: the sides are a toss-up.
            cell[entries[i].label] +=
                entries[i].weight * static_cast<decltype(Entry::weight)>(codes[i] <= last);
        }
    }
    [[nodiscard]] bool is_ordered() const noexcept { return n_classes_ == 2; }
    [[nodiscard]] static double mean_of(const Unit* cell) noexcept {
        return static_cast<double>(cell[1]) /
               (static_cast<double>(cell[0]) + static_cast<double>(cell[1]));
    }
    void shares(const Unit* cell, double* share) const noexcept { values({}, cell, share); }
    // One key for each class that the node has: its share.
    [[nodiscard]] std::size_t n_keys(const Unit* total) const noexcept {
        return n_classes_ - static_cast<std::size_t>(std::count(total, total + n_classes_, Unit{}));
    }
    [[nodiscard]] double key(const Unit* total, const Unit* cell,
                             std::size_t which) const noexcept {
        std::size_t k = 0;
        for (;; ++k) {
            if (total[k] > 0 && which-- == 0) {
                break;
            }
        }
        return static_cast<double>(cell[k]) /
               static_cast<double>(std::accumulate(cell, cell + n_classes_, Unit{}));
    }

    [[nodiscard]] Summary summary(std::span<const Entry>, const Unit* total) const noexcept {
        double weight = 0;
        std::size_t present = 0;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            weight += static_cast<double>(total[k]);
            present += total[k] > 0 ? 1 : 0;
        }
        return {weight, present <= 1 ? 0 : class_impurity<Count>(criterion(), {total, n_classes_}),
                present <= 1};
    }
    void values(std::span<const Entry>, const Unit* total, double* value) const noexcept {
        double weight = 0;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            weight += static_cast<double>(total[k]);
        }
        for (std::size_t k = 0; k < n_classes_; ++k) {
            value[k] = static_cast<double>(total[k]) / weight;
        }
    }
    [[nodiscard]] std::int32_t pure_class(const Unit* total) const noexcept {
        return static_cast<std::int32_t>(std::max_element(total, total + n_classes_) - total);
    }
    [[nodiscard]] Criterion criterion() const noexcept {
        return fixed == Criterion::at_run_time ? criterion_ : fixed;
    }
    [[nodiscard]] std::size_t scratch_size() const noexcept {
        return (is_integer ? 2 : 1) * n_classes_;
    }

    class Scan {
      public:
        // `scratch` has scratch_size() numbers.
        Scan(const ClassTarget& target, const Unit* total, Number* scratch) noexcept
            : criterion_(target.criterion()),
              total_(total),
              left_(scratch),
              right_(scratch + target.n_classes_),
              n_classes_(target.n_classes_) {
            clear();
        }
        void clear() noexcept {
            left_weight_ = weight_ = 0;
            left_squares_ = right_squares_ = 0;
            for (std::size_t k = 0; k < n_classes_; ++k) {
                left_[k] = 0;
                weight_ += total_[k];
                if constexpr (is_integer) {
                    right_[k] = total_[k];
                    right_squares_ += Square{total_[k]} * total_[k];
                }
            }
        }
        void add(const Unit* cell) noexcept {
            Square left = 0;
            Square right = 0;
            Weight weight = 0;
            for (std::size_t k = 0; k < n_classes_; ++k) {
                const Number w = cell[k];
                if constexpr (is_integer) {
                    left += Square{w} * (2 * left_[k] + w);
                    right += Square{w} * (2 * right_[k] - w);
                    right_[k] -= w;
                }
                left_[k] += w;
                weight += w;
            }
            left_squares_ += left;
            right_squares_ -= right;
            left_weight_ += weight;
        }
        void remove(const Unit* cell) noexcept {
            for (std::size_t k = 0; k < n_classes_; ++k) {
                const Number w = cell[k];
                if constexpr (is_integer) {
                    left_squares_ -= Square{w} * (2 * left_[k] - w);
                    right_squares_ += Square{w} * (2 * right_[k] + w);
                    right_[k] += w;
                }
                left_[k] -= w;
                left_weight_ -= w;
            }
        }
        // Squares from squares: (c + w)^2 = c^2 + w (2 c + w).
        void add_entry(const Entry& e) noexcept {
            const auto w = static_cast<Number>(e.weight);
            if constexpr (is_integer) {
                left_squares_ += Square{w} * (2 * left_[e.label] + w);
                right_squares_ -= Square{w} * (2 * right_[e.label] - w);
                right_[e.label] -= w;
            }
            left_[e.label] += w;
            left_weight_ += w;
        }
        [[nodiscard]] double left_weight() const noexcept {
            return static_cast<double>(left_weight_);
        }
        [[nodiscard]] double right_weight() const noexcept {
            return static_cast<double>(weight_ - left_weight_);
        }
        [[nodiscard]] double left_value() const noexcept {
            return static_cast<double>(left_[1]) / left_weight();
        }
        [[nodiscard]] double right_value() const noexcept { return right(1) / right_weight(); }
        [[nodiscard]] double score() const noexcept {
            const double w = left_weight();
            const double rest = right_weight();
            auto a = static_cast<double>(left_squares_);
            auto b = static_cast<double>(right_squares_);
            switch (fixed == Criterion::at_run_time ? criterion_ : fixed) {
                case Criterion::entropy:
                    a = b = 0;
                    for (std::size_t k = 0; k < n_classes_; ++k) {
                        a += x_log2_x(static_cast<double>(left_[k]));
                        b += x_log2_x(right(k));
                    }
                    return a - x_log2_x(w) + b - x_log2_x(rest);
                case Criterion::error:
                    a = b = 0;
                    for (std::size_t k = 0; k < n_classes_; ++k) {
                        a = std::max(a, static_cast<double>(left_[k]));
                        b = std::max(b, right(k));
                    }
                    return a + b;
                default:
                    break;
            }
            if constexpr (!is_integer) {  // running sums would drift
                a = b = 0;
                for (std::size_t k = 0; k < n_classes_; ++k) {
                    a += left_[k] * left_[k];
                    b += right(k) * right(k);
                }
            }
            return (a * rest + b * w) / (w * rest);
        }

      private:
        [[nodiscard]] double right(std::size_t k) const noexcept {
            return static_cast<double>(total_[k] - left_[k]);
        }

        Criterion criterion_;
        const Unit* total_;
        Number* left_;
        Number* right_;
        std::size_t n_classes_;
        Weight weight_ = 0;
        Weight left_weight_ = 0;
        Square left_squares_ = 0;
        Square right_squares_ = 0;
    };

  private:
    Criterion criterion_;
    std::span<const std::int32_t> y_;
    std::size_t n_classes_;
};

// Cells of one count per class.
template <class Target>
inline constexpr bool counts_classes = std::is_same_v<typename Target::Unit, std::uint32_t> &&
                                       requires { typename Target::IntegerEntry; };

// Regression on one or several outputs: a cell is (weight, sum of each output). `fixed` is the
// number of outputs where it is known to be 1, else 0.
template <std::size_t fixed>
class MeanTarget {
  public:
    using Unit = double;
    using Number = double;
    struct Entry {
        std::uint32_t row;
        double weight;
        double first;  // weight x (first output - offset)
    };

    // y is row-major (rows, n_outputs). The offset near the mean keeps the sums of squares
    // accurate; it is a multiple of a power of two, so that small integers stay exact.
    MeanTarget(Criterion criterion, std::span<const double> y, std::size_t n_outputs,
               std::span<const double> offset) noexcept
        : criterion_(criterion), y_(y), many_(n_outputs), offset_(offset) {}

    [[nodiscard]] std::size_t width() const noexcept { return 1 + n_outputs(); }
    [[nodiscard]] std::size_t n_outputs() const noexcept { return fixed != 0 ? fixed : many_; }
    [[nodiscard]] Entry entry(std::size_t row, double weight) const noexcept {
        return {static_cast<std::uint32_t>(row), weight,
                weight * (y_[row * n_outputs()] - offset_[0])};
    }
    // The first output of a row, as it is.
    [[nodiscard]] double output(std::size_t row) const noexcept { return y_[row * n_outputs()]; }
    [[nodiscard]] double offset() const noexcept { return offset_[0]; }
    [[nodiscard]] static std::uint16_t load(const Entry&) noexcept { return 0; }
    void add(Unit* cell, const Entry& e) const noexcept {
        cell[0] += e.weight;
        cell[1] += e.first;
        const double* y = y_.data() + std::size_t{e.row} * n_outputs();
        for (std::size_t k = 1; k < n_outputs(); ++k) {
            cell[1 + k] += e.weight * (y[k] - offset_[k]);
        }
    }
    template <class Code>
    void add_below(Unit* cell, std::span<const Entry> entries, const Code* codes,
                   std::int32_t last) const noexcept {
        if constexpr (fixed == 1) {
            // Four sums each, in a fixed order: one would wait for itself.
            double weight[4] = {};
            double sum[4] = {};
            std::size_t i = 0;
            for (; i + 4 <= entries.size(); i += 4) {
                for (std::size_t lane = 0; lane < 4; ++lane) {
                    const double keep = codes[i + lane] <= last ? 1.0 : 0.0;
                    weight[lane] += entries[i + lane].weight * keep;
                    sum[lane] += entries[i + lane].first * keep;
                }
            }
            for (; i < entries.size(); ++i) {
                const double keep = codes[i] <= last ? 1.0 : 0.0;
                weight[i % 4] += entries[i].weight * keep;
                sum[i % 4] += entries[i].first * keep;
            }
            cell[0] += (weight[0] + weight[1]) + (weight[2] + weight[3]);
            cell[1] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
            return;
        }
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (codes[i] <= last) {
                add(cell, entries[i]);
            }
        }
    }
    [[nodiscard]] bool is_ordered() const noexcept { return n_outputs() == 1; }
    [[nodiscard]] static double mean_of(const Unit* cell) noexcept { return cell[1] / cell[0]; }
    void shares(const Unit* cell, double* share) const noexcept {
        for (std::size_t k = 0; k < n_outputs(); ++k) {
            share[k] = cell[1 + k] / cell[0];
        }
    }
    [[nodiscard]] std::size_t n_keys(const Unit*) const noexcept { return n_outputs(); }
    [[nodiscard]] static double key(const Unit*, const Unit* cell, std::size_t which) noexcept {
        return cell[1 + which] / cell[0];
    }
    [[nodiscard]] Summary summary(std::span<const Entry> entries,
                                  const Unit* total) const noexcept {
        double impurity = 0;
        bool pure = true;
        for (std::size_t k = 0; k < n_outputs(); ++k) {
            const double first = y_[std::size_t{entries[0].row} * n_outputs() + k];
            const double mean = total[1 + k] / total[0];
            double sum = 0;
            bool equal = true;
            for (const Entry& e : entries) {
                const double value = y_[std::size_t{e.row} * n_outputs() + k];
                equal &= value == first;
                if (criterion_ == Criterion::poisson) {
                    sum += value > 0 ? e.weight * value * std::log(value / (mean + offset_[k])) : 0;
                } else {
                    const double difference = value - offset_[k] - mean;
                    sum += e.weight * difference * difference;
                }
            }
            pure = pure && equal;
            impurity += equal ? 0 : sum / total[0];
        }
        return {total[0], impurity / static_cast<double>(n_outputs()), pure};
    }
    void values(std::span<const Entry> entries, const Unit* total, double* value) const noexcept {
        for (std::size_t k = 0; k < n_outputs(); ++k) {
            double sum = 0;
            bool equal = true;
            const double first = y_[std::size_t{entries[0].row} * n_outputs() + k];
            for (const Entry& e : entries) {
                const double y = y_[std::size_t{e.row} * n_outputs() + k];
                sum += e.weight * y;
                equal &= y == first;
            }
            value[k] = equal ? first : sum / total[0];
        }
    }
    [[nodiscard]] static std::int32_t pure_class(const Unit*) noexcept { return -1; }
    [[nodiscard]] std::size_t scratch_size() const noexcept { return width(); }

    class Scan {
      public:
        // `scratch` has scratch_size() numbers.
        Scan(const MeanTarget& target, const Unit* total, double* scratch) noexcept
            : target_(target), total_(total), scratch_(scratch) {
            clear();
        }
        void clear() noexcept { std::fill(left(), left() + target_.width(), 0.0); }
        void add(const Unit* cell) noexcept {
            for (std::size_t k = 0; k < target_.width(); ++k) {
                left()[k] += cell[k];
            }
        }
        void remove(const Unit* cell) noexcept {
            for (std::size_t k = 0; k < target_.width(); ++k) {
                left()[k] -= cell[k];
            }
        }
        void add_entry(const Entry& e) noexcept { target_.add(left(), e); }
        [[nodiscard]] double left_weight() const noexcept { return left()[0]; }
        [[nodiscard]] double right_weight() const noexcept { return total_[0] - left()[0]; }
        // Of the first output; monotone constraints need a single one.
        [[nodiscard]] double left_value() const noexcept {
            return left()[1] / left()[0] + target_.offset_[0];
        }
        [[nodiscard]] double right_value() const noexcept {
            return (total_[1] - left()[1]) / right_weight() + target_.offset_[0];
        }
        [[nodiscard]] double score() const noexcept {
            if (target_.criterion_ == Criterion::poisson) {
                return poisson();
            }
            double sum = 0;
            double squares = 0;
            for (std::size_t k = 1; k < target_.width(); ++k) {
                const double difference = left()[k] * total_[0] - total_[k] * left()[0];
                sum += difference;
                squares += difference * difference;
            }
            return (target_.criterion_ == Criterion::friedman_mse ? sum * sum : squares) /
                   (left_weight() * right_weight());
        }

      private:
        // One output is kept here, where the compiler can hold it in registers.
        [[nodiscard]] double* left() noexcept {
            if constexpr (fixed == 1) {
                return own_;
            }
            return scratch_;
        }
        [[nodiscard]] const double* left() const noexcept {
            if constexpr (fixed == 1) {
                return own_;
            }
            return scratch_;
        }
        [[nodiscard]] double poisson() const noexcept {
            double sum = 0;
            for (std::size_t k = 1; k < target_.width(); ++k) {
                const double right = total_[k] - left()[k];
                if (!(left()[k] > no_impurity && right > no_impurity)) {
                    return -std::numeric_limits<double>::infinity();
                }
                sum += left()[k] * std::log(left()[k] / left_weight()) +
                       right * std::log(right / right_weight());
            }
            return sum;
        }
        const MeanTarget& target_;
        const Unit* total_;
        double* scratch_;
        double own_[2] = {};
    };

  private:
    Criterion criterion_;
    std::span<const double> y_;
    std::size_t many_;
    std::span<const double> offset_;
};

}  // namespace assay::tree

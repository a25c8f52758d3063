// AdaBoost on decision stumps: bin once, one weighted histogram pass per round.
//
//     e = weight of the rows that the best stump gets wrong / weight of all
//     alpha = rate * (log((1 - e) / e) + log(K - 1))
//     w_i <- w_i * exp(alpha * [row i is wrong]) / sum
//
// Nothing but the weights changes between rounds. Rows are put in order of their class
// once, so that a round adds one number per row and column to one of K rows of bins, and
// the best split of a column follows in closed form (split.hpp, nominal_split.hpp), as a
// tree of depth 1 would have it. Boosting ends early with a stump that makes no error, and
// before one that is no better than guessing, e >= 1 - 1/K (the first is kept all the same).
//
// Weights are whole numbers with sum 2^51, so that every sum of them is exact in a double:
// splits that part the rows alike tie exactly, whatever the column and the order of rows.
//
// Needs   n_classes >= 2, labels below it, weights >= 0 with a positive sum.
// Cost    O(n d) additions per round; a copy of the codes. Parallel over columns; the
//         result does not depend on n_threads.
// Source  Freund, Schapire (1997); Zhu, Zou, Rosset, Hastie: Multi-class AdaBoost (2009),
//         algorithm 2 (SAMME).
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/parallel.hpp"
#include "assay/tree/bins.hpp"
#include "assay/tree/criterion.hpp"
#include "assay/tree/histogram.hpp"
#include "assay/tree/nominal_split.hpp"
#include "assay/tree/split.hpp"

namespace assay::tree {

// Error 0 would have an infinite alpha.
inline constexpr double least_error = std::numeric_limits<double>::epsilon();

[[nodiscard]] inline double boost_alpha(double error, std::size_t n_classes, double rate) noexcept {
    assert(error >= 0 && error <= 1 && n_classes >= 2);
    const double e = std::max(error, least_error);
    return rate * (std::log((1 - e) / e) + std::log(static_cast<double>(n_classes) - 1));
}

inline constexpr double weight_sum = 0x1p51;

// To the nearest whole number, at least 1. Needs 0 <= x < 2^52.
[[nodiscard]] inline double whole_weight(double x) noexcept {
    assert(x >= 0 && x < 0x1p52);
    return std::max((x + 0x1p52) - 0x1p52, 1.0);
}

// Rounding must not keep a stump that is just as good as guessing.
[[nodiscard]] inline bool is_no_better_than_guessing(double error, std::size_t n_classes) noexcept {
    return error >= 1 - 1 / static_cast<double>(n_classes) - 1e-10;
}

// The leading 37 bits of a score: equal gains of different splits must tie although their
// sums were rounded differently.
[[nodiscard]] inline double rounded_score(double score) noexcept {
    constexpr std::uint64_t dropped = (std::uint64_t{1} << 16) - 1;
    const auto bits = std::bit_cast<std::uint64_t>(score) + dropped / 2;
    return std::bit_cast<double>(bits & ~dropped);
}

template <class Scan>
struct RoundedScan : Scan {
    using Scan::Scan;
    [[nodiscard]] double score() const noexcept { return rounded_score(Scan::score()); }
};

struct Stump {
    std::int32_t feature = -1;  // -1: one leaf, `side_class[0]`
    double threshold = 0;
    bool missing_left = false;
    std::vector<std::uint32_t> words;  // nominal: levels that go left
    std::int32_t side_class[2] = {0, 0};
    double wrong = 0;  // weight of the rows on the wrong side
    double whole = 0;  // weight of all rows
    double error = 0;  // wrong / whole
    double alpha = 0;
};

struct StumpOptions {
    std::size_t n_classes = 2;
    std::size_t n_rounds = 50;
    double learning_rate = 1;
    int n_threads = 1;
};

template <class Code, Criterion criterion>
class StumpBooster {
    using Target = ClassTarget<criterion, double>;

  public:
    StumpBooster(const BinnedView<Code>& bins, std::span<const std::int32_t> y,
                 std::span<const double> weight, const StumpOptions& options)
        : bins_(bins), options_(options), target_(y, options.n_classes) {
        sort_rows(y, weight);
        copy_codes();
    }

    [[nodiscard]] std::vector<Stump> run() {
        std::vector<Stump> stumps;
        for (std::size_t round = 0; round < options_.n_rounds; ++round) {
            Stump stump = best_stump();
            const bool useless = is_no_better_than_guessing(stump.error, options_.n_classes);
            if (useless && round > 0) {
                break;
            }
            const bool last = useless || !(stump.error > 0);
            // Alone and no better than guessing, it still has to have a say.
            stump.alpha =
                useless ? 1 : boost_alpha(stump.error, options_.n_classes, options_.learning_rate);
            if (!last) {
                reweight(stump);
            }
            stumps.push_back(std::move(stump));
            if (last) {
                break;
            }
        }
        return stumps;
    }

  private:
    struct Column {
        std::vector<std::int32_t> bin;    // that occur, missing last
        std::vector<std::uint32_t> rows;  // in each of them
        bool has_missing = false;
        Best best;
        std::vector<std::uint8_t> side;  // by bin: 1 = left, of the best split
        std::vector<double> left;        // class weights on the left
    };

    // Rows of positive weight by class, in their order within it.
    void sort_rows(std::span<const std::int32_t> y, std::span<const double> weight) {
        class_end_.assign(options_.n_classes + 1, 0);
        for (std::size_t i = 0; i < y.size(); ++i) {
            class_end_[static_cast<std::size_t>(y[i]) + 1] += weight[i] > 0 ? 1 : 0;
        }
        for (std::size_t k = 0; k < options_.n_classes; ++k) {
            class_end_[k + 1] += class_end_[k];
        }
        n_ = class_end_.back();
        assert(n_ >= 1);
        order_.resize(n_);
        weight_.resize(n_);
        std::vector<std::size_t> next(class_end_.begin(), class_end_.end() - 1);
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            sum += weight[i];
        }
        for (std::size_t i = 0; i < y.size(); ++i) {
            if (weight[i] > 0) {
                const std::size_t at = next[static_cast<std::size_t>(y[i])]++;
                order_[at] = static_cast<std::uint32_t>(i);
                weight_[at] = whole_weight(weight[i] / sum * weight_sum);
            }
        }
    }

    void copy_codes() {
        codes_ = AlignedBuffer<Code>(std::max<std::size_t>(1, bins_.cols * n_));
        columns_.resize(bins_.cols);
        parallel_chunks(bins_.cols, 1, options_.n_threads, [&](Range range) {
            const std::size_t f = range.begin;
            const auto from = bins_.column(f);
            Code* to = codes_.data() + f * n_;
            const auto n_bins = static_cast<std::size_t>(bins_.n_bins[f]) + 1;
            std::vector<std::uint32_t> rows(n_bins, 0);
            for (std::size_t i = 0; i < n_; ++i) {
                to[i] = from[order_[i]];
                ++rows[to[i]];
            }
            Column& column = columns_[f];
            for (std::size_t b = 0; b < n_bins; ++b) {
                if (rows[b] != 0) {
                    column.bin.push_back(static_cast<std::int32_t>(b));
                    column.rows.push_back(rows[b]);
                }
            }
            column.has_missing = rows[n_bins - 1] != 0;
            column.side.assign(n_bins, 0);
            column.left.assign(options_.n_classes, 0.0);
        });
    }

    [[nodiscard]] Stump best_stump() {
        const std::size_t n_classes = options_.n_classes;
        std::vector<double> total(n_classes, 0.0);
        for (std::size_t k = 0; k < n_classes; ++k) {
            for (std::size_t i = class_end_[k]; i < class_end_[k + 1]; ++i) {
                total[k] += weight_[i];
            }
        }
        parallel_chunks(bins_.cols, 1, options_.n_threads,
                        [&](Range range) { search(range.begin, total); });
        Stump stump;
        double best = -std::numeric_limits<double>::infinity();
        for (std::size_t f = 0; f < bins_.cols; ++f) {  // ties go to the lowest column
            if (columns_[f].best.found && columns_[f].best.score > best) {
                best = columns_[f].best.score;
                stump.feature = static_cast<std::int32_t>(f);
            }
        }
        settle(stump, total);
        return stump;
    }

    // The best split of one column under the weights of this round.
    void search(std::size_t f, const std::vector<double>& total) {
        Column& column = columns_[f];
        column.best = Best{};
        if (column.bin.size() < 2) {
            return;
        }
        const std::size_t width = options_.n_classes;
        Cells<double> cells;
        fill(f, cells);
        std::vector<double> scratch(width);
        RoundedScan<typename Target::Scan> scan(target_, total.data(), scratch.data());
        const SideLimits limits;
        std::fill(column.side.begin(), column.side.end(), std::uint8_t{0});
        if (bins_.nominal[f] != 0) {
            NominalScratch nominal;
            column.best = best_bipartition(target_, scan, cells, n_, limits, nominal);
            column.best.score = rounded_score(column.best.score);
            for (std::size_t j = 0; j < cells.count; ++j) {
                column.side[static_cast<std::size_t>(cells.bin[j])] = nominal.best_side[j];
            }
        } else {
            column.best = best_cut(scan, cells, n_, limits);
            for (std::size_t j = 0; j <= column.best.place; ++j) {
                column.side[static_cast<std::size_t>(cells.bin[j])] = 1;
            }
            if (column.has_missing) {
                column.side[column.side.size() - 1] = column.best.missing_left ? 1 : 0;
            }
        }
        std::fill(column.left.begin(), column.left.end(), 0.0);
        for (std::size_t j = 0; j < cells.count; ++j) {
            if (column.side[static_cast<std::size_t>(cells.bin[j])] != 0) {
                for (std::size_t k = 0; k < width; ++k) {
                    column.left[k] += cells.cell(j)[k];
                }
            }
        }
    }

    void fill(std::size_t f, Cells<double>& cells) const {
        const Column& column = columns_[f];
        const std::size_t width = options_.n_classes;
        const std::size_t n_bins = column.side.size();
        // Two histograms, for even and odd rows: equal neighbours need not wait.
        std::vector<double> sums(2 * n_bins * width, 0.0);
        const Code* codes = codes_.data() + f * n_;
        for (std::size_t k = 0; k < width; ++k) {
            double* even = sums.data() + k * n_bins;
            double* odd = even + n_bins * width;
            std::size_t i = class_end_[k];
            for (; i + 2 <= class_end_[k + 1]; i += 2) {
                even[codes[i]] += weight_[i];
                odd[codes[i + 1]] += weight_[i + 1];
            }
            if (i < class_end_[k + 1]) {
                even[codes[i]] += weight_[i];
            }
        }
        cells.start(width, column.bin.size());
        for (std::size_t j = 0; j < column.bin.size(); ++j) {
            const auto b = static_cast<std::size_t>(column.bin[j]);
            cells.bin[j] = column.bin[j];
            cells.rows[j] = column.rows[j];
            for (std::size_t k = 0; k < width; ++k) {
                cells.units[j * width + k] = sums[k * n_bins + b] + sums[(width + k) * n_bins + b];
            }
        }
        cells.count = column.bin.size();
        cells.has_missing = column.has_missing;
    }

    // Threshold or levels, classes of the leaves, error.
    void settle(Stump& stump, const std::vector<double>& total) {
        const std::size_t n_classes = options_.n_classes;
        std::vector<double> sides[2] = {total, std::vector<double>(n_classes, 0.0)};
        if (stump.feature >= 0) {
            const auto f = static_cast<std::size_t>(stump.feature);
            const Column& column = columns_[f];
            for (std::size_t k = 0; k < n_classes; ++k) {
                sides[0][k] = column.left[k];
                sides[1][k] = std::max(0.0, total[k] - column.left[k]);
            }
            place(stump, column, sides);
        }
        double wrong = 0;
        double whole = 0;
        for (int side = 0; side < 2; ++side) {
            const auto most = std::max_element(sides[side].begin(), sides[side].end());
            stump.side_class[side] = static_cast<std::int32_t>(most - sides[side].begin());
            for (std::size_t k = 0; k < n_classes; ++k) {
                whole += sides[side][k];
                wrong +=
                    static_cast<std::int32_t>(k) == stump.side_class[side] ? 0 : sides[side][k];
            }
        }
        stump.wrong = wrong;
        stump.whole = whole;
        stump.error = wrong / whole;
    }

    void place(Stump& stump, const Column& column, const std::vector<double>* sides) const {
        const auto f = static_cast<std::size_t>(stump.feature);
        const double weight[2] = {sum_of(sides[0]), sum_of(sides[1])};
        stump.missing_left = column.has_missing ? column.side.back() != 0 : weight[0] >= weight[1];
        if (bins_.nominal[f] != 0) {
            std::vector<std::uint8_t> goes_left(column.side.size(), stump.missing_left ? 1 : 0);
            for (const std::int32_t b : column.bin) {
                goes_left[static_cast<std::size_t>(b)] = column.side[static_cast<std::size_t>(b)];
            }
            const auto first = static_cast<std::size_t>(bins_.level_start[f]);
            const auto n_levels = static_cast<std::size_t>(bins_.level_start[f + 1]) - first;
            stump.words.assign((n_levels + 31) / 32, 0);
            for (std::size_t level = 0; level < n_levels; ++level) {
                if (goes_left[static_cast<std::size_t>(bins_.level_bin[first + level])] != 0) {
                    stump.words[level / 32] |= 1U << (level % 32);
                }
            }
            return;
        }
        const std::size_t place = column.best.place;
        const std::size_t n_values = column.bin.size() - (column.has_missing ? 1 : 0);
        stump.threshold = place + 1 == n_values
                              ? std::numeric_limits<double>::max()  // every value
                              : bins_.threshold(f, column.bin[place], column.bin[place + 1]);
    }

    [[nodiscard]] static double sum_of(const std::vector<double>& values) noexcept {
        double sum = 0;
        for (const double value : values) {
            sum += value;
        }
        return sum;
    }

    // Wrong rows times exp(alpha), then all to the sum they had.
    void reweight(const Stump& stump) {
        const double heavier = std::exp(stump.alpha);
        const double sum = (stump.whole - stump.wrong) + stump.wrong * heavier;
        const double right = weight_sum / sum;
        const double wrong = heavier * right;
        const auto f = static_cast<std::size_t>(std::max(stump.feature, 0));
        const Code* codes = codes_.data() + f * n_;
        // Factor by (class, bin): the update is one product per row.
        const std::size_t n_bins = columns_[f].side.size();
        std::vector<double> factor(n_bins);
        for (std::size_t k = 0; k < options_.n_classes; ++k) {
            for (std::size_t b = 0; b < n_bins; ++b) {
                const int side = stump.feature >= 0 && columns_[f].side[b] == 0 ? 1 : 0;
                factor[b] = stump.side_class[side] == static_cast<std::int32_t>(k) ? right : wrong;
            }
            const std::size_t first = class_end_[k];
            parallel_chunks(class_end_[k + 1] - first, 16384, options_.n_threads, [&](Range r) {
                for (std::size_t i = first + r.begin; i < first + r.end; ++i) {
                    // Subnormal weights would slow every sum down and change none.
                    weight_[i] =
                        std::max(weight_[i] * factor[codes[i]], std::numeric_limits<double>::min());
                }
            });
        }
    }

    const BinnedView<Code>& bins_;
    StumpOptions options_;
    Target target_;
    std::size_t n_ = 0;
    std::vector<std::size_t> class_end_;  // rows of class k: class_end_[k] .. class_end_[k + 1]
    std::vector<std::uint32_t> order_;
    std::vector<double> weight_;
    AlignedBuffer<Code> codes_;
    std::vector<Column> columns_;
};

}  // namespace assay::tree

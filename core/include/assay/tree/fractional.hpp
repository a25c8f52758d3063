// A tree whose rows divide where a value is missing (C4.5): grow and predict.
//
// A row arrives at a node with a fraction of itself (1 at the root). At a split it goes to its side
// when its value is known, and to both sides, in proportion to the known weight there, when it is
// missing. Gains are measured on the known rows and scaled by their share:
//
//     gain = W_known / W (I(known) - W_l / W_known I(l) - W_r / W_known I(r))
//
// In prediction a missing value branches to both children with the same shares, and the answer is
// the mean of the leaves reached. The share of the left child is weight[left] / weight[parent],
// which is W_l / W_known by construction, so nothing is stored for it.
//
// A nominal split puts some levels left. The order of the levels by their mean gives the best
// bipartition for two classes and for one output; with more classes all bipartitions are tried up
// to `exhaustive_levels` levels, and beyond that the orders by the share of each class (a
// heuristic). A level that no row of the node has goes with the heavier child; so do, in `apply`,
// missing values.
//
// Needs   codes below n_bins[f] or equal to it (missing); weight > 0; labels below n_classes.
//         min_samples >= 1 in every leaf: fractions are counted, so the tree stays finite.
// Cost    O(d m log m) per node of m (partial) rows. A row with missing values can be in many
//         nodes at once. One thread: the trees are for tables with few missing values.
// Source  Quinlan: C4.5 (1993), chapter 3; Russell, Norvig: AIMA, section "Broadening the
//         applicability of decision trees"; Fisher (1958), Breiman et al. (1984), 4.2.2 for levels.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/common/random.hpp"
#include "assay/tree/bins.hpp"
#include "assay/tree/nodes.hpp"

namespace assay::tree {

enum class FractionalCriterion : std::int32_t { gini, entropy, error, squared };

struct FractionalOptions {
    FractionalCriterion criterion = FractionalCriterion::gini;
    std::size_t n_outputs = 2;  // classes, or target columns
    std::int64_t max_depth = -1;
    double min_split = 2;  // sums of fractions
    double min_leaf = 1;
    double min_weight_leaf = 0;
    double min_decrease = 0;  // of impurity, weighted by the node's share of all weight
    std::size_t max_features = 1;
    std::size_t exhaustive_levels = 10;
    std::uint64_t seed = 0;
};

struct FractionalTree {
    Nodes nodes;  // values: one row per node
    std::vector<double> impurity;
    std::vector<std::int64_t> samples;  // rows that arrive at least in part
    std::vector<double> weight;
};

// Grows one tree. A classification target has one column, the class codes; a regression target
// has n_outputs columns.
template <class Code>
class FractionalGrower {
  public:
    FractionalGrower(const BinnedView<Code>& bins, MatrixView<const double> target,
                     std::span<const double> weight, const FractionalOptions& options)
        : bins_(bins),
          target_(target),
          weight_(weight),
          options_(options),
          regression_(options.criterion == FractionalCriterion::squared),
          width_(regression_ ? options.n_outputs + 1 : options.n_outputs) {
        const auto widest = bins.cols == 0 ? 0 : *std::ranges::max_element(bins.n_bins);
        cells_.assign(static_cast<std::size_t>(widest) * stride(), 0.0);
        seen_.assign(static_cast<std::size_t>(widest), 0);
    }

    [[nodiscard]] FractionalTree grow() {
        tree_.nodes.n_outputs = options_.n_outputs;
        centre();
        Task root{0, 0, 1, {}};
        for (std::size_t i = 0; i < bins_.rows; ++i) {
            root.rows.push_back({static_cast<std::int32_t>(i), 1.0});
        }
        add_node(root.rows);
        total_weight_ = tree_.weight[0];
        // Noise of sums must not decide between equal splits.
        noise_ = 1e-12 * tree_.impurity[0];
        std::vector<Task> tasks;
        tasks.push_back(std::move(root));
        while (!tasks.empty()) {
            Task task = std::move(tasks.back());
            tasks.pop_back();
            const Split split = best_split(task);
            if (!split.found) {
                continue;
            }
            auto [left, right] = divide(task, split);
            assert(!left.empty() && !right.empty());
            const std::int32_t child = store(task, split, left, right);
            const std::uint64_t key = task.key * 0x9E3779B97F4A7C15ULL;
            tasks.push_back({child + 1, task.depth + 1, key + 2, std::move(right)});
            tasks.push_back({child, task.depth + 1, key + 1, std::move(left)});
        }
        tree_.nodes.start = {0, static_cast<std::int64_t>(tree_.nodes.left.size())};
        return std::move(tree_);
    }

  private:
    struct Part {
        std::int32_t row;
        double fraction;
    };
    struct Task {
        std::int32_t node;
        std::int64_t depth;
        std::uint64_t key;  // of the node's path: random choices do not depend on growth order
        std::vector<Part> rows;
    };
    struct Split {
        bool found = false;
        double gain = 0;
        std::size_t feature = 0;
        bool nominal = false;
        double threshold = 0;
        double left_share = 0;
        std::vector<char> left_bins;  // by bin, up to the last one that goes left
    };
    // A cell holds the sums of one bin: class weights, or sums of w y for each output and of
    // w y^2; then the weight and the fractions.
    [[nodiscard]] std::size_t stride() const noexcept { return width_ + 2; }

    void centre() {
        mean_.assign(options_.n_outputs, 0.0);
        if (!regression_) {
            return;
        }
        double sum = 0;
        for (std::size_t i = 0; i < bins_.rows; ++i) {
            sum += weight_[i];
            for (std::size_t j = 0; j < options_.n_outputs; ++j) {
                mean_[j] += weight_[i] * target_.row(i)[j];
            }
        }
        for (double& mean : mean_) {
            mean /= sum;
        }
    }

    void add_row(double* cell, const Part& part) const noexcept {
        const auto i = static_cast<std::size_t>(part.row);
        const double w = part.fraction * weight_[i];
        if (regression_) {
            for (std::size_t j = 0; j < options_.n_outputs; ++j) {
                const double y = target_.row(i)[j] - mean_[j];
                cell[j] += w * y;
                cell[width_ - 1] += w * y * y;
            }
        } else {
            cell[static_cast<std::size_t>(target_.row(i)[0])] += w;
        }
        cell[width_] += w;
        cell[width_ + 1] += part.fraction;
    }

    [[nodiscard]] double impurity(const double* cell) const noexcept {
        const double w = cell[width_];
        if (!(w > 0)) {
            return 0;
        }
        double sum = 0;
        switch (options_.criterion) {
            case FractionalCriterion::gini:
                for (std::size_t k = 0; k < width_; ++k) {
                    sum += cell[k] / w * (cell[k] / w);
                }
                return std::max(0.0, 1 - sum);
            case FractionalCriterion::entropy:
                for (std::size_t k = 0; k < width_; ++k) {
                    const double p = cell[k] / w;
                    sum -= p > 0 ? p * std::log2(p) : 0.0;
                }
                return std::max(0.0, sum);
            case FractionalCriterion::error:
                return std::max(0.0, 1 - *std::max_element(cell, cell + width_) / w);
            default:
                for (std::size_t j = 0; j + 1 < width_; ++j) {
                    sum += cell[j] / w * (cell[j] / w);
                }
                return std::max(
                    0.0, (cell[width_ - 1] / w - sum) / static_cast<double>(options_.n_outputs));
        }
    }

    void add_node(const std::vector<Part>& rows) {
        std::vector<double> cell(stride(), 0.0);
        for (const Part& part : rows) {
            add_row(cell.data(), part);
        }
        assert(!rows.empty() && cell[width_] > 0);
        auto& nodes = tree_.nodes;
        nodes.slot.push_back(static_cast<std::int32_t>(nodes.left.size()));
        nodes.left.push_back(0);
        nodes.feature.push_back(-1);
        nodes.threshold.push_back(0.0);
        nodes.missing_left.push_back(1);
        for (std::size_t j = 0; j < options_.n_outputs; ++j) {
            nodes.value.push_back(cell[j] / cell[width_] + mean_[j]);
        }
        tree_.impurity.push_back(impurity(cell.data()));
        tree_.samples.push_back(static_cast<std::int64_t>(rows.size()));
        tree_.weight.push_back(cell[width_]);
        fractions_.push_back(cell[width_ + 1]);
    }

    [[nodiscard]] Split best_split(const Task& task) {
        const auto node = static_cast<std::size_t>(task.node);
        Split best;
        if (task.depth == options_.max_depth || fractions_[node] < options_.min_split - 1e-9 ||
            fractions_[node] < 2 * options_.min_leaf - 1e-9 ||
            tree_.impurity[node] <= 1e-14 * tree_.impurity[0]) {
            return best;
        }
        std::vector<std::size_t> columns(bins_.cols);
        std::iota(columns.begin(), columns.end(), std::size_t{0});
        if (options_.max_features < bins_.cols) {
            RandomStream(options_.seed, task.key).shuffle(std::span(columns));
        }
        for (std::size_t visited = 0; visited < columns.size(); ++visited) {
            if (visited >= options_.max_features && best.found) {
                break;  // as CART: look on until one column can be split
            }
            try_column(columns[visited], task.rows, node, best);
        }
        const double decrease = best.gain * tree_.weight[node] / total_weight_;
        best.found = best.found && decrease >= options_.min_decrease - 1e-15;
        return best;
    }

    void try_column(std::size_t f, const std::vector<Part>& rows, std::size_t node, Split& best) {
        const auto codes = bins_.column(f);
        const auto missing = static_cast<std::size_t>(bins_.n_bins[f]);
        // As the column before left them.
        assert(std::ranges::all_of(seen_, [](char seen) { return seen == 0; }));
        assert(std::ranges::all_of(cells_, [](double sum) { return sum == 0; }));
        present_.clear();
        known_.assign(stride(), 0.0);
        for (const Part& part : rows) {
            const std::size_t bin = codes[static_cast<std::size_t>(part.row)];
            if (bin >= missing) {
                continue;
            }
            if (seen_[bin] == 0) {
                seen_[bin] = 1;
                present_.push_back(bin);
            }
            add_row(&cells_[bin * stride()], part);
        }
        std::ranges::sort(present_);
        for (const std::size_t bin : present_) {
            add(known_.data(), cell(bin));
        }
        if (present_.size() >= 2) {
            Scan scan{f, node, impurity(known_.data())};
            if (bins_.nominal[f] == 0) {
                try_prefixes(scan, present_, best);
            } else {
                try_levels(scan, best);
            }
        }
        for (const std::size_t bin : present_) {
            seen_[bin] = 0;
            std::fill_n(&cells_[bin * stride()], stride(), 0.0);
        }
    }

    struct Scan {
        std::size_t feature;
        std::size_t node;
        double known_impurity;
    };

    [[nodiscard]] const double* cell(std::size_t bin) const noexcept {
        return &cells_[bin * stride()];
    }
    void add(double* sum, const double* cell) const noexcept {
        for (std::size_t k = 0; k < stride(); ++k) {
            sum[k] += cell[k];
        }
    }

    // Every prefix of an order of bins as the left side.
    void try_prefixes(const Scan& scan, const std::vector<std::size_t>& order, Split& best) {
        left_.assign(stride(), 0.0);
        for (std::size_t k = 0; k + 1 < order.size(); ++k) {
            add(left_.data(), cell(order[k]));
            if (!better(scan, best)) {
                continue;
            }
            if (bins_.nominal[scan.feature] == 0) {
                best.threshold = bins_.threshold(scan.feature, static_cast<std::int32_t>(order[k]),
                                                 static_cast<std::int32_t>(order[k + 1]));
            } else {
                best.left_bins.assign(seen_.size(), 0);
                for (std::size_t j = 0; j <= k; ++j) {
                    best.left_bins[order[j]] = 1;
                }
            }
        }
    }

    void try_levels(const Scan& scan, Split& best) {
        const std::size_t keys =
            regression_ ? options_.n_outputs : (width_ == 2 ? 1 : options_.n_outputs);
        if (keys > 1 && present_.size() <= options_.exhaustive_levels) {
            try_bipartitions(scan, best);
            return;
        }
        for (std::size_t j = 0; j < keys; ++j) {
            const std::size_t key = width_ == 2 && !regression_ ? 1 : j;
            std::vector<std::size_t> order = present_;
            std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
                return cell(a)[key] / cell(a)[width_] < cell(b)[key] / cell(b)[width_];
            });
            try_prefixes(scan, order, best);
        }
    }

    // The first level stays left, so each bipartition is seen once.
    void try_bipartitions(const Scan& scan, Split& best) {
        const std::size_t free = present_.size() - 1;
        for (std::size_t mask = 0; mask + 1 < std::size_t{1} << free; ++mask) {
            left_.assign(stride(), 0.0);
            add(left_.data(), cell(present_[0]));
            for (std::size_t j = 0; j < free; ++j) {
                if ((mask >> j & 1U) != 0) {
                    add(left_.data(), cell(present_[j + 1]));
                }
            }
            if (better(scan, best)) {
                best.left_bins.assign(seen_.size(), 0);
                best.left_bins[present_[0]] = 1;
                for (std::size_t j = 0; j < free; ++j) {
                    best.left_bins[present_[j + 1]] = static_cast<char>(mask >> j & 1U);
                }
            }
        }
    }

    // Whether the split with sums left_ is allowed and beats the best; if so it becomes the best.
    [[nodiscard]] bool better(const Scan& scan, Split& best) {
        right_.resize(stride());
        for (std::size_t k = 0; k < stride(); ++k) {
            right_[k] = known_[k] - left_[k];
        }
        const double known = known_[width_];
        const double share = left_[width_] / known;
        const double lost = fractions_[scan.node] - known_[width_ + 1];
        const double weight = tree_.weight[scan.node];
        if (left_[width_ + 1] + lost * share < options_.min_leaf - 1e-9 ||
            right_[width_ + 1] + lost * (1 - share) < options_.min_leaf - 1e-9 ||
            std::min(share, 1 - share) * weight < options_.min_weight_leaf - 1e-12 * weight ||
            !(share > 0) || !(share < 1)) {
            return false;
        }
        const double gain = known / weight *
                            (scan.known_impurity - share * impurity(left_.data()) -
                             (1 - share) * impurity(right_.data()));
        const bool wins = !best.found || gain > best.gain + noise_ ||
                          (gain > best.gain - noise_ && scan.feature < best.feature);
        if (wins) {
            best.found = true;
            best.gain = gain;
            best.feature = scan.feature;
            best.nominal = bins_.nominal[scan.feature] != 0;
            best.left_share = share;
        }
        return wins;
    }

    // Where a known bin goes. Bins without a row in the node are never asked for here.
    [[nodiscard]] bool goes_left(const Split& split, std::size_t bin) const noexcept {
        if (split.nominal) {
            return split.left_bins[bin] != 0;
        }
        const auto first = static_cast<std::size_t>(bins_.bin_start[split.feature]);
        return bins_.upper[first + bin] <= split.threshold;
    }

    [[nodiscard]] std::pair<std::vector<Part>, std::vector<Part>> divide(const Task& task,
                                                                         const Split& split) {
        std::pair<std::vector<Part>, std::vector<Part>> sides;
        const auto codes = bins_.column(split.feature);
        const auto missing = static_cast<std::size_t>(bins_.n_bins[split.feature]);
        for (const Part& part : task.rows) {
            const std::size_t bin = codes[static_cast<std::size_t>(part.row)];
            if (bin >= missing) {
                sides.first.push_back({part.row, part.fraction * split.left_share});
                sides.second.push_back({part.row, part.fraction * (1 - split.left_share)});
            } else {
                (goes_left(split, bin) ? sides.first : sides.second).push_back(part);
            }
        }
        return sides;
    }

    std::int32_t store(const Task& task, const Split& split, const std::vector<Part>& left,
                       const std::vector<Part>& right) {
        auto& nodes = tree_.nodes;
        const auto node = static_cast<std::size_t>(task.node);
        const auto child = static_cast<std::int32_t>(nodes.left.size());
        add_node(left);
        add_node(right);
        const auto first = static_cast<std::size_t>(child);
        nodes.left[node] = child;
        nodes.feature[node] = static_cast<std::int32_t>(split.feature);
        nodes.missing_left[node] = tree_.weight[first] >= tree_.weight[first + 1] ? 1 : 0;
        nodes.slot[node] = -1;
        if (split.nominal) {
            nodes.slot[node] = store_levels(task, split, nodes.missing_left[node] != 0);
        } else {
            nodes.threshold[node] = split.threshold;
        }
        return child;
    }

    std::int32_t store_levels(const Task& task, const Split& split, bool absent_left) {
        std::vector<char> in_node(seen_.size() + 1, 0);
        const auto codes = bins_.column(split.feature);
        for (const Part& part : task.rows) {
            in_node[std::min<std::size_t>(codes[static_cast<std::size_t>(part.row)],
                                          seen_.size())] = 1;
        }
        auto& words = tree_.nodes.words;
        const auto slot = static_cast<std::int32_t>(words.size());
        const auto first = static_cast<std::size_t>(bins_.level_start[split.feature]);
        const auto last = static_cast<std::size_t>(bins_.level_start[split.feature + 1]);
        words.resize(words.size() + (last - first + 31) / 32, 0U);
        for (std::size_t level = 0; level < last - first; ++level) {
            const auto bin = static_cast<std::size_t>(bins_.level_bin[first + level]);
            const bool is_left = in_node[bin] != 0 ? split.left_bins[bin] != 0 : absent_left;
            if (is_left) {
                words[static_cast<std::size_t>(slot) + level / 32] |= 1U << (level % 32);
            }
        }
        return slot;
    }

    BinnedView<Code> bins_;
    MatrixView<const double> target_;
    std::span<const double> weight_;
    FractionalOptions options_;
    bool regression_;
    std::size_t width_;
    FractionalTree tree_;
    std::vector<double> fractions_;  // per node
    std::vector<double> mean_;       // regression targets are centred: no loss in w y^2 - (w y)^2
    double total_weight_ = 0;
    double noise_ = 0;
    std::vector<double> cells_;
    std::vector<char> seen_;
    std::vector<std::size_t> present_;
    std::vector<double> known_;
    std::vector<double> left_;
    std::vector<double> right_;
};

// Writes the mean of the leaves that each row reaches, by their shares. `weight` is per node and
// there is one tree; a leaf's value row is its slot.
template <class T>
void predict_fractional(const NodesView& tree, std::span<const double> weight,
                        MatrixView<const T> X, MatrixView<double> out, int n_threads) {
    parallel_chunks(X.rows, 512, n_threads, [&](Range range) {
        std::vector<std::pair<std::size_t, double>> open;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const auto row = X.row(i);
            const auto answer = out.row(i);
            std::ranges::fill(answer, 0.0);
            open.assign(1, {0, 1.0});
            while (!open.empty()) {
                const auto [node, share] = open.back();
                open.pop_back();
                if (tree.left[node] == 0) {
                    const auto* value = tree.value.data() +
                                        static_cast<std::size_t>(tree.slot[node]) * tree.n_outputs;
                    for (std::size_t j = 0; j < tree.n_outputs; ++j) {
                        answer[j] += share * value[j];
                    }
                    continue;
                }
                const auto child = static_cast<std::size_t>(tree.left[node]);
                const auto feature = static_cast<std::size_t>(tree.feature[node]);
                const T x = row[feature];
                const bool unknown =
                    std::isnan(x) || (tree.slot[node] >= 0 &&
                                      (!(x >= 0) || x >= static_cast<T>(tree.n_levels[feature])));
                if (unknown) {
                    const double left = weight[child] / (weight[child] + weight[child + 1]);
                    open.emplace_back(child + 1, share * (1 - left));
                    open.emplace_back(child, share * left);
                } else {
                    open.emplace_back(tree.goes_left(node, x) ? child : child + 1, share);
                }
            }
        }
    });
}

}  // namespace assay::tree

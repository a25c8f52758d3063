// Gradient boosting: trees fitted one after the other to the gradient of a loss.
//
//     F_0 = start,   F_r = F_{r-1} + rate * T_r,    T_r grown on gradient and curvature at F_{r-1}
//
// One tree per round, or one per class (softmax). The value of a leaf is the Newton step
// -S(G) / (H + lambda); for the absolute, quantile and Huber loss the value that minimises
// the loss over the rows of the leaf.
//
// Needs   8-bit bins of the training rows; weights positive; targets that suit the loss.
// Cost    O(rounds classes (n d depth + leaves bins d)); 16 bytes per row and class, 12 per
//         row and thread, beside the table.
// Source  Friedman (2001); Chen, Guestrin: XGBoost (KDD 2016); Ke et al.: LightGBM (2017).
//         Random choices are keyed by (seed, round), so a shorter run is a prefix of a longer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/random.hpp"
#include "assay/tree/bins.hpp"
#include "assay/tree/boost_grow.hpp"
#include "assay/tree/boost_leaves.hpp"
#include "assay/tree/boost_loss.hpp"
#include "assay/tree/boost_team.hpp"
#include "assay/tree/nodes.hpp"

namespace assay::tree {

struct BoostOptions {
    Loss loss = Loss::squared;
    double param = 0;  // quantile, or the share of residuals that Huber calls small
    std::size_t n_classes = 1;
    std::size_t n_rounds = 100;
    double rate = 0.1;
    std::size_t n_rows = 0;    // drawn per round, 0: all
    std::size_t n_cols = 0;    // drawn per tree, 0: all
    std::size_t patience = 0;  // rounds without progress before the end; 0: never
    double tol = 0;
    std::uint64_t seed = 0;
    int n_threads = 1;
    BoostTreeOptions tree;
};

struct BoostTarget {
    std::span<const double> target;
    std::span<const double> weight;  // empty: all 1
};

// Rows that are predicted but not learned from.
struct BoostWatch {
    MatrixView<const double> X;
    BoostTarget rows;
};

struct BoostResult {
    Nodes nodes;                     // round-major: tree r * n_classes + k
    std::vector<double> train_loss;  // mean per unit of weight, before round 0 and after each
    std::vector<double> watch_loss;
    std::vector<double> gain;  // per column
    std::size_t n_rounds = 0;
    bool overflow = false;  // the loss is no longer finite: the run ended there
};

class BoostRun {
  public:
    // The table must outlive the run.
    BoostRun(const BoostTable& table, const BoostTarget& train, const BoostWatch& watch,
             std::span<const double> start, std::span<const std::int32_t> n_levels,
             const BoostOptions& options)
        : table_(table),
          train_(train),
          watch_(watch),
          n_levels_(n_levels),
          options_(options),
          n_(table.rows()),
          n_classes_(options.n_classes),
          score_(n_ * n_classes_),
          word_(n_ * n_classes_),
          watch_score_(watch.X.rows * n_classes_),
          units_(n_classes_),
          sums_(n_classes_),
          residuals_of_(static_cast<std::size_t>(options.n_threads)) {
        if (n_ * n_classes_ <= exact_rows) {
            gradient_ = AlignedBuffer<double>(n_ * n_classes_);
            hessian_ = AlignedBuffer<double>(n_ * n_classes_);
        }
        for (std::size_t k = 0; k < n_classes_; ++k) {
            std::fill_n(score_.data() + k * n_, n_, start[k]);
            std::fill_n(watch_score_.data() + k * watch.X.rows, watch.X.rows, start[k]);
        }
        // Several trees at a time where there are enough; else several threads for each tree.
        const auto threads = static_cast<std::size_t>(options.n_threads);
        by_class_ = threads > 1 && n_classes_ >= 2 * threads;
        for (std::size_t t = 0; t < (by_class_ ? threads : 1); ++t) {
            growers_.push_back(std::make_unique<BoostGrower>(table_, options.tree,
                                                             by_class_ ? 1 : options.n_threads));
        }
        result_.gain.assign(table.bins().cols, 0);
        total_weight_ = weight_of(train_, n_);
        watch_weight_ = weight_of(watch_.rows, watch.X.rows);
    }

    // after_round(round, train loss, watched loss) returns whether to go on.
    template <class AfterRound>
    BoostResult run(const AfterRound& after_round) {
        Team::run(options_.n_threads, [&](Team& team) {
            first_units(team);
            gradients(team, true);
            record(team);
            for (std::size_t round = 0; round < options_.n_rounds; ++round) {
                draw(round);
                grow(team);
                gradients(team, round + 1 < options_.n_rounds);
                record(team);
                result_.n_rounds = round + 1;
                if (!std::isfinite(result_.train_loss.back())) {
                    result_.overflow = true;
                    break;
                }
                if (!after_round(round, result_.train_loss.back(),
                                 result_.watch_loss.empty() ? 0.0 : result_.watch_loss.back()) ||
                    has_stalled()) {
                    break;
                }
            }
        });
        return std::move(result_);
    }

  private:
    static constexpr std::size_t chunk_rows = 4096;
    // Up to this many rows leaf values come from float64 sums, beyond from the words.
    static constexpr std::size_t exact_rows = std::size_t{1} << 18;

    struct Tree {
        std::vector<BoostNode> nodes;
        std::vector<double> value;
    };

    static double weight_of(const BoostTarget& rows, std::size_t n) {
        double sum = 0;
        for (const double w : rows.weight) {
            sum += w;
        }
        return rows.weight.empty() ? static_cast<double>(n) : sum;
    }

    [[nodiscard]] GradientRows gradient_rows(bool with_words) const noexcept {
        GradientRows rows;
        rows.loss = options_.loss;
        rows.param = options_.loss == Loss::huber ? delta_ : options_.param;
        rows.target = train_.target.data();
        rows.weight = train_.weight.empty() ? nullptr : train_.weight.data();
        rows.score = score_.data();
        rows.rows = n_;
        rows.n_classes = n_classes_;
        if (with_words) {
            rows.word = const_cast<std::int64_t*>(word_.data());
            rows.gradient = const_cast<double*>(gradient_.data());
            rows.hessian = const_cast<double*>(hessian_.data());
        }
        return rows;
    }

    // Adds up gradient, curvature and loss over all rows, in a fixed order.
    void pass(Team& team, const GradientRows& rows) {
        const std::size_t chunks = chunk_count(n_, chunk_rows);
        part_.assign(chunks * n_classes_, {});
        scratch_.resize(static_cast<std::size_t>(team.n_threads()) * 8 * n_classes_);
        team.each(chunks, [&](std::size_t c, int thread) {
            const std::size_t begin = c * chunk_rows;
            const std::size_t end = std::min(n_, begin + chunk_rows);
            dispatch([&](auto level) {
                using Kernel = BoostLoss<decltype(level)>;
                if (options_.loss == Loss::softmax) {
                    Kernel::softmax(
                        rows, units_.data(), begin, end, part_.data() + c * n_classes_,
                        scratch_.data() + static_cast<std::size_t>(thread) * 8 * n_classes_);
                } else {
                    Kernel::run(rows, units_[0], begin, end, part_[c]);
                }
            });
        });
        sums_.assign(n_classes_, {});
        for (std::size_t c = 0; c < chunks; ++c) {
            for (std::size_t k = 0; k < n_classes_; ++k) {
                const GradientSums& part = part_[c * n_classes_ + k];
                sums_[k].abs_gradient += part.abs_gradient;
                sums_[k].hessian += part.hessian;
                sums_[k].loss += part.loss;
            }
        }
    }

    void first_units(Team& team) {
        for (GradientUnits& units : units_) {
            units.unit_hessian = has_unit_hessian(options_.loss) && train_.weight.empty();
            units.shift = 32;
            if (units.unit_hessian) {
                units.shift = 1;
                while (std::size_t{1} << units.shift <= n_ + 1) {
                    ++units.shift;
                }
            }
        }
        update_delta();
        pass(team, gradient_rows(false));
        next_units_ = units_for_sums();
    }

    [[nodiscard]] std::vector<GradientUnits> units_for_sums() const {
        std::vector<GradientUnits> wanted = units_;
        for (std::size_t k = 0; k < n_classes_; ++k) {
            GradientUnits& units = wanted[k];
            // A little room, so that the sums of the next round mostly fit as well.
            units.g_scale = power_scale(sums_[k].abs_gradient * 1.1, units.g_room(n_));
            units.h_scale =
                units.unit_hessian ? 1 : power_scale(sums_[k].hessian * 1.1, units.h_room(n_));
        }
        return wanted;
    }

    [[nodiscard]] bool fits() const noexcept {
        for (std::size_t k = 0; k < n_classes_; ++k) {
            const GradientUnits& units = units_[k];
            if (!(sums_[k].abs_gradient * units.g_scale <= units.g_room(n_)) ||
                !(units.unit_hessian || sums_[k].hessian * units.h_scale <= units.h_room(n_))) {
                return false;
            }
        }
        return true;
    }

    // Units come from the sums of the round before; should they not do, the pass is repeated.
    void gradients(Team& team, bool with_words) {
        update_delta();
        units_ = next_units_;
        pass(team, gradient_rows(with_words));
        if (with_words && !fits()) {
            units_ = units_for_sums();
            pass(team, gradient_rows(true));
        }
        next_units_ = units_for_sums();
    }

    void update_delta() {
        if (options_.loss != Loss::huber) {
            return;
        }
        residuals_.clear();
        for (std::size_t i = 0; i < n_; ++i) {
            residuals_.emplace_back(std::abs(train_.target[i] - score_[i]), weight(i));
        }
        delta_ = residual_quantile(residuals_, options_.param, !train_.weight.empty());
    }

    [[nodiscard]] double weight(std::size_t i) const noexcept {
        return train_.weight.empty() ? 1.0 : train_.weight[i];
    }

    void record(Team& team) {
        result_.train_loss.push_back(sums_[0].loss / total_weight_);
        if (watch_.X.rows == 0) {
            return;
        }
        GradientRows rows = gradient_rows(false);
        rows.target = watch_.rows.target.data();
        rows.weight = watch_.rows.weight.empty() ? nullptr : watch_.rows.weight.data();
        rows.score = watch_score_.data();
        rows.rows = watch_.X.rows;
        std::vector<GradientSums> sums(n_classes_);
        scratch_.resize(static_cast<std::size_t>(team.n_threads()) * 8 * n_classes_);
        dispatch([&](auto level) {
            using Kernel = BoostLoss<decltype(level)>;
            if (options_.loss == Loss::softmax) {
                Kernel::softmax(rows, units_.data(), 0, rows.rows, sums.data(), scratch_.data());
            } else {
                Kernel::run(rows, units_[0], 0, rows.rows, sums[0]);
            }
        });
        result_.watch_loss.push_back(sums[0].loss / watch_weight_);
    }

    [[nodiscard]] bool has_stalled() const {
        const std::vector<double>& loss =
            watch_.X.rows == 0 ? result_.train_loss : result_.watch_loss;
        const std::size_t patience = options_.patience;
        if (patience == 0 || loss.size() < patience + 1) {
            return false;
        }
        const double reference = loss[loss.size() - 1 - patience] - options_.tol;
        return std::none_of(loss.end() - static_cast<std::ptrdiff_t>(patience), loss.end(),
                            [&](double value) { return value < reference; });
    }

    // The rows and columns of a round, keyed by its number.
    void draw(std::size_t round) {
        if (options_.n_rows != 0 && options_.n_rows < n_) {
            RandomStream random(options_.seed, std::uint64_t{round} << 1);
            sample_.clear();
            std::size_t wanted = options_.n_rows;
            for (std::size_t i = 0; i < n_ && wanted > 0; ++i) {
                if (random.below(std::uint64_t{n_ - i}) < wanted) {
                    sample_.push_back(static_cast<std::int32_t>(i));
                    --wanted;
                }
            }
        }
        if (options_.n_cols != 0 && options_.n_cols < result_.gain.size()) {
            const std::size_t d = result_.gain.size();
            RandomStream random(options_.seed, std::uint64_t{round} << 1 | 1);
            allowed_.assign(n_classes_ * d, 0);
            std::vector<std::size_t> order(d);
            for (std::size_t k = 0; k < n_classes_; ++k) {
                std::iota(order.begin(), order.end(), std::size_t{0});
                random.shuffle(std::span<std::size_t>(order));
                for (std::size_t c = 0; c < options_.n_cols; ++c) {
                    allowed_[k * d + order[c]] = 1;
                }
            }
        }
    }

    [[nodiscard]] std::span<const std::uint8_t> allowed(std::size_t k) const noexcept {
        const std::size_t d = result_.gain.size();
        return allowed_.empty() ? std::span<const std::uint8_t>()
                                : std::span<const std::uint8_t>(allowed_).subspan(k * d, d);
    }

    void grow(Team& team) {
        std::vector<Tree> trees(n_classes_);
        if (by_class_) {
            std::vector<std::exception_ptr> failure(n_classes_);
            team.each(n_classes_, [&](std::size_t k, int thread) {
                try {
                    Team alone(1);
                    grow_class(alone, *growers_[static_cast<std::size_t>(thread)], k, trees[k]);
                } catch (...) {
                    failure[k] = std::current_exception();
                }
            });
            for (const auto& each : failure) {
                if (each) {
                    std::rethrow_exception(each);
                }
            }
        } else {
            for (std::size_t k = 0; k < n_classes_; ++k) {
                grow_class(team, *growers_[0], k, trees[k]);
            }
        }
        for (std::size_t k = 0; k < n_classes_; ++k) {
            append(trees[k], k);
        }
    }

    void grow_class(Team& team, BoostGrower& grower, std::size_t k, Tree& tree) {
        grower.grow(team, word_.data() + k * n_, units_[k], sample_, allowed(k));
        tree.nodes.assign(grower.nodes().begin(), grower.nodes().end());
        tree.value.assign(tree.nodes.size(), 0);
        std::vector<std::size_t> leaves;
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            if (tree.nodes[i].left == 0) {
                leaves.push_back(i);
            }
        }
        team.each(leaves.size(), [&](std::size_t leaf, int thread) {
            const std::size_t i = leaves[leaf];
            tree.value[i] = options_.rate * leaf_value(grower, tree.nodes[i], k, thread);
        });
        add_scores(team, grower, leaves, tree, score_.data() + k * n_);
        if (!sample_.empty()) {
            add_left_out(team, tree, score_.data() + k * n_);
        }
    }

    [[nodiscard]] double leaf_value(const BoostGrower& grower, const BoostNode& node, std::size_t k,
                                    int thread) {
        const SplitRules& rules = grower.rules();
        const std::int32_t* rows = grower.rows();
        const double to_real = rules.units.h_scale / rules.units.g_scale;
        const double low = node.sums.low * to_real;
        const double high = node.sums.high * to_real;
        const bool by_rows = options_.loss == Loss::absolute || options_.loss == Loss::huber ||
                             options_.loss == Loss::quantile;
        if (by_rows) {
            Residuals& residuals = residuals_of_[static_cast<std::size_t>(thread)];
            residuals.clear();
            for (std::size_t i = node.begin; i < node.end; ++i) {
                const auto r = static_cast<std::size_t>(rows[i]);
                residuals.emplace_back(train_.target[r] - score_[r], weight(r));
            }
            const bool weighted = !train_.weight.empty();
            const double best =
                options_.loss == Loss::huber
                    ? huber_center(residuals, delta_, weighted)
                    : residual_quantile(residuals,
                                        options_.loss == Loss::absolute ? 0.5 : options_.param,
                                        weighted);
            return std::min(std::max(best, low), high);
        }
        if (gradient_.size() == 0) {
            return rules.value(node.sums.total, node.sums.low, node.sums.high) * to_real;
        }
        double g = 0;
        double h = 0;
        for (std::size_t i = node.begin; i < node.end; ++i) {
            const auto r = k * n_ + static_cast<std::size_t>(rows[i]);
            g += gradient_[r];
            h += hessian_[r];
        }
        h += options_.tree.l2;
        const double size = std::max(std::abs(g) - options_.tree.l1, 0.0);
        const double best = h > 0 ? (g < 0 ? size / h : -size / h) : 0.0;
        return std::min(std::max(best, low), high);
    }

    // Rows know their leaf from their place: no tree is walked.
    void add_scores(Team& team, const BoostGrower& grower, const std::vector<std::size_t>& leaves,
                    const Tree& tree, double* score) {
        std::vector<std::size_t> order = leaves;
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return tree.nodes[a].begin < tree.nodes[b].begin;
        });
        const std::size_t n = tree.nodes[0].end;
        team.each(chunk_count(n, 2 * chunk_rows), [&](std::size_t c, int) {
            std::size_t at = c * 2 * chunk_rows;
            const std::size_t end = std::min(n, at + 2 * chunk_rows);
            auto leaf = std::upper_bound(
                order.begin(), order.end(), at,
                [&](std::size_t place, std::size_t i) { return place < tree.nodes[i].end; });
            for (; at < end; ++leaf) {
                const std::size_t stop = std::min(end, tree.nodes[*leaf].end);
                const double value = tree.value[*leaf];
                for (; at < stop; ++at) {
                    score[grower.rows()[at]] += value;
                }
            }
        });
    }

    // Rows that were not drawn go down the tree by their codes.
    void add_left_out(Team& team, const Tree& tree, double* score) {
        std::vector<std::array<std::uint32_t, 8>> sets(tree.nodes.size());
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            if (tree.nodes[i].left != 0) {
                sets[i] = BoostGrower::left_bytes(tree.nodes[i].split, table_);
            }
        }
        team.each(chunk_count(n_, chunk_rows), [&](std::size_t c, int) {
            const std::size_t begin = c * chunk_rows;
            const std::size_t end = std::min(n_, begin + chunk_rows);
            auto drawn =
                std::lower_bound(sample_.begin(), sample_.end(), static_cast<std::int32_t>(begin));
            for (std::size_t row = begin; row < end; ++row) {
                if (drawn != sample_.end() && static_cast<std::size_t>(*drawn) == row) {
                    ++drawn;
                    continue;
                }
                std::size_t i = 0;
                while (tree.nodes[i].left != 0) {
                    const auto f = static_cast<std::size_t>(tree.nodes[i].split.column);
                    const std::size_t byte = table_.bytes(f)[row];
                    const bool left = (sets[i][byte / 32] >> (byte % 32) & 1U) != 0;
                    i = static_cast<std::size_t>(tree.nodes[i].left) + (left ? 0 : 1);
                }
                score[row] += tree.value[i];
            }
        });
    }

    // Writes the tree in real thresholds and level sets; adds it to the watched rows' scores.
    void append(const Tree& tree, std::size_t k) {
        Nodes& out = result_.nodes;
        const BinnedView<std::uint8_t>& bins = table_.bins();
        const double to_real = units_[k].h_scale / (units_[k].g_scale * units_[k].g_scale);
        const std::size_t first = out.left.size();
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const BoostNode& node = tree.nodes[i];
            const BoostSplit& split = node.split;
            const bool leaf = node.left == 0;
            double threshold = 0;
            std::int32_t slot = -1;
            if (leaf) {
                slot = static_cast<std::int32_t>(out.value.size());
                out.value.push_back(tree.value[i]);
            } else {
                const auto f = static_cast<std::size_t>(split.column);
                result_.gain[f] += split.gain * to_real;
                if (split.nominal) {
                    slot = static_cast<std::int32_t>(out.words.size());
                    append_levels(split, f);
                } else {
                    // With every value on the left only missing ones go right.
                    threshold = split.bin + 1 < bins.n_bins[f]
                                    ? bins.threshold(f, split.bin, split.bin + 1)
                                    : std::numeric_limits<double>::max();
                }
            }
            out.left.push_back(node.left);
            out.feature.push_back(leaf ? -1 : split.column);
            out.threshold.push_back(threshold);
            out.missing_left.push_back(leaf ? 0 : split.missing_left);
            out.slot.push_back(slot);
        }
        out.start.push_back(static_cast<std::int64_t>(out.left.size()));
        watch(first, watch_score_.data() + k * watch_.X.rows);
    }

    void append_levels(const BoostSplit& split, std::size_t f) {
        const BinnedView<std::uint8_t>& bins = table_.bins();
        std::vector<std::uint32_t>& words = result_.nodes.words;
        const auto first = static_cast<std::size_t>(bins.level_start[f]);
        const auto count = static_cast<std::size_t>(bins.level_start[f + 1]) - first;
        const std::size_t at = words.size();
        words.resize(at + (count + 31) / 32, 0);
        for (std::size_t level = 0; level < count; ++level) {
            const auto bin = static_cast<std::size_t>(bins.level_bin[first + level]);
            if ((split.bins[bin / 32] >> (bin % 32) & 1U) != 0) {
                words[at + level / 32] |= 1U << (level % 32);
            }
        }
    }

    void watch(std::size_t first, double* score) {
        const Nodes& nodes = result_.nodes;
        const NodesView view{nodes.start,        nodes.left, nodes.feature, nodes.threshold,
                             nodes.missing_left, nodes.slot, nodes.words,   n_levels_,
                             nodes.value,        1};
        for (std::size_t row = 0; row < watch_.X.rows; ++row) {
            const auto x = watch_.X.row(row);
            std::size_t i = first;
            while (view.left[i] != 0) {
                const bool left = view.goes_left(i, x[static_cast<std::size_t>(view.feature[i])]);
                i = first + static_cast<std::size_t>(view.left[i]) + (left ? 0 : 1);
            }
            score[row] += view.value[static_cast<std::size_t>(view.slot[i])];
        }
    }

    const BoostTable& table_;
    BoostTarget train_;
    BoostWatch watch_;
    std::span<const std::int32_t> n_levels_;
    BoostOptions options_;
    std::size_t n_;
    std::size_t n_classes_;
    AlignedBuffer<double> score_;  // class-major
    AlignedBuffer<std::int64_t> word_;
    AlignedBuffer<double> gradient_;  // exact ones, for few rows
    AlignedBuffer<double> hessian_;
    AlignedBuffer<double> watch_score_;
    std::vector<GradientUnits> units_;
    std::vector<GradientUnits> next_units_;
    std::vector<GradientSums> sums_;
    std::vector<GradientSums> part_;
    std::vector<double> scratch_;
    std::vector<std::unique_ptr<BoostGrower>> growers_;
    std::vector<Residuals> residuals_of_;  // per thread
    Residuals residuals_;
    std::vector<std::int32_t> sample_;
    std::vector<std::uint8_t> allowed_;
    BoostResult result_;
    double delta_ = 0;
    double total_weight_ = 0;
    double watch_weight_ = 0;
    bool by_class_ = false;
};

}  // namespace assay::tree

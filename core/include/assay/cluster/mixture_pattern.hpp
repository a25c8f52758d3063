// A Gaussian mixture seen through some of its columns, and sums over such rows for all columns.
//
// Rows that miss values are grouped by what they have (o) and what they lack (m). The marginal of a
// Gaussian is the Gaussian of the columns o, so the E step needs a factor per pattern. The M step
// needs expectations of what is missing: with z = x_o - mean_o, B and C of gaussian_factor.hpp,
//
//     sum r E[z]   = (sum r z,  B sum r z)
//     sum r E[zz'] = [I; B] (sum r z z') [I; B]'  +  (sum r) C in the block of m
//
// which are sums of the pattern's own moments: exact EM, without a filled copy of any row. A
// mixture with diagonal covariances has B = 0 and C = the variances.
//
// Needs   covariances positive definite; `observed` empty (all columns) or one entry per column.
// Cost    per pattern and component about d^3; nothing for complete rows.
// Source  Ghahramani and Jordan, Supervised learning from incomplete data via an EM approach, 1994.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <stdexcept>
#include <vector>

#include "assay/cluster/gaussian_factor.hpp"
#include "assay/cluster/mixture_panel.hpp"

namespace assay::cluster {

// The parameters: `covariance` and `factor` are d x d (dense) or d numbers per component, `stride`
// apart; stride 0: all components share them. A component of weight 0 has log weight -infinity.
struct Mixture {
    bool dense = true;
    std::size_t k = 0;
    std::size_t d = 0;
    const double* log_weights = nullptr;
    const double* means = nullptr;
    const double* covariance = nullptr;
    const double* factor = nullptr;
    std::size_t stride = 0;
};

// Sums of responsibilities and of moments about the means: k, k x d, and k x d x d (dense, lower
// triangle) or k x d.
struct MixtureSums {
    bool dense;
    std::size_t k;
    std::size_t d;
    double log_likelihood = 0;
    std::vector<double> count;
    std::vector<double> first;
    std::vector<double> second;

    MixtureSums(bool is_dense, std::size_t n_components, std::size_t n_columns)
        : dense(is_dense),
          k(n_components),
          d(n_columns),
          count(k),
          first(k * d),
          second(k * d * (dense ? d : 1)) {}

    void add(const MixtureSums& other) noexcept {
        log_likelihood += other.log_likelihood;
        for (std::size_t i = 0; i < count.size(); ++i) {
            count[i] += other.count[i];
        }
        for (std::size_t i = 0; i < first.size(); ++i) {
            first[i] += other.first[i];
        }
        for (std::size_t i = 0; i < second.size(); ++i) {
            second[i] += other.second[i];
        }
    }
};

// The same sums for one pattern, in lanes (mixture_panel.hpp).
struct PatternLanes {
    std::size_t width;
    std::size_t second_size;
    std::vector<double> count;
    std::vector<double> first;
    std::vector<double> second;

    PatternLanes(bool dense, std::size_t k, std::size_t columns)
        : width(columns),
          second_size(dense ? block_count(columns) * block_numbers : columns * panel_lanes),
          count(k * panel_lanes),
          first(k * columns * panel_lanes),
          second(k * second_size) {}
};

[[nodiscard]] inline double lane_sum(const double* lane) noexcept {
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

class MixturePattern {
  public:
    MixturePattern(const Mixture& mixture, std::span<const std::uint8_t> observed)
        : mixture_(mixture), constants_(mixture.k) {
        for (std::size_t j = 0; j < mixture.d; ++j) {
            (observed.empty() || observed[j] != 0 ? seen_ : unseen_).push_back(j);
        }
        if (!complete()) {
            take_columns();
        }
        const std::size_t o = width();
        const double normaliser = 0.5 * static_cast<double>(o) *
                                  log_of<double, std::uint64_t>(2 * std::numbers::pi_v<double>);
        for (std::size_t c = 0; c < mixture.k; ++c) {
            constants_[c] = mixture.log_weights[c] - normaliser +
                            sum_of_logs(factor(c), o, mixture.dense ? o + 1 : 1);
        }
    }

    [[nodiscard]] bool complete() const noexcept { return unseen_.empty(); }
    [[nodiscard]] std::size_t width() const noexcept { return seen_.size(); }
    [[nodiscard]] std::span<const std::size_t> columns() const noexcept { return seen_; }
    [[nodiscard]] const double* constants() const noexcept { return constants_.data(); }
    [[nodiscard]] const double* mean(std::size_t c) const noexcept {
        return (complete() ? mixture_.means : means_.data()) + c * width();
    }
    [[nodiscard]] const double* factor(std::size_t c) const noexcept {
        return complete() ? mixture_.factor + c * mixture_.stride
                          : factors_.data() + (mixture_.stride == 0 ? 0 : c * factor_size());
    }

    // Adds the sums of the pattern's rows to those of all columns.
    void spread(const PatternLanes& lanes, MixtureSums& total) const {
        std::vector<double> slope;
        std::vector<double> rest;
        for (std::size_t c = 0; c < mixture_.k; ++c) {
            const double count = lane_sum(lanes.count.data() + c * panel_lanes);
            total.count[c] += count;
            if (mixture_.dense) {
                if (!complete() && (c == 0 || mixture_.stride != 0)) {
                    learn(c, slope, rest);
                }
                spread_dense(c, count, lanes, slope, rest, total);
            } else {
                spread_diagonal(c, count, lanes, total);
            }
        }
    }

  private:
    [[nodiscard]] std::size_t factor_size() const noexcept {
        return width() * (mixture_.dense ? width() : 1);
    }

    void take_columns() {
        const std::size_t o = width();
        const std::size_t d = mixture_.d;
        means_.resize(mixture_.k * o);
        for (std::size_t c = 0; c < mixture_.k; ++c) {
            for (std::size_t i = 0; i < o; ++i) {
                means_[c * o + i] = mixture_.means[c * d + seen_[i]];
            }
        }
        const std::size_t n_factors = mixture_.stride == 0 ? 1 : mixture_.k;
        factors_.resize(n_factors * factor_size());
        std::vector<double> part(o * o);
        std::vector<double> scratch;
        for (std::size_t c = 0; c < n_factors; ++c) {
            double* to = factors_.data() + c * factor_size();
            if (!mixture_.dense) {
                for (std::size_t i = 0; i < o; ++i) {
                    to[i] = mixture_.factor[c * mixture_.stride + seen_[i]];
                }
                continue;
            }
            const double* from = mixture_.covariance + c * mixture_.stride;
            for (std::size_t i = 0; i < o; ++i) {
                for (std::size_t j = 0; j <= i; ++j) {
                    part[i * o + j] = from[seen_[i] * d + seen_[j]];
                }
            }
            if (!precision_factor(part.data(), o, to, scratch)) {
                throw std::domain_error("a covariance of some columns is singular");
            }
        }
    }

    void learn(std::size_t c, std::vector<double>& slope, std::vector<double>& rest) const {
        slope.resize(unseen_.size() * width());
        rest.resize(unseen_.size() * unseen_.size());
        std::vector<double> scratch;
        regress(mixture_.covariance + c * mixture_.stride, mixture_.d, seen_, unseen_, factor(c),
                slope.data(), rest.data(), scratch);
    }

    void spread_dense(std::size_t c, double count, const PatternLanes& lanes,
                      const std::vector<double>& slope, const std::vector<double>& rest,
                      MixtureSums& total) const {
        const std::size_t o = width();
        const std::size_t m = unseen_.size();
        const std::size_t d = mixture_.d;
        std::vector<double> one(o);
        std::vector<double> two(o * o);
        for (std::size_t i = 0; i < o; ++i) {
            one[i] = lane_sum(lanes.first.data() + (c * o + i) * panel_lanes);
            for (std::size_t j = 0; j <= i; ++j) {
                two[i * o + j] = two[j * o + i] =
                    lane_sum(lanes.second.data() + c * lanes.second_size + block_position(i, j));
            }
        }
        double* first = total.first.data() + c * d;
        double* second = total.second.data() + c * d * d;
        const auto put = [&](std::size_t a, std::size_t b, double value) {
            (a < b ? second[b * d + a] : second[a * d + b]) += value;
        };
        for (std::size_t i = 0; i < o; ++i) {
            first[seen_[i]] += one[i];
            for (std::size_t j = 0; j <= i; ++j) {
                second[seen_[i] * d + seen_[j]] += two[i * o + j];
            }
        }
        std::vector<double> crossed(o);  // a row of B (sum r z z')
        for (std::size_t a = 0; a < m; ++a) {
            double mean = 0;
            for (std::size_t i = 0; i < o; ++i) {
                mean += slope[a * o + i] * one[i];
                double sum = 0;
                for (std::size_t j = 0; j < o; ++j) {
                    sum += slope[a * o + j] * two[i * o + j];
                }
                crossed[i] = sum;
                put(unseen_[a], seen_[i], sum);
            }
            first[unseen_[a]] += mean;
            for (std::size_t b = 0; b <= a; ++b) {
                double sum = count * rest[a * m + b];
                for (std::size_t i = 0; i < o; ++i) {
                    sum += crossed[i] * slope[b * o + i];
                }
                put(unseen_[a], unseen_[b], sum);
            }
        }
    }

    void spread_diagonal(std::size_t c, double count, const PatternLanes& lanes,
                         MixtureSums& total) const noexcept {
        const std::size_t o = width();
        const std::size_t d = mixture_.d;
        for (std::size_t i = 0; i < o; ++i) {
            const std::size_t at = (c * o + i) * panel_lanes;
            total.first[c * d + seen_[i]] += lane_sum(lanes.first.data() + at);
            total.second[c * d + seen_[i]] += lane_sum(lanes.second.data() + at);
        }
        for (const std::size_t j : unseen_) {
            total.second[c * d + j] += count * mixture_.covariance[c * mixture_.stride + j];
        }
    }

    const Mixture& mixture_;
    std::vector<std::size_t> seen_;
    std::vector<std::size_t> unseen_;
    std::vector<double> constants_;
    std::vector<double> means_;
    std::vector<double> factors_;
};

}  // namespace assay::cluster

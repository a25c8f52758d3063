// Sums of the rows of each cluster; exact where that is possible, so that order does not matter.
//
//     q(v) = v 2^e_j, an integer of 95 bits;      sum_c = sum of q(w_i x_ij) over the rows of c
//
// in 128-bit integers. A row that leaves a cluster is subtracted exactly: sums kept up to date
// from the rows that changed have the bits of sums made anew, for any order and any number of
// threads. It works for every column whose nonzero |w x| are all within a factor 2^41 of the
// greatest; if one is not (`exact` is false), sums are float64, made anew in a fixed order.
//
// Needs   finite values; fewer than 2^31 rows.
// Cost    O(d) per row added or taken away; 16 k d bytes per copy.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"

namespace assay::cluster {

__extension__ typedef __int128 Wide;

// Powers of two that bring the values of each column, and the weights, to integers.
struct SumScale {
    std::vector<double> up;
    std::vector<double> down;
    double weight_up = 1;
    double weight_down = 1;
    bool exact = true;

    // |v| up < 2^94, and v up is an integer for all v in question.
    void set(double least, double greatest, double& to, double& from) noexcept {
        int exponent = 0;
        std::frexp(greatest, &exponent);
        const int shift = 94 - exponent;
        exact = exact && least >= greatest * 0x1p-41 && std::abs(shift) <= 1000;
        to = exact ? std::ldexp(1.0, shift) : 1;
        from = exact ? std::ldexp(1.0, -shift) : 1;
    }
};

template <class T>
[[nodiscard]] SumScale sum_scale(MatrixView<const T> rows, std::span<const double> weight,
                                 int n_threads) {
    constexpr std::size_t chunk = 4096;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::size_t d = rows.cols;
    const std::size_t width = d + 1;  // the weights come last
    std::vector<double> greatest(chunk_count(rows.rows, chunk) * width);
    std::vector<double> least(greatest.size(), infinity);
    parallel_chunks(rows.rows, chunk, n_threads, [&](Range range) {
        double* high = greatest.data() + range.index * width;
        double* low = least.data() + range.index * width;
        const auto see = [&](std::size_t j, double value) {
            const double size = std::abs(value);
            const double nonzero = size > 0 ? size : infinity;
            high[j] = high[j] < size ? size : high[j];
            low[j] = nonzero < low[j] ? nonzero : low[j];
        };
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const double w = weight.empty() ? 1 : weight[i];
            const T* row = rows.data + i * d;
            for (std::size_t j = 0; j < d; ++j) {
                see(j, w * static_cast<double>(row[j]));
            }
            see(d, w);
        }
    });
    SumScale scale{std::vector<double>(d), std::vector<double>(d)};
    for (std::size_t j = 0; j < width; ++j) {
        double high = 0;
        double low = infinity;
        for (std::size_t c = j; c < greatest.size(); c += width) {
            high = std::max(high, greatest[c]);
            low = std::min(low, least[c]);
        }
        scale.set(low, high, j < d ? scale.up[j] : scale.weight_up,
                  j < d ? scale.down[j] : scale.weight_down);
    }
    return scale;
}

// Number: Wide for exact sums, double for the others.
template <class Number>
class CentroidSums {
  public:
    CentroidSums(std::size_t n_clusters, std::size_t d)
        : d_(d), sums_(n_clusters * d), mass_(n_clusters), counts_(n_clusters) {}

    template <class T>
    void add(std::size_t cluster, const T* row, double weight, const SumScale& scale) noexcept {
        apply(cluster, row, weight, scale, [](Number& sum, Number q) { sum += q; });
        ++counts_[cluster];
    }
    template <class T>
    void take(std::size_t cluster, const T* row, double weight, const SumScale& scale) noexcept {
        apply(cluster, row, weight, scale, [](Number& sum, Number q) { sum -= q; });
        --counts_[cluster];
    }

    // Adds what another copy gathered, and empties it.
    void absorb(CentroidSums& other) noexcept {
        assert(other.sums_.size() == sums_.size() && other.mass_.size() == mass_.size());
        for (std::size_t t = 0; t < sums_.size(); ++t) {
            sums_[t] += other.sums_[t];
        }
        for (std::size_t c = 0; c < mass_.size(); ++c) {
            mass_[c] += other.mass_[c];
            counts_[c] += other.counts_[c];
        }
        other.clear();
    }
    void clear() noexcept {
        std::fill(sums_.begin(), sums_.end(), Number{0});
        std::fill(mass_.begin(), mass_.end(), Number{0});
        std::fill(counts_.begin(), counts_.end(), 0);
    }

    // Rows in the cluster, and their total weight.
    [[nodiscard]] std::int64_t count(std::size_t cluster) const noexcept {
        return counts_[cluster];
    }
    [[nodiscard]] double mass(std::size_t cluster, const SumScale& scale) const noexcept {
        return static_cast<double>(mass_[cluster]) *
               (std::is_same_v<Number, Wide> ? scale.weight_down : 1);
    }

    // Without weights exact sums are divided as integers: the mean of equal rows is the row.
    void mean(std::size_t cluster, const SumScale& scale, bool weighted,
              double* centre) const noexcept {
        const Number* sum = sums_.data() + cluster * d_;
        const double total = mass(cluster, scale);
        for (std::size_t j = 0; j < d_; ++j) {
            if constexpr (std::is_same_v<Number, Wide>) {
                const double mean = weighted ? static_cast<double>(sum[j]) / total
                                             : static_cast<double>(sum[j] / counts_[cluster]);
                centre[j] = mean * scale.down[j];
            } else {
                centre[j] = sum[j] / total;
            }
        }
    }

  private:
    // v up as an integer: its upper part on a grid of 2^40, then what is left, both exact.
    [[nodiscard]] static Number number(double value, double up) noexcept {
        if constexpr (std::is_same_v<Number, Wide>) {
            const double scaled = value * up;
            const auto upper = static_cast<std::int64_t>(std::llrint(scaled * 0x1p-40));
            const double rest = scaled - static_cast<double>(upper) * 0x1p40;
            return static_cast<Wide>(upper) * (std::int64_t{1} << 40) +
                   static_cast<std::int64_t>(std::llrint(rest));
        } else {
            return value;
        }
    }

    template <class T, class Apply>
    void apply(std::size_t cluster, const T* row, double weight, const SumScale& scale,
               Apply&& put) noexcept {
        assert(cluster < mass_.size());
        Number* sum = sums_.data() + cluster * d_;
        for (std::size_t j = 0; j < d_; ++j) {
            put(sum[j], number(weight * static_cast<double>(row[j]), scale.up[j]));
        }
        put(mass_[cluster], number(weight, scale.weight_up));
    }

    std::size_t d_;
    std::vector<Number> sums_;
    std::vector<Number> mass_;
    std::vector<std::int64_t> counts_;
};

}  // namespace assay::cluster

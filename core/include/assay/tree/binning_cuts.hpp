// Where to cut the sorted distinct values of a column into bins.
//
//     values j = 0 .. m - 1 with weights w_j (how often each occurs)
//     bin_of[j], ascending from 0, at most max_bins bins
//
// At most max_bins values: one bin each. Otherwise a value with at least the mean share
// W / max_bins is heavy and has a bin reserved; the light values between are filled
// greedily to the mean of what is left for them, each bin closed where it is nearest to
// that mean. A heavy value joins a light bin before it that is less than half full, and
// light values join the heavy one before them when no bin is free: so max_bins holds
// always. Values of weight 0 are as if absent: they fall to the bin before (or the first).
//
// Cost    O(m), no allocation; depends on the weights alone, so it is deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::tree {

namespace detail {

// One pass over the values in ascending order; `put` returns the bin of the next one.
class GreedyCuts {
  public:
    GreedyCuts(std::span<const double> weight, double total, std::size_t max_bins) noexcept
        : share_(total / static_cast<double>(max_bins)), light_(total), free_(max_bins) {
        for (const double w : weight) {
            if (w >= share_ && free_ > 0) {
                light_ -= w;
                --free_;
            }
        }
    }

    [[nodiscard]] std::int32_t put(double w) noexcept {
        if (w >= share_) {
            put_heavy();
        } else {
            put_light(w);
        }
        return bin_;
    }

  private:
    void put_heavy() noexcept {
        const bool join = open_ && (borrowed_ || filled_ < mean_ / 2);
        if (open_) {
            light_ -= filled_;
            free_ += join && !borrowed_ ? 1 : 0;  // its own bin is not needed
            open_ = false;
        }
        bin_ += join ? 0 : 1;
        borrowed_ = false;
    }

    void put_light(double w) noexcept {
        if (open_ && free_ > 0 && filled_ + w / 2 > mean_) {
            light_ -= filled_;
            open_ = false;
        }
        if (!open_ && free_ > 0) {
            mean_ = light_ / static_cast<double>(free_);
            --free_;
            ++bin_;
            filled_ = 0;
            open_ = true;
        } else if (bin_ < 0) {  // every bin is reserved: borrow that of the first heavy value
            bin_ = 0;
            open_ = borrowed_ = true;
        }
        filled_ += w;
    }

    double share_;
    double light_;      // weight of the light values that are in no closed bin
    std::size_t free_;  // bins neither opened nor reserved
    double mean_ = 0;
    double filled_ = 0;
    std::int32_t bin_ = -1;
    bool open_ = false;      // whether the last bin takes more light values
    bool borrowed_ = false;  // whether it is the bin reserved for the next heavy one
};

}  // namespace detail

// Returns the number of bins; 0 when all weights are 0.
[[nodiscard]] inline std::int32_t cut_values(std::span<const double> weight, std::size_t max_bins,
                                             std::span<std::int32_t> bin_of) noexcept {
    std::size_t present = 0;
    double total = 0;
    for (const double w : weight) {
        present += w > 0 ? 1 : 0;
        total += w;
    }
    detail::GreedyCuts cuts(weight, total, max_bins);
    const bool exact = present <= max_bins;
    std::int32_t bin = -1;
    for (std::size_t j = 0; j < weight.size(); ++j) {
        if (weight[j] > 0) {
            bin = exact ? bin + 1 : cuts.put(weight[j]);
        }
        bin_of[j] = bin < 0 ? 0 : bin;
    }
    return bin + 1;
}

}  // namespace assay::tree

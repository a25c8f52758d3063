// Where a number falls among the bins of a column, in constant expected time.
//
// `place` is a table over 256 equal steps of a column's range: the last bin with its middle
// at or before the step. From there a few bins at most are walked; any start is right.
//
// Needs   lower and upper of the numeric columns ascending.
// Cost    256 entries per column and three numbers per bin; about 10 ns per question.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "assay/tree/bins.hpp"

namespace assay::tree {

// What a guide knows, for loops in core/levels: bins of column f begin at base[f].
struct CutTables {
    const double* lower;
    const double* upper;
    const double* middle;
    const std::int64_t* base;
    const double* start;
    const double* scale;
    const std::uint16_t* place;  // column f at f * steps

    static constexpr std::size_t steps = 256;
    static constexpr std::size_t window = 8;  // numbers behind the last bin that may be read: inf
};

class CutGuide {
  public:
    CutGuide() = default;

    template <class Code>
    explicit CutGuide(const BinnedView<Code>& bins)
        : lower_(bins.lower.size() + bins.cols * window, inf),
          upper_(lower_),
          middle_(lower_),
          base_(bins.cols),
          start_(bins.cols),
          scale_(bins.cols) {
        place_.assign(bins.cols * steps, 0);
        for (std::size_t f = 0; f < bins.cols; ++f) {
            const auto first = static_cast<std::size_t>(bins.bin_start[f]);
            const auto count = static_cast<std::size_t>(bins.bin_start[f + 1]) - first;
            const std::size_t base = first + f * window;
            base_[f] = static_cast<std::int64_t>(base);
            for (std::size_t b = 0; b < count; ++b) {
                lower_[base + b] = bins.lower[first + b];
                upper_[base + b] = bins.upper[first + b];
                middle_[base + b] = bins.lower[first + b] / 2 + bins.upper[first + b] / 2;
            }
            const double* middle = middle_.data() + base;
            const std::int32_t n = bins.n_bins[f];
            if (bins.nominal[f] != 0 || n < 2) {
                continue;
            }
            const double range = middle[n - 1] - middle[0];
            start_[f] = middle[0];
            scale_[f] = range > 0 && range * 2 < 1e308 ? steps / range : 0;
            std::int32_t b = 0;
            for (std::size_t k = 0; k < steps; ++k) {
                const double at = start_[f] + range * (static_cast<double>(k) / steps);
                while (b + 1 < n && middle[b + 1] <= at) {
                    ++b;
                }
                place_[f * steps + k] = static_cast<std::uint16_t>(b);
            }
        }
    }

    [[nodiscard]] CutTables tables() const noexcept {
        return {lower_.data(), upper_.data(), middle_.data(), base_.data(),
                start_.data(), scale_.data(), place_.data()};
    }
    // Of the bins of column f.
    [[nodiscard]] const double* lower(std::size_t f) const noexcept {
        return lower_.data() + base_[f];
    }
    [[nodiscard]] const double* upper(std::size_t f) const noexcept {
        return upper_.data() + base_[f];
    }

    // The last bin in first .. last - 1 with its middle at most at x, `first` if none has.
    [[nodiscard]] std::int32_t bin_below(std::size_t f, std::int32_t first, std::int32_t last,
                                         double x) const noexcept {
        assert(first < last);
        if (last - first == 1) {
            return first;
        }
        const double* middle = middle_.data() + base_[f];
        const double step = std::clamp((x - start_[f]) * scale_[f], 0.0, steps - 1.0);
        std::int32_t b = place_[f * steps + static_cast<std::size_t>(step)];
        while (b > 0 && middle[b] > x) {  // rounding: hardly ever
            --b;
        }
        // Counted as numbers: the compiler would turn integers into branches, which nobody
        // can foretell. One window is nearly always enough.
        double count = window;
        while (count == window) {
            count = 0;
            for (std::size_t j = 1; j <= window; ++j) {
                count += middle[static_cast<std::size_t>(b) + j] <= x ? 1.0 : 0.0;
            }
            b += static_cast<std::int32_t>(count);
        }
        return std::clamp(b, first, last - 1);
    }

  private:
    static constexpr std::size_t steps = CutTables::steps;
    static constexpr std::size_t window = CutTables::window;
    static constexpr double inf = std::numeric_limits<double>::infinity();
    std::vector<double> lower_;
    std::vector<double> upper_;
    std::vector<double> middle_;
    std::vector<std::int64_t> base_;
    std::vector<double> start_;
    std::vector<double> scale_;
    std::vector<std::uint16_t> place_;
};

}  // namespace assay::tree

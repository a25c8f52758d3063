// Where a number falls among the bins of a column, in constant expected time.
//
// `place` is a table over 256 equal steps of a column's range: the last bin with its middle
// at or before the step. From there a few bins at most are walked; any start is right. Ends
// and middle of a bin lie side by side: a question touches few cache lines, which is its cost.
//
// Needs   lower and upper of the numeric columns ascending.
// Cost    256 entries per column and three numbers per bin; about 10 ns per question.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "assay/tree/bins.hpp"

namespace assay::tree {

class CutGuide {
  public:
    CutGuide() = default;

    template <class Code>
    explicit CutGuide(const BinnedView<Code>& bins)
        : start_(bins.cols), scale_(bins.cols), ends_(bins.lower.size() + bins.cols * window) {
        place_.assign(bins.cols * steps, 0);
        for (std::size_t f = 0; f < bins.cols; ++f) {
            Ends* bin = ends_.data() + bins.bin_start[f] + static_cast<std::ptrdiff_t>(f * window);
            const auto first = static_cast<std::size_t>(bins.bin_start[f]);
            const auto count = static_cast<std::size_t>(bins.bin_start[f + 1]) - first;
            for (std::size_t b = 0; b < count; ++b) {
                const double lower = bins.lower[first + b];
                const double upper = bins.upper[first + b];
                bin[b] = {lower, upper, lower / 2 + upper / 2};
            }
            // No number is beyond these: a walk may read past the last bin.
            std::fill_n(bin + count, window, Ends{inf, inf, inf});
            const std::int32_t n = bins.n_bins[f];
            if (bins.nominal[f] != 0 || n < 2) {
                continue;
            }
            const double range = bin[n - 1].middle - bin[0].middle;
            start_[f] = bin[0].middle;
            scale_[f] = range > 0 && range * 2 < 1e308 ? steps / range : 0;
            std::int32_t b = 0;
            for (std::size_t k = 0; k < steps; ++k) {
                const double at = start_[f] + range * (static_cast<double>(k) / steps);
                while (b + 1 < n && bin[b + 1].middle <= at) {
                    ++b;
                }
                place_[f * steps + k] = static_cast<std::uint16_t>(b);
            }
        }
    }

    struct Ends {
        double lower;
        double upper;
        double middle;
    };
    template <class Code>
    [[nodiscard]] const Ends* ends(const BinnedView<Code>& bins, std::size_t f) const noexcept {
        return ends_.data() + bins.bin_start[f] + static_cast<std::ptrdiff_t>(f * window);
    }

    // The last bin in first .. last - 1 with its middle at most at x, `first` if none has.
    template <class Code>
    [[nodiscard]] std::int32_t bin_below(const BinnedView<Code>& bins, std::size_t f,
                                         std::int32_t first, std::int32_t last,
                                         double x) const noexcept {
        if (last - first == 1) {
            return first;
        }
        const Ends* bin = ends(bins, f);
        const double step = std::clamp((x - start_[f]) * scale_[f], 0.0, steps - 1.0);
        std::int32_t b = place_[f * steps + static_cast<std::size_t>(step)];
        while (b > 0 && bin[b].middle > x) {  // rounding: hardly ever
            --b;
        }
        // Counted as numbers: the compiler would turn integers into branches, which nobody
        // can foretell. One window is nearly always enough.
        double count = window;
        while (count == window) {
            count = 0;
            for (std::size_t j = 1; j <= window; ++j) {
                count += bin[static_cast<std::size_t>(b) + j].middle <= x ? 1.0 : 0.0;
            }
            b += static_cast<std::int32_t>(count);
        }
        return std::clamp(b, first, last - 1);
    }

  private:
    static constexpr std::size_t steps = 256;
    static constexpr std::size_t window = 6;
    static constexpr double inf = std::numeric_limits<double>::infinity();
    std::vector<double> start_;
    std::vector<double> scale_;
    std::vector<Ends> ends_;
    std::vector<std::uint16_t> place_;
};

}  // namespace assay::tree

// A random binned table for the tests of boosting.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/bins.hpp"

namespace assay::tests {

struct BoostExample {
    std::size_t rows, cols;
    std::vector<std::uint8_t> codes;
    std::vector<std::int32_t> n_bins;
    std::vector<std::uint8_t> nominal, has_missing;
    std::vector<std::int64_t> bin_start, level_start;
    std::vector<double> lower, upper;
    std::vector<std::int32_t> level_bin;
    std::vector<std::int32_t> n_levels;

    BoostExample(std::size_t n, std::size_t d, std::int32_t bins, bool missing)
        : rows(n),
          cols(d),
          codes(n * d),
          n_bins(d, bins),
          nominal(d, 0),
          has_missing(d, missing ? 1 : 0),
          bin_start(d + 1),
          level_start(d + 1, 0),
          n_levels(d, 0) {
        RandomStream random(11, 0);
        for (std::uint8_t& code : codes) {
            code = static_cast<std::uint8_t>(
                random.below(static_cast<std::uint32_t>(bins + (missing ? 1 : 0))));
        }
        for (std::size_t f = 0; f < d; ++f) {
            bin_start[f + 1] = bin_start[f] + bins;
            for (std::int32_t b = 0; b < bins; ++b) {
                lower.push_back(b);
                upper.push_back(b);
            }
        }
    }

    // The first `count` columns tell which of `levels` a row has; of further levels all are 0.
    void make_one_hot(std::size_t count, std::uint32_t levels) {
        RandomStream random(5, 0);
        for (std::size_t i = 0; i < rows; ++i) {
            const std::size_t hot = random.below(levels);
            for (std::size_t f = 0; f < count; ++f) {
                codes[f * rows + i] = f == hot ? 1 : 0;
            }
        }
        std::fill_n(n_bins.begin(), count, 2);
    }

    [[nodiscard]] tree::BinnedView<std::uint8_t> view() const {
        return {codes.data(), rows,  cols,  n_bins,      nominal,  has_missing,
                bin_start,    lower, upper, level_start, level_bin};
    }
};

}  // namespace assay::tests

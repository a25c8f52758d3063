// Small binned tables for the tests of the growers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/bins.hpp"

namespace assay::tree {

// One value per bin, value = code; a nominal column has one level per bin.
template <class Code>
struct ToyTable {
    std::size_t rows;
    std::size_t cols;
    std::vector<Code> codes;
    std::vector<std::int32_t> n_bins;
    std::vector<std::uint8_t> nominal;
    std::vector<std::uint8_t> has_missing;
    std::vector<std::int64_t> bin_start{0};
    std::vector<double> lower;
    std::vector<std::int64_t> level_start{0};
    std::vector<std::int32_t> level_bin;

    ToyTable(std::size_t n_rows, std::size_t n_cols) : rows(n_rows), cols(n_cols) {
        codes.resize(n_rows * n_cols);
    }

    // Random codes; with `missing`, about one row in eight has none.
    void add_column(RandomStream& stream, std::int32_t bins, bool is_nominal, bool missing) {
        const std::size_t f = n_bins.size();
        for (std::size_t i = 0; i < rows; ++i) {
            const bool is_missing = missing && stream.below(8U) == 0;
            codes[f * rows + i] =
                static_cast<Code>(is_missing ? static_cast<std::uint32_t>(bins)
                                             : stream.below(static_cast<std::uint32_t>(bins)));
        }
        n_bins.push_back(bins);
        nominal.push_back(is_nominal ? 1 : 0);
        has_missing.push_back(missing ? 1 : 0);
        for (std::int32_t b = 0; b < bins; ++b) {
            lower.push_back(b);
            if (is_nominal) {
                level_bin.push_back(b);
            }
        }
        bin_start.push_back(static_cast<std::int64_t>(lower.size()));
        level_start.push_back(static_cast<std::int64_t>(level_bin.size()));
    }

    [[nodiscard]] BinnedView<Code> view() const {
        return {codes.data(), rows,  cols,  n_bins,      nominal,  has_missing,
                bin_start,    lower, lower, level_start, level_bin};
    }
};

}  // namespace assay::tree

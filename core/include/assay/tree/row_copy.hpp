// The codes of a table row by row: code(f, i) at data() + i * step() + f.
//
// Columns are what growers read, but to copy some rows into a smaller table, all codes of a
// row should lie in one cache line. Rows are padded with zeros to a multiple of 16 bytes.
//
// Cost    one pass over the table, in parallel; rows x step bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/parallel.hpp"
#include "assay/tree/bins.hpp"

namespace assay::tree {

class RowCopy {
  public:
    static constexpr std::size_t most_columns = cache_line;

    RowCopy() = default;
    RowCopy(const BinnedView<std::uint8_t>& bins, int n_threads)
        : step_((bins.cols + 15) / 16 * 16), codes_(bins.rows * step_) {
        constexpr std::size_t chunk = 1024;
        parallel_chunks(bins.rows, chunk, n_threads, [&](Range range) {
            for (std::size_t f = 0; f < bins.cols; ++f) {
                const std::uint8_t* column = bins.codes + f * bins.rows;
                for (std::size_t i = range.begin; i < range.end; ++i) {
                    codes_[i * step_ + f] = column[i];
                }
            }
        });
    }

    [[nodiscard]] bool empty() const noexcept { return codes_.empty(); }
    [[nodiscard]] const std::uint8_t* data() const noexcept { return codes_.data(); }
    [[nodiscard]] std::size_t step() const noexcept { return step_; }

  private:
    std::size_t step_ = 0;
    std::vector<std::uint8_t> codes_;
};

}  // namespace assay::tree

// The centres as panels of eight, neighbours together: what a scan of all centres reads.
//
//     values[(g d + j) 8 + l] = coordinate j of the centre in lane l of panel g
//
// The order comes from halving the centres along their widest coordinate until eight are left,
// so a panel holds centres that are near to each other, and a test of the whole panel can spare
// eight distances. Lanes behind the last centre are infinitely far.
//
// Needs   at least one centre.
// Cost    O(k d log k) for the order, once; O(k d) to fill.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "assay/common/matrix_view.hpp"

namespace assay::cluster {

inline constexpr std::size_t lanes = 8;

namespace detail {

// Halves [first, last) along the coordinate of the greatest range; both halves but the last
// have a multiple of eight centres.
inline void order_centres(MatrixView<const double> centres, std::span<std::int32_t> order) {
    if (order.size() <= lanes) {
        return;
    }
    std::size_t widest = 0;
    double range = -1;
    for (std::size_t j = 0; j < centres.cols; ++j) {
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        for (const std::int32_t c : order) {
            const double x = centres(static_cast<std::size_t>(c), j);
            low = std::min(low, x);
            high = std::max(high, x);
        }
        if (high - low > range) {
            range = high - low;
            widest = j;
        }
    }
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        const double x = centres(static_cast<std::size_t>(a), widest);
        const double y = centres(static_cast<std::size_t>(b), widest);
        return x < y || (x == y && a < b);
    });
    const std::size_t panels = (order.size() + lanes - 1) / lanes;
    const std::size_t half = panels / 2 * lanes;
    order_centres(centres, order.first(half));
    order_centres(centres, order.subspan(half));
}

}  // namespace detail

class CentroidPanels {
  public:
    explicit CentroidPanels(MatrixView<const double> centres)
        : order_(centres.rows),
          size_((centres.rows + lanes - 1) / lanes),
          cols_(centres.cols),
          values_(size_ * lanes * centres.cols, std::numeric_limits<double>::infinity()),
          index_(size_ * lanes, std::numeric_limits<std::int32_t>::max()),
          panel_of_(centres.rows) {
        std::iota(order_.begin(), order_.end(), 0);
        detail::order_centres(centres, order_);
        for (std::size_t place = 0; place < order_.size(); ++place) {
            index_[place] = order_[place];
            panel_of_[static_cast<std::size_t>(order_[place])] =
                static_cast<std::int32_t>(place / lanes);
        }
        fill(centres);
    }

    // New coordinates of the same centres; the order stays.
    void fill(MatrixView<const double> centres) noexcept {
        assert(centres.rows == order_.size() && centres.cols == cols_);
        for (std::size_t place = 0; place < order_.size(); ++place) {
            const auto centre = static_cast<std::size_t>(order_[place]);
            double* panel = values_.data() + place / lanes * lanes * cols_ + place % lanes;
            for (std::size_t j = 0; j < cols_; ++j) {
                panel[j * lanes] = centres(centre, j);
            }
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t cols() const noexcept { return cols_; }
    [[nodiscard]] const double* values() const noexcept { return values_.data(); }
    // The centre in each lane; the greatest number behind the last one.
    [[nodiscard]] const std::int32_t* index() const noexcept { return index_.data(); }
    [[nodiscard]] const std::int32_t* panel_of() const noexcept { return panel_of_.data(); }

  private:
    std::vector<std::int32_t> order_;
    std::size_t size_;
    std::size_t cols_;
    std::vector<double> values_;
    std::vector<std::int32_t> index_;
    std::vector<std::int32_t> panel_of_;
};

}  // namespace assay::cluster

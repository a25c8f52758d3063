// Rows packed for the vector kernels: transposed, in panels of fixed width.
//
//     values[(panel * d + j) * width + lane] = feature j of row panel * width + lane
//
// A kernel then reads one feature of consecutive rows as vectors. Lanes behind the
// last row are zero.
//
// Cost    one pass over the rows; the memory is taken once and used again.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>

#include "assay/common/aligned.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/neighbors/frame.hpp"
#include "assay/neighbors/screen.hpp"

namespace assay::neighbors {

inline constexpr std::size_t group_width = 8;   // queries that one kernel call serves
inline constexpr std::size_t panel_width = 32;  // rows that it looks at in one step

[[nodiscard]] constexpr std::size_t panel_count(std::size_t rows, std::size_t width) noexcept {
    return (rows + width - 1) / width;
}

template <class T, class P, class Map>
void pack_panel(MatrixView<const T> rows, std::size_t width, P* values, const Map& map) {
    const std::size_t d = rows.cols;
    assert(rows.rows <= width);
    for (std::size_t lane = 0; lane < rows.rows; ++lane) {
        for (std::size_t j = 0; j < d; ++j) {
            values[j * width + lane] = map(rows(lane, j), j);
        }
    }
    for (std::size_t j = 0; j < d; ++j) {
        std::fill(values + j * width + rows.rows, values + (j + 1) * width, P{});
    }
}

// Calls visit(rows of the panel, first row) for every panel, in parallel.
template <class T, class Visit>
void for_each_panel(MatrixView<const T> rows, std::size_t width, int n_threads,
                    const Visit& visit) {
    parallel_chunks(rows.rows, 16 * width, n_threads, [&](Range range) {
        for (std::size_t first = range.begin; first < range.end; first += width) {
            visit(rows.middle_rows(first, std::min(width, range.end - first)), first);
        }
    });
}

// Rows as they are, in float64.
class ExactPanels {
  public:
    ExactPanels(std::size_t max_rows, std::size_t d, std::size_t width)
        : d_(d), width_(width), values_(panel_count(max_rows, width) * width * d) {}

    template <class T>
    void pack(MatrixView<const T> rows, int n_threads) {
        const auto keep = [](T value, std::size_t) { return static_cast<double>(value); };
        for_each_panel(rows, width_, n_threads, [&](MatrixView<const T> panel, std::size_t first) {
            pack_panel(panel, width_, values_.data() + first * d_, keep);
        });
    }

    [[nodiscard]] const double* from(std::size_t row) const noexcept {
        return values_.data() + row * d_;
    }

  private:
    std::size_t d_;
    std::size_t width_;
    AlignedBuffer<double> values_;
};

// Rows in the frame, in float32, with their norms and with h of screen.hpp.
class ScreenPanels {
  public:
    ScreenPanels(std::size_t max_rows, std::size_t d, std::size_t width)
        : d_(d),
          width_(width),
          values_(panel_count(max_rows, width) * width * d),
          norms_(panel_count(max_rows, width) * width),
          half_norms_(norms_.size()) {}

    template <class T>
    void pack(MatrixView<const T> rows, const Frame& frame, int n_threads) {
        for_each_panel(rows, width_, n_threads, [&](MatrixView<const T> panel, std::size_t first) {
            float* values = values_.data() + first * d_;
            pack_panel(panel, width_, values, frame);
            measure(values, first);
        });
    }

    [[nodiscard]] const float* from(std::size_t row) const noexcept {
        return values_.data() + row * d_;
    }
    [[nodiscard]] const float* half_norms_from(std::size_t row) const noexcept {
        return half_norms_.data() + row;
    }
    [[nodiscard]] double norm(std::size_t row) const noexcept { return norms_[row]; }

  private:
    void measure(const float* values, std::size_t first) noexcept {
        double* norm = norms_.data() + first;
        std::fill(norm, norm + width_, 0.0);
        for (std::size_t j = 0; j < d_; ++j) {
            for (std::size_t lane = 0; lane < width_; ++lane) {
                const double x = static_cast<double>(values[j * width_ + lane]);
                norm[lane] += x * x;
            }
        }
        for (std::size_t lane = 0; lane < width_; ++lane) {
            norm[lane] = std::sqrt(norm[lane]);
            half_norms_[first + lane] = screen_half_norm(norm[lane], d_);
        }
    }

    std::size_t d_;
    std::size_t width_;
    AlignedBuffer<float> values_;
    AlignedBuffer<double> norms_;
    AlignedBuffer<float> half_norms_;
};

}  // namespace assay::neighbors

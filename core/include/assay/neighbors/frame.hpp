// A common frame for queries and rows in which rounding to float32 loses least.
//
//     q'  =  float32((q - centre) * scale),     scale a power of two
//
// Any centre and scale are right; these come from a sample of the rows.
//
// Cost    O(1024 d) time, d numbers of memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "assay/common/matrix_view.hpp"

namespace assay::neighbors {

struct Frame {
    std::vector<double> centre;
    double scale = 1;

    template <class T>
    explicit Frame(MatrixView<const T> refs) : centre(refs.cols, 0.0) {
        const std::size_t step = refs.rows / 1024 + 1;
        const auto n = static_cast<double>((refs.rows + step - 1) / step);
        for (std::size_t r = 0; r < refs.rows; r += step) {
            for (std::size_t j = 0; j < refs.cols; ++j) {
                centre[j] += static_cast<double>(refs(r, j)) / n;
            }
        }
        double largest = 0;
        for (std::size_t r = 0; r < refs.rows; r += step) {
            for (std::size_t j = 0; j < refs.cols; ++j) {
                largest = std::max(largest, std::abs(static_cast<double>(refs(r, j)) - centre[j]));
            }
        }
        if (largest > 0 && std::isfinite(largest)) {
            scale = std::ldexp(1.0, -std::clamp(std::ilogb(largest), -500, 500));
        }
    }

    template <class T>
    [[nodiscard]] float operator()(T value, std::size_t j) const noexcept {
        return static_cast<float>((static_cast<double>(value) - centre[j]) * scale);
    }
};

}  // namespace assay::neighbors

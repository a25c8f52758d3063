// A common frame for queries and rows in which rounding to float32 loses least.
//
//     q'  =  float32((q - centre) * scale),     scale a power of two
//
// Any centre and scale are right. The centre is the median of a sample of the rows, which
// a few far outliers do not move.
//
// Cost    O(256 d) time, d numbers of memory.
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
    explicit Frame(MatrixView<const T> refs) : centre(refs.cols) {
        const std::size_t step = refs.rows / 256 + 1;
        std::vector<double> sample;
        double largest = 0;
        for (std::size_t j = 0; j < refs.cols; ++j) {
            sample.clear();
            for (std::size_t r = 0; r < refs.rows; r += step) {
                sample.push_back(static_cast<double>(refs(r, j)));
            }
            const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
            std::nth_element(sample.begin(), middle, sample.end());
            centre[j] = *middle;
            for (const double value : sample) {
                largest = std::max(largest, std::abs(value - centre[j]));
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

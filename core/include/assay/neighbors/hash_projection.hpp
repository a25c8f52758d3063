// Rows as seen along many directions at once, in float32.
//
//     out[i][p] = sum_j z_ij directions[j][p],      z_ij = float((x_ij - centre_j) * scale)
//
// z is kept within +-1e15, so that no sum overflows. The sum runs over j in ascending order,
// product and addition rounded apart: the same bits at every CPU level, for any block of rows.
//
// Needs   width a multiple of 16; `room` of block_rows * d floats.
// Cost    O(n d width), a matrix product; no allocation.
#pragma once

#include <cstddef>

namespace assay::neighbors {

template <class Level, class T>
struct HashProjection {
    static constexpr std::size_t block_rows = 4;

    static void run(const T* rows, std::size_t n, std::size_t d, const double* centre, double scale,
                    const float* directions, std::size_t width, float* room, float* out) noexcept;
};

}  // namespace assay::neighbors

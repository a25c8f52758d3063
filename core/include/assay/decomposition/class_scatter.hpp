// The scatter of rows about the means of their classes, weighted.
//
//     S = sum_i w_i (x_i - m_{k(i)}) (x_i - m_{k(i)})'         over all rows, or those listed
//
// Centred on the means themselves, not corrected afterwards: classes far apart cost no digits.
// Blocks of centred rows live in the cache only; the table is read once and not copied.
//
// Needs   a BlasScope lives; codes in [0, mean.rows), one per row of X; rows empty (= all) or row
//         numbers of X; weights empty or one per row of X, not negative; out is X.cols squared.
// Cost    n d^2 / 2 multiplications; (parts + 1) d^2 numbers of memory. See row_blocks.hpp for
// bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/blas.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/decomposition/row_blocks.hpp"

namespace assay::decomposition {

template <class T>
void class_scatter(MatrixView<const T> X, std::span<const std::int64_t> rows,
                   std::span<const std::int64_t> codes, std::span<const double> weights,
                   MatrixView<const double> mean, MatrixView<double> out, int n_threads) {
    const std::size_t d = X.cols;
    const std::size_t n = rows.empty() ? X.rows : rows.size();
    const std::size_t parts = part_count(n, d * d);
    const std::size_t block = block_rows(d);
    std::vector<double> sums(parts * d * d, 0.0);
    parallel_chunks(n, std::max<std::size_t>(chunk_count(n, parts), 1), n_threads, [&](Range part) {
        AlignedBuffer<double> centred(block * d);
        const MatrixView<double> sum{sums.data() + part.index * d * d, d, d};
        for (std::size_t begin = part.begin; begin < part.end; begin += block) {
            const std::size_t count = std::min(part.end - begin, block);
            for (std::size_t t = 0; t < count; ++t) {
                const std::size_t i =
                    rows.empty() ? begin + t : static_cast<std::size_t>(rows[begin + t]);
                const double scale = weights.empty() ? 1.0 : std::sqrt(weights[i]);
                const T* from = X.data + i * d;
                const double* centre = mean.data + static_cast<std::size_t>(codes[i]) * d;
                double* to = centred.data() + t * d;
                for (std::size_t j = 0; j < d; ++j) {
                    to[j] = scale * (static_cast<double>(from[j]) - centre[j]);
                }
            }
            syrk(Op::transpose, 1.0, MatrixView<const double>{centred.data(), count, d}, 1.0, sum);
        }
    });
    for (std::size_t a = 0; a < d; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            double value = sums[a * d + b];
            for (std::size_t part = 1; part < parts; ++part) {
                value += sums[part * d * d + a * d + b];
            }
            out(a, b) = out(b, a) = value;
        }
    }
}

}  // namespace assay::decomposition

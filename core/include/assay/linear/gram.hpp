// Sums of products of columns, over packed blocks of rows.
//
//     out = sum_i a_i a_i'        lower triangle, k x k
//
// The rows a_i do not exist in memory: `pack(range, buffer, stride)` writes the rows of a block
// (centred, weighted, some columns only) into a buffer that stays in the cache, and they are
// multiplied there: up to `own_columns` columns by gram_tile.hpp (at 100 columns it needs two
// thirds of BLAS's time), above that, and on a processor without fused products, by BLAS. So the
// table is read once and never copied.
//
// Rows are cut into at most `max_parts` parts that depend on n and k only; each has its own
// sum, and the sums are added in order: the bits do not depend on n_threads.
//
// Needs   a BlasScope lives; pack fills the first k of `stride` values for each row of the range;
//         out has k * k values.
// Cost    n k^2 / 2 multiplications; (parts + 1) k^2 + block k numbers of memory.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/blas.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/linear/gram_tile.hpp"

namespace assay::linear {

namespace detail {

inline constexpr std::size_t max_parts = 16;
inline constexpr std::size_t rows_per_part = 1024;
inline constexpr std::size_t own_columns = 256;
// Rows of a block for gram_tile.hpp: four strips of it fit in the first-level cache.
inline constexpr std::size_t tile_rows = 96;
// Numbers that all partial sums together may take (64 MB).
inline constexpr std::size_t max_partial_numbers = std::size_t{1} << 23;

[[nodiscard]] constexpr std::size_t part_count(std::size_t n, std::size_t k) noexcept {
    const std::size_t fitting = max_partial_numbers / std::max<std::size_t>(k * k, 1);
    return std::max<std::size_t>(1, std::min({max_parts, n / rows_per_part, fitting}));
}

// Rows of a block: about 256 KB of packed numbers, but enough for BLAS to be busy.
[[nodiscard]] constexpr std::size_t block_rows(std::size_t k) noexcept {
    return std::clamp<std::size_t>((std::size_t{1} << 15) / std::max<std::size_t>(k, 1), 64, 1024);
}

// Numbers from row to row of a block for gram_tile.hpp: an odd number of cache lines, so that a
// column does not crowd into a few sets of the cache.
[[nodiscard]] constexpr std::size_t tile_stride(std::size_t k) noexcept {
    return ((k + gram_lanes - 1) / gram_lanes | 1) * gram_lanes;
}

}  // namespace detail

template <class Pack>
void add_gram(std::size_t n, std::size_t k, Pack&& pack, MatrixView<double> out, int n_threads) {
    assert(out.rows >= k && out.cols >= k);
    const bool own = k <= detail::own_columns && fast_fma();
    const std::size_t stride = own ? detail::tile_stride(k) : k;
    const std::size_t block = own ? detail::tile_rows : detail::block_rows(k);
    const std::size_t parts = detail::part_count(n, k);
    const std::size_t per_part = std::max<std::size_t>(chunk_count(n, parts), 1);
    std::vector<AlignedBuffer<double>> partial(parts);
    parallel_chunks(n, per_part, n_threads, [&](Range part) {
        AlignedBuffer<double> packed(block * stride);
        std::fill(packed.begin(), packed.end(), 0.0);
        AlignedBuffer<double> sum(stride * stride);
        std::fill(sum.begin(), sum.end(), 0.0);
        for (std::size_t first = part.begin; first < part.end; first += block) {
            const Range rows{first, std::min(part.end, first + block), part.index};
            const std::size_t count = rows.end - rows.begin;
            pack(rows, packed.data(), stride);
            if (own) {
                dispatch([&](auto level) {
                    GramTile<decltype(level)>::add(packed.data(), count, stride, sum.data());
                });
            } else {
                syrk(Op::transpose, 1.0, MatrixView<const double>{packed.data(), count, k}, 1.0,
                     MatrixView<double>{sum.data(), k, k});
            }
        }
        partial[part.index] = std::move(sum);
    });
    for (const AlignedBuffer<double>& sum : partial) {
        for (std::size_t a = 0; a < k && sum.size() > 0; ++a) {
            for (std::size_t b = 0; b <= a; ++b) {
                out(a, b) += sum[a * stride + b];
            }
        }
    }
}

}  // namespace assay::linear

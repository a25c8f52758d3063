// Sums of products of columns, over packed blocks of rows.
//
//     out = sum_i a_i a_i'        lower triangle, k x k
//
// The rows a_i do not exist in memory: `pack(range, buffer)` writes the rows of a block
// (centred, weighted, some columns only) into a buffer that stays in the cache, and BLAS
// multiplies them there. So the table is read once and never copied.
//
// Rows are cut into at most `max_parts` parts that depend on n and k only; each has its own
// sum, and the sums are added in order: the bits do not depend on n_threads.
//
// Needs   a BlasScope lives; pack fills (range.end - range.begin) * k values, row-major;
//         out has k * k values.
// Cost    n k^2 / 2 multiplications; (parts + 1) k^2 + block k numbers of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/blas.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"

namespace assay::linear {

namespace detail {

inline constexpr std::size_t max_parts = 16;
inline constexpr std::size_t rows_per_part = 1024;
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

}  // namespace detail

template <class Pack>
void add_gram(std::size_t n, std::size_t k, Pack&& pack, MatrixView<double> out, int n_threads) {
    const std::size_t parts = detail::part_count(n, k);
    const std::size_t per_part = chunk_count(n, parts);
    std::vector<AlignedBuffer<double>> partial(parts);
    const std::size_t block = detail::block_rows(k);
    parallel_chunks(n, std::max<std::size_t>(per_part, 1), n_threads, [&](Range part) {
        AlignedBuffer<double> packed(block * k);
        double* sum = out.data;
        if (part.index > 0) {
            partial[part.index] = AlignedBuffer<double>(k * k);
            std::fill(partial[part.index].begin(), partial[part.index].end(), 0.0);
            sum = partial[part.index].data();
        }
        for (std::size_t first = part.begin; first < part.end; first += block) {
            const Range rows{first, std::min(part.end, first + block), part.index};
            pack(rows, packed.data());
            syrk(Op::transpose, 1.0,
                 MatrixView<const double>{packed.data(), rows.end - rows.begin, k}, 1.0,
                 MatrixView<double>{sum, k, k});
        }
    });
    for (std::size_t p = 1; p < parts; ++p) {
        if (partial[p].size() > 0) {
            for (std::size_t t = 0; t < k * k; ++t) {
                out.data[t] += partial[p][t];
            }
        }
    }
}

}  // namespace assay::linear

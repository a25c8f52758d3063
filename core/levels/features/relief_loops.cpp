// assay/features/relief_loops.hpp, once per CPU level.
#include "assay/features/relief_loops.hpp"

#include <cstddef>

#include "assay/common/dispatch.hpp"
#include "assay/common/simd.hpp"

namespace assay::features {
namespace {

// |a - b|; of nominal codes, which are whole numbers, 1 where they differ.
template <class Level, bool is_numeric>
[[gnu::always_inline]] inline typename Simd<float, Level>::Register difference(
    typename Simd<float, Level>::Register a, typename Simd<float, Level>::Register b) noexcept {
    using V = Simd<float, Level>;
    const typename V::Register gap = abs(V{a - b}).value;
    if constexpr (is_numeric) {
        return gap;
    } else {
        const typename V::Register one = V::all(1.0F).value;
        return gap < one ? gap : one;
    }
}

template <class Level, bool is_numeric, std::size_t count>
[[gnu::always_inline]] inline void block(const float* const* queries, const float* panel,
                                         std::size_t first, std::size_t last, float* distance,
                                         std::size_t stride) noexcept {
    using V = Simd<float, Level>;
    constexpr std::size_t n_vectors = panel_rows / V::size;
    typename V::Register sum[count][n_vectors] = {};
    for (std::size_t a = first; a < last; ++a) {
        for (std::size_t v = 0; v < n_vectors; ++v) {
            const auto row = V::load(panel + a * panel_rows + v * V::size).value;
            for (std::size_t q = 0; q < count; ++q) {
                const auto x = V::all(queries[q][a]).value;
                sum[q][v] = sum[q][v] + difference<Level, is_numeric>(x, row);
            }
        }
    }
    for (std::size_t q = 0; q < count; ++q) {
        for (std::size_t v = 0; v < n_vectors; ++v) {
            float* at = distance + q * stride + v * V::size;
            (V::load(at) + V{sum[q][v]}).store(at);
        }
    }
}

template <class Level, bool is_numeric>
[[gnu::always_inline]] inline void blocks(const float* const* queries, std::size_t n_queries,
                                          const float* panels, std::size_t n_panels,
                                          std::size_t n_columns, std::size_t begin, std::size_t end,
                                          float* distance, std::size_t stride) noexcept {
    // As many queries at a time as the level has registers for.
    constexpr std::size_t together = Level::vector_bytes >= 32 ? 8 : 2;
    for (std::size_t first = begin; first < end; first += column_block) {
        const std::size_t last = first + column_block < end ? first + column_block : end;
        for (std::size_t p = 0; p < n_panels; ++p) {
            const float* panel = panels + p * n_columns * panel_rows;
            float* at = distance + p * panel_rows;
            std::size_t q = 0;
            for (; q + together <= n_queries; q += together) {
                block<Level, is_numeric, together>(queries + q, panel, first, last, at + q * stride,
                                                   stride);
            }
            for (; q < n_queries; ++q) {
                block<Level, is_numeric, 1>(queries + q, panel, first, last, at + q * stride,
                                            stride);
            }
        }
    }
}

}  // namespace

template <class Level>
void ReliefLoops<Level>::add_panels(const float* const* queries, std::size_t n_queries,
                                    const float* panels, std::size_t n_panels,
                                    std::size_t n_numeric, std::size_t n_columns, float* distance,
                                    std::size_t stride) noexcept {
    blocks<Level, true>(queries, n_queries, panels, n_panels, n_columns, 0, n_numeric, distance,
                        stride);
    blocks<Level, false>(queries, n_queries, panels, n_panels, n_columns, n_numeric, n_columns,
                         distance, stride);
}

template <class Level>
void ReliefLoops<Level>::add_gap(float value, float fallback, bool is_numeric, const float* column,
                                 std::size_t n_rows, float* distance) noexcept {
    if (is_numeric) {
        for (std::size_t j = 0; j < n_rows; ++j) {
            const float y = column[j];
            const float gap = value < y ? y - value : value - y;
            distance[j] += y != y ? fallback : gap;
        }
    } else {
        for (std::size_t j = 0; j < n_rows; ++j) {
            const float y = column[j];
            const float gap = value != y ? 1.0F : 0.0F;
            distance[j] += y != y ? fallback : gap;
        }
    }
}

template <class Level>
void ReliefLoops<Level>::add_expected(const float* expected, std::size_t n_rows,
                                      float* distance) noexcept {
    for (std::size_t j = 0; j < n_rows; ++j) {
        distance[j] += expected[j];
    }
}

template <class Level>
void ReliefLoops<Level>::add_weighted(const float* x, const float* const (&rows)[rows_together],
                                      const float (&weight)[rows_together], std::size_t n_numeric,
                                      std::size_t n_columns, double* total) noexcept {
    const float* r0 = rows[0];
    const float* r1 = rows[1];
    const float* r2 = rows[2];
    const float* r3 = rows[3];
    const float w0 = weight[0];
    const float w1 = weight[1];
    const float w2 = weight[2];
    const float w3 = weight[3];
    for (std::size_t a = 0; a < n_numeric; ++a) {
        const float sum =
            ((w0 * __builtin_fabsf(x[a] - r0[a]) + w1 * __builtin_fabsf(x[a] - r1[a])) +
             w2 * __builtin_fabsf(x[a] - r2[a])) +
            w3 * __builtin_fabsf(x[a] - r3[a]);
        total[a] += static_cast<double>(sum);
    }
    for (std::size_t a = n_numeric; a < n_columns; ++a) {
        const float sum = (((x[a] != r0[a] ? w0 : 0.0F) + (x[a] != r1[a] ? w1 : 0.0F)) +
                           (x[a] != r2[a] ? w2 : 0.0F)) +
                          (x[a] != r3[a] ? w3 : 0.0F);
        total[a] += static_cast<double>(sum);
    }
}

template struct ReliefLoops<ASSAY_LEVEL>;

}  // namespace assay::features

// assay/linear/gram_tile.hpp, once per CPU level.
#include "assay/linear/gram_tile.hpp"

#include "assay/common/dispatch.hpp"
#include "assay/common/simd.hpp"

namespace assay::linear {
namespace {

template <class Level>
using Real = typename Simd<double, Level>::Register;

// a b + c, rounded once.
template <class R>
[[gnu::always_inline]] inline R fused(R a, R b, R c) noexcept {
#ifdef __AVX512F__
    if constexpr (sizeof(R) == 64) {
        return _mm512_fmadd_pd(a, b, c);
    }
#endif
#ifdef __FMA__
    if constexpr (sizeof(R) == 32) {
        return _mm256_fmadd_pd(a, b, c);
    }
#endif
    for (std::size_t lane = 0; lane < sizeof(R) / sizeof(double); ++lane) {
        c[lane] = __builtin_fma(a[lane], b[lane], c[lane]);
    }
    return c;
}

// n_left columns from `left` on against n_right vectors of columns from `right` on.
template <class Level, std::size_t n_left, std::size_t n_right>
[[gnu::always_inline]] inline void block(const double* left, const double* right,
                                         std::size_t n_rows, std::size_t stride,
                                         double* gram) noexcept {
    using V = Simd<double, Level>;
    using R = Real<Level>;
    R sum[n_left][n_right] = {};
    for (std::size_t i = 0; i < n_rows; ++i) {
        R other[n_right];
        for (std::size_t v = 0; v < n_right; ++v) {
            other[v] = V::load(right + v * V::size).value;
        }
        for (std::size_t a = 0; a < n_left; ++a) {
            const R one = V::all(left[a]).value;
            for (std::size_t v = 0; v < n_right; ++v) {
                sum[a][v] = fused(one, other[v], sum[a][v]);
            }
        }
        left += stride;
        right += stride;
    }
    for (std::size_t a = 0; a < n_left; ++a) {
        for (std::size_t v = 0; v < n_right; ++v) {
            double* to = gram + a * stride + v * V::size;
            (V::load(to) + V{sum[a][v]}).store(to);
        }
    }
}

}  // namespace

template <class Level>
void GramTile<Level>::add(const double* rows, std::size_t n_rows, std::size_t stride,
                          double* gram) noexcept {
    // As many sums as the level has registers for.
    constexpr std::size_t width = Simd<double, Level>::size;
    constexpr std::size_t n_left = width == 8 ? 8 : 4;
    constexpr std::size_t n_right = width == 2 ? 1 : 3;
    for (std::size_t j = 0; j < stride; j += n_left) {
        const std::size_t end = (j / gram_lanes + 1) * gram_lanes;  // up to the diagonal
        double* row = gram + j * stride;
        std::size_t k = 0;
        for (; k + n_right * width <= end; k += n_right * width) {
            block<Level, n_left, n_right>(rows + j, rows + k, n_rows, stride, row + k);
        }
        if (k + 2 * width <= end) {
            block<Level, n_left, 2>(rows + j, rows + k, n_rows, stride, row + k);
            k += 2 * width;
        }
        if (k < end) {
            block<Level, n_left, 1>(rows + j, rows + k, n_rows, stride, row + k);
        }
    }
}

template struct GramTile<ASSAY_LEVEL>;

}  // namespace assay::linear

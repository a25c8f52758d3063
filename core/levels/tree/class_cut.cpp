// assay/tree/class_cut.hpp, once per CPU level.
#include "assay/tree/class_cut.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace assay::tree {
namespace {

// Of the left side when a bin has joined it: squares, products with the node's, and weight.
struct Sums {
    std::int32_t squares;
    std::int32_t products;
    std::int32_t weight;
    std::int32_t unused;
};

#ifdef __AVX2__

template <class Level, std::size_t lanes>
[[gnu::always_inline]] inline void sum_left(const std::int16_t* cells, std::size_t n_bins,
                                            const std::int16_t* total, Sums* out) noexcept {
    if constexpr (lanes == 8) {
        const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(total));
        const __m128i one = _mm_set1_epi16(1);
        __m128i left = _mm_setzero_si128();
        for (std::size_t b = 0; b < n_bins; ++b) {
            const __m128i cell = _mm_loadu_si128(reinterpret_cast<const __m128i*>(cells + 8 * b));
            left = _mm_add_epi16(left, cell);
            const __m128i weight = _mm_madd_epi16(left, one);
            const __m128i sums = _mm_hadd_epi32(
                _mm_hadd_epi32(_mm_madd_epi16(left, left), _mm_madd_epi16(left, all)),
                _mm_hadd_epi32(weight, weight));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + b), sums);
        }
    } else {
        constexpr std::size_t n = lanes / 16;
        const __m256i one = _mm256_set1_epi16(1);
        __m256i all[n];
        __m256i left[n];
        for (std::size_t v = 0; v < n; ++v) {
            all[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(total + 16 * v));
            left[v] = _mm256_setzero_si256();
        }
        for (std::size_t b = 0; b < n_bins; ++b) {
            __m256i squares = _mm256_setzero_si256();
            __m256i products = _mm256_setzero_si256();
            __m256i weight = _mm256_setzero_si256();
            for (std::size_t v = 0; v < n; ++v) {
                const __m256i cell = _mm256_loadu_si256(
                    reinterpret_cast<const __m256i*>(cells + lanes * b + 16 * v));
                left[v] = _mm256_add_epi16(left[v], cell);
                squares = _mm256_add_epi32(squares, _mm256_madd_epi16(left[v], left[v]));
                products = _mm256_add_epi32(products, _mm256_madd_epi16(left[v], all[v]));
                weight = _mm256_add_epi32(weight, _mm256_madd_epi16(left[v], one));
            }
            const __m256i halves = _mm256_hadd_epi32(_mm256_hadd_epi32(squares, products),
                                                     _mm256_hadd_epi32(weight, weight));
            _mm_storeu_si128(
                reinterpret_cast<__m128i*>(out + b),
                _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
        }
    }
}

#else

template <class Level, std::size_t lanes>
[[gnu::always_inline]] inline void sum_left(const std::int16_t* cells, std::size_t n_bins,
                                            const std::int16_t* total, Sums* out) noexcept {
    std::int16_t left[lanes] = {};
    for (std::size_t b = 0; b < n_bins; ++b) {
        Sums sums{};
        for (std::size_t k = 0; k < lanes; ++k) {
            left[k] = static_cast<std::int16_t>(left[k] + cells[lanes * b + k]);
            sums.squares += std::int32_t{left[k]} * left[k];
            sums.products += std::int32_t{left[k]} * total[k];
            sums.weight += left[k];
        }
        out[b] = sums;
    }
}

#endif

}  // namespace

template <class Level>
ClassCut ClassCutSearch<Level>::dense(const std::int16_t* cells, std::size_t n_bins,
                                      std::size_t lanes, const std::int16_t* total,
                                      double min_weight) noexcept {
    Sums sums[256];
    switch (lanes) {
        case 8:
            sum_left<Level, 8>(cells, n_bins, total, sums);
            break;
        case 16:
            sum_left<Level, 16>(cells, n_bins, total, sums);
            break;
        case 32:
            sum_left<Level, 32>(cells, n_bins, total, sums);
            break;
        default:
            sum_left<Level, 64>(cells, n_bins, total, sums);
    }
    const double W = sums[n_bins - 1].weight;
    const double squares = sums[n_bins - 1].squares;
    // Divided everywhere and chosen from after: a branch would keep the division out of vectors.
    double scores[256];
    for (std::size_t b = 0; b < n_bins; ++b) {
        const double w = sums[b].weight;
        const double rest = W - w;
        const double a = sums[b].squares;
        const double right = squares - 2.0 * sums[b].products + a;
        scores[b] = (a * rest + right * w) / (w * rest);
    }
    ClassCut cut;
    for (std::size_t b = 0; b < n_bins; ++b) {
        // Not a number, and so not better, where a side is empty; no better where the bin is.
        if (scores[b] > cut.score && sums[b].weight >= min_weight &&
            W - sums[b].weight >= min_weight) {
            cut.score = scores[b];
            cut.last_left = static_cast<std::int32_t>(b);
        }
    }
    if (cut.last_left >= 0) {
        auto b = static_cast<std::size_t>(cut.last_left);
        const std::int32_t left = sums[b].weight;
        while (sums[b].weight == left) {
            ++b;
        }
        cut.first_right = static_cast<std::int32_t>(b);
    }
    return cut;
}

template struct ClassCutSearch<ASSAY_LEVEL>;

}  // namespace assay::tree

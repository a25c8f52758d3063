// Sixteen 32-bit numbers sorted in one AVX-512 register: for files in core/levels/ only.
//
// Batcher's bitonic network: ten steps of exchange, one permutation, minimum and maximum
// each. Internal linkage and inlined: no copy can leave its CPU level.
#pragma once

#ifdef __AVX512F__
#include <immintrin.h>

namespace assay::tree {

// One step of a sorting network: lanes whose bit is set in `upper` take the larger value.
template <class Permute>
[[gnu::always_inline]] static inline __m512i exchanged(__m512i x, __mmask16 upper,
                                                       Permute permute) noexcept {
    const __m512i other = permute(x);
    return _mm512_mask_max_epu32(_mm512_min_epu32(x, other), upper, x, other);
}

template <int mask>
[[gnu::always_inline]] static inline __m512i neighbours(__m512i x) noexcept {
    if constexpr (mask == 1) {
        return _mm512_shuffle_epi32(x, static_cast<_MM_PERM_ENUM>(0xB1));
    } else if constexpr (mask == 2) {
        return _mm512_shuffle_epi32(x, static_cast<_MM_PERM_ENUM>(0x4E));
    } else if constexpr (mask == 3) {
        return _mm512_shuffle_epi32(x, static_cast<_MM_PERM_ENUM>(0x1B));
    } else if constexpr (mask == 4) {
        return _mm512_permutex_epi64(x, 0x4E);
    } else if constexpr (mask == 7) {
        return _mm512_permutexvar_epi32(
            _mm512_set_epi32(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7), x);
    } else if constexpr (mask == 8) {
        return _mm512_shuffle_i64x2(x, x, 0x4E);
    } else {
        return _mm512_permutexvar_epi32(
            _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), x);
    }
}

template <int mask>
[[gnu::always_inline]] static inline __m512i step(__m512i x, __mmask16 upper) noexcept {
    return exchanged(x, upper,
                     [](__m512i y) __attribute__((always_inline)) { return neighbours<mask>(y); });
}

// Bitonic merge of 16 lanes.
[[gnu::always_inline]] static inline __m512i merged(__m512i x) noexcept {
    x = step<8>(x, 0xFF00);
    x = step<4>(x, 0xF0F0);
    x = step<2>(x, 0xCCCC);
    return step<1>(x, 0xAAAA);
}

[[gnu::always_inline]] static inline __m512i in_order(__m512i x) noexcept {
    x = step<1>(x, 0xAAAA);
    x = step<3>(x, 0xCCCC);
    x = step<1>(x, 0xAAAA);
    x = step<7>(x, 0xF0F0);
    x = step<2>(x, 0xCCCC);
    x = step<1>(x, 0xAAAA);
    x = step<15>(x, 0xFF00);
    x = step<4>(x, 0xF0F0);
    x = step<2>(x, 0xCCCC);
    return step<1>(x, 0xAAAA);
}

}  // namespace assay::tree

#endif

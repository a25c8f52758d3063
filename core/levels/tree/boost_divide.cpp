// assay/tree/boost_divide.hpp, once per CPU level.
#include "assay/tree/boost_divide.hpp"

#include "assay/common/dispatch.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace assay::tree {

template <class Level>
std::size_t BoostDivide<Level>::run(const std::uint8_t* codes, int peek, const std::uint32_t* set,
                                    const std::int32_t* rows, std::size_t count, std::int32_t* left,
                                    std::int32_t* right) noexcept {
    std::size_t i = 0;
    std::size_t l = 0;
#ifdef __AVX512F__
    if (peek != 0) {
        // A gather loads four bytes: the code is the first or the last of them.
        const std::uint8_t* base = peek > 0 ? codes : codes - 3;
        const __m512i drop = _mm512_set1_epi32(peek > 0 ? 0 : 24);
        const __m512i byte = _mm512_set1_epi32(255);
        const __m512i low = _mm512_set1_epi32(31);
        const __m512i one = _mm512_set1_epi32(1);
        const __m512i words = _mm512_maskz_loadu_epi32(0xFF, set);
        for (; i + 16 <= count; i += 16) {
            const __m512i row = _mm512_loadu_si512(rows + i);
            const __m512i four =
                _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xFFFF, row, base, 1);
            const __m512i code =
                _mm512_and_si512(_mm512_maskz_srlv_epi32(0xFFFF, four, drop), byte);
            const __m512i word = _mm512_maskz_permutexvar_epi32(
                0xFFFF, _mm512_maskz_srli_epi32(0xFFFF, code, 5), words);
            const __m512i bit = _mm512_maskz_srlv_epi32(0xFFFF, word, _mm512_and_si512(code, low));
            const __mmask16 goes = _mm512_test_epi32_mask(bit, one);
            // Compressed in a register, stored whole: to store under the mask is slow on
            // some processors. What is too much is overwritten or past the end of neither side.
            _mm512_storeu_si512(left + l, _mm512_maskz_compress_epi32(goes, row));
            _mm512_storeu_si512(right + (i - l),
                                _mm512_maskz_compress_epi32(static_cast<__mmask16>(~goes), row));
            l += static_cast<std::size_t>(__builtin_popcount(goes));
        }
    }
#else
    static_cast<void>(peek);
#endif
    std::uint8_t goes_left[256];
    for (unsigned code = 0; code < 256; ++code) {
        goes_left[code] = static_cast<std::uint8_t>(set[code / 32] >> (code % 32) & 1U);
    }
    std::size_t r = i - l;
    for (; i < count; ++i) {
        const std::int32_t row = rows[i];
        const std::size_t go = goes_left[codes[row]];
        left[l] = row;
        right[r] = row;
        l += go;
        r += 1 - go;
    }
    return l;
}

template struct BoostDivide<ASSAY_LEVEL>;

}  // namespace assay::tree

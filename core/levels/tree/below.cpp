// assay/tree/below.hpp, once per CPU level.
#include "assay/tree/below.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
// GCC 12 takes the undefined lanes inside its own intrinsics for ours (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace assay::tree {
namespace {

// A loop that the compiler turns into vectors.
template <class Level, class Code>
[[gnu::always_inline]] inline std::pair<int, int> range_of(const Code* codes,
                                                           std::size_t n) noexcept {
    Code low = codes[0];
    Code high = codes[0];
    for (std::size_t i = 1; i < n; ++i) {
        low = codes[i] < low ? codes[i] : low;
        high = codes[i] > high ? codes[i] : high;
    }
    return {low, high};
}

template <class Level>
[[gnu::always_inline]] inline std::uint64_t unit(std::uint32_t load) noexcept {
    return std::uint64_t{load & 0xFFFF0000U} << 16 | (load & 0xFFFFU);
}

}  // namespace

template <class Level>
std::pair<int, int> Below<Level>::range(const std::uint8_t* codes, std::size_t n) noexcept {
    return range_of<Level>(codes, n);
}

template <class Level>
std::pair<int, int> Below<Level>::range(const std::uint16_t* codes, std::size_t n) noexcept {
    return range_of<Level>(codes, n);
}

template <class Level>
std::uint64_t Below<Level>::weights(const Pair* entries, const std::uint8_t* codes, std::size_t n,
                                    std::uint8_t last) noexcept {
    std::uint64_t sum = 0;
    std::size_t i = 0;
#ifdef __AVX512F__
    __m512i sums = _mm512_setzero_si512();
    const __m128i limit = _mm_set1_epi8(static_cast<char>(last));
    const __m512i ones = _mm512_set1_epi64(0xFFFF);
    for (; i < n; i += 8) {
        const __mmask8 inside =
            n - i < 8 ? static_cast<__mmask8>((1U << (n - i)) - 1) : static_cast<__mmask8>(0xFF);
        const __mmask8 below = static_cast<__mmask8>(
            _mm_mask_cmple_epu8_mask(inside, _mm_maskz_loadu_epi8(inside, codes + i), limit));
        const __m512i load = _mm512_srli_epi64(_mm512_maskz_loadu_epi64(below, entries + i), 32);
        const __m512i weight = _mm512_slli_epi64(_mm512_srli_epi64(load, 16), 32);
        sums = _mm512_add_epi64(sums, _mm512_or_si512(weight, _mm512_and_si512(load, ones)));
    }
    sum = static_cast<std::uint64_t>(_mm512_reduce_add_epi64(sums));
#else
    for (; i < n; ++i) {
        const std::uint32_t keep = 0U - static_cast<std::uint32_t>(codes[i] <= last);
        sum += unit<Level>(entries[i].load & keep);
    }
#endif
    return sum;
}

template <class Level>
void Below<Level>::weights4(const Pair* entries, const std::uint8_t* codes, std::size_t n,
                            const std::uint8_t* last, std::uint64_t* sums) noexcept {
#ifdef __AVX512F__
    __m512i sum[4];
    __m128i limit[4];
    for (std::size_t g = 0; g < 4; ++g) {
        sum[g] = _mm512_setzero_si512();
        limit[g] = _mm_set1_epi8(static_cast<char>(last[g]));
    }
    const __m512i ones = _mm512_set1_epi64(0xFFFF);
    for (std::size_t i = 0; i < n; i += 8) {
        const __mmask8 inside =
            n - i < 8 ? static_cast<__mmask8>((1U << (n - i)) - 1) : static_cast<__mmask8>(0xFF);
        const __m512i load = _mm512_srli_epi64(_mm512_maskz_loadu_epi64(inside, entries + i), 32);
        const __m512i unit = _mm512_or_si512(_mm512_slli_epi64(_mm512_srli_epi64(load, 16), 32),
                                             _mm512_and_si512(load, ones));
#pragma GCC unroll 4
        for (std::size_t g = 0; g < 4; ++g) {
            const __m128i code = _mm_maskz_loadu_epi8(inside, codes + g * n + i);
            const auto below =
                static_cast<__mmask8>(_mm_mask_cmple_epu8_mask(inside, code, limit[g]));
            sum[g] = _mm512_mask_add_epi64(sum[g], below, sum[g], unit);
        }
    }
#pragma GCC unroll 4
    for (std::size_t g = 0; g < 4; ++g) {
        sums[g] = static_cast<std::uint64_t>(_mm512_reduce_add_epi64(sum[g]));
    }
#else
    for (std::size_t g = 0; g < 4; ++g) {
        sums[g] = weights(entries, codes + g * n, n, last[g]);
    }
#endif
}

template struct Below<ASSAY_LEVEL>;

}  // namespace assay::tree

// assay/tree/predict_masks.hpp, once per CPU level.
#include "assay/tree/predict_masks.hpp"

#ifdef ASSAY_X86
#include <immintrin.h>
#endif
#ifdef __AVX512F__
// GCC 12 takes the undefined lanes inside its own intrinsics for ours (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace assay::tree {
namespace {

// How many of 16 numbers are below x.
template <class Level>
[[gnu::always_inline]] inline std::size_t below(const double* cuts, double x) noexcept {
#ifdef __AVX512F__
    const __m512d all = _mm512_set1_pd(x);
    const unsigned a = _mm512_cmp_pd_mask(_mm512_loadu_pd(cuts), all, _CMP_LT_OQ);
    const unsigned b = _mm512_cmp_pd_mask(_mm512_loadu_pd(cuts + 8), all, _CMP_LT_OQ);
    return static_cast<std::size_t>(__builtin_popcount(a | b << 8));
#else
    std::size_t count = 0;
    for (std::size_t i = 0; i < 16; ++i) {
        count += cuts[i] < x ? 1 : 0;
    }
    return count;
#endif
}

// Two rounds of 16: first the ends of the parts of 16, then inside one of them.
template <class Level, class T>
[[gnu::always_inline]] inline void code_of(const double* cuts, const T* x, std::size_t stride,
                                           std::size_t n, std::uint8_t* codes) noexcept {
    double ends[16];
    for (std::size_t i = 0; i < 16; ++i) {
        ends[i] = cuts[16 * i + 15];
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double value = static_cast<double>(x[i * stride]);
        std::size_t part = below<Level>(ends, value);
        part = part < 15 ? part : 15;
        const std::size_t code = 16 * part + below<Level>(cuts + 16 * part, value);
        codes[i] = static_cast<std::uint8_t>(value != value ? 255 : code);
    }
}

// Which of 64 codes are in a set.
template <class Level>
[[gnu::always_inline]] inline std::uint64_t in_set(const CodeSet& set,
                                                   const std::uint8_t* code) noexcept {
#ifdef __AVX2__
    const __m256i low =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(set.bytes)));
    const __m256i high = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(set.bytes + 16)));
    const __m256i powers = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    const __m256i half = _mm256_set1_epi8(15);
    std::uint64_t out = 0;
    for (std::size_t k = 0; k < 64; k += 32) {
        const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(code + k));
        const __m256i first = _mm256_and_si256(x, half);
        const __m256i second = _mm256_and_si256(_mm256_srli_epi16(x, 4), half);
        // The sign of a code says which table it asks.
        const __m256i bits = _mm256_blendv_epi8(_mm256_shuffle_epi8(low, first),
                                                _mm256_shuffle_epi8(high, first), x);
        const __m256i bit = _mm256_shuffle_epi8(powers, second);
        const __m256i is_in = _mm256_cmpeq_epi8(_mm256_and_si256(bits, bit), bit);
        out |= std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(is_in))} << k;
    }
    return out;
#else
    std::uint64_t out = 0;
    for (std::size_t k = 0; k < 64; ++k) {
        const unsigned c = code[k];
        out |= std::uint64_t{set.bytes[c / 128 * 16 + c % 16] >> (c / 16 % 8) & 1U} << k;
    }
    return out;
#endif
}

// Which of 64 rows go left at a numeric split.
template <class Level>
[[gnu::always_inline]] inline std::uint64_t below_cut(const MaskNode& node,
                                                      const std::uint8_t* code) noexcept {
    std::uint64_t left = 0;
#if defined(__AVX512F__)
    const __m512i x = _mm512_loadu_si512(code);
    left = _mm512_cmple_epu8_mask(x, _mm512_set1_epi8(static_cast<char>(node.cut)));
    if (node.missing_left != 0) {
        left |= _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(-1));
    }
#elif defined(ASSAY_X86)
    const __m128i limit = _mm_set1_epi8(static_cast<char>(node.cut));
    const __m128i missing = _mm_set1_epi8(static_cast<char>(node.missing_left != 0 ? -1 : 0));
    for (std::size_t k = 0; k < 64; k += 16) {
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(code + k));
        const __m128i below = _mm_cmpeq_epi8(_mm_min_epu8(x, limit), x);
        const __m128i none =
            _mm_and_si128(missing, _mm_cmpeq_epi8(x, _mm_set1_epi8(static_cast<char>(-1))));
        const int bits = _mm_movemask_epi8(_mm_or_si128(below, none));
        left |= std::uint64_t{static_cast<std::uint32_t>(bits)} << k;
    }
#else
    for (std::size_t k = 0; k < 64; ++k) {
        const bool goes = code[k] <= node.cut || (node.missing_left != 0 && code[k] == 255);
        left |= std::uint64_t{goes} << k;
    }
#endif
    return left;
}

}  // namespace

template <class Level>
void MaskWalk<Level>::code(const double* cuts, const double* x, std::size_t stride, std::size_t n,
                           std::uint8_t* codes) noexcept {
    code_of<Level>(cuts, x, stride, n, codes);
}

template <class Level>
void MaskWalk<Level>::code(const double* cuts, const float* x, std::size_t stride, std::size_t n,
                           std::uint8_t* codes) noexcept {
    code_of<Level>(cuts, x, stride, n, codes);
}

template <class Level>
void MaskWalk<Level>::leaves(const MaskNode* nodes, std::size_t n_nodes, const CodeSet* sets,
                             const std::uint16_t* leaf, std::size_t n_leaves,
                             const std::uint8_t* codes, std::size_t stride, std::uint64_t* reach,
                             std::uint8_t* out) noexcept {
    reach[0] = ~std::uint64_t{0};
    for (std::size_t i = 0; i < n_nodes; ++i) {
        const MaskNode node = nodes[i];
        const std::uint8_t* code = codes + node.column * stride;
        const std::uint64_t left =
            node.set < 0 ? below_cut<Level>(node, code) : in_set<Level>(sets[node.set], code);
        reach[node.left] = reach[node.at] & left;
        reach[node.left + 1] = reach[node.at] & ~left;
    }
#ifdef __AVX512F__
    __m512i which = _mm512_setzero_si512();
    for (std::size_t k = 0; k < n_leaves; ++k) {
        which = _mm512_mask_mov_epi8(which, reach[leaf[k]], _mm512_set1_epi8(static_cast<char>(k)));
    }
    _mm512_storeu_si512(out, which);
#else
    for (std::size_t k = 0; k < n_leaves; ++k) {
        for (std::uint64_t rest = reach[leaf[k]]; rest != 0; rest &= rest - 1) {
            out[__builtin_ctzll(rest)] = static_cast<std::uint8_t>(k);
        }
    }
#endif
}

template struct MaskWalk<ASSAY_LEVEL>;

}  // namespace assay::tree

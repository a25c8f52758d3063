// assay/tree/block.hpp, once per CPU level.
#include "assay/tree/block.hpp"

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

template <class Level>
[[gnu::always_inline]] inline std::uint64_t count(std::uint64_t rows) noexcept {
    return static_cast<std::uint64_t>(__builtin_popcountll(rows));
}

template <class Level>
[[gnu::always_inline]] inline std::size_t first_of(std::uint64_t rows) noexcept {
    return static_cast<std::size_t>(__builtin_ctzll(rows));
}

// Sums have 32 partial ones, row i in number i % 32, four vectors of eight; these become one in a
// fixed order.
template <class Level>
[[gnu::always_inline]] inline double folded(const double* part) noexcept {
    double lane[8];
    for (std::size_t i = 0; i < 8; ++i) {
        lane[i] = (part[i] + part[i + 8]) + (part[i + 16] + part[i + 24]);
    }
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

#ifdef __AVX512F__

[[gnu::always_inline]] inline double folded(const __m512d* sum) noexcept {
    const __m512d x = _mm512_add_pd(_mm512_add_pd(sum[0], sum[1]), _mm512_add_pd(sum[2], sum[3]));
    const __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd(x, 1));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

// The smallest of 64 bytes.
[[gnu::always_inline]] inline std::uint32_t smallest(__m512i x) noexcept {
    const __m256i half =
        _mm256_min_epu8(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
    const __m128i quarter =
        _mm_min_epu8(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    // Of each two bytes the smaller one, in words: there is an instruction for those.
    const __m128i words = _mm_min_epu8(quarter, _mm_srli_epi16(quarter, 8));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(words))) & 0xFFU;
}

#else

template <class Level>
struct Bytes {
    static constexpr std::size_t size = Level::vector_bytes;
    typedef std::uint8_t Vector __attribute__((vector_size(size), may_alias, aligned(1)));
};

// 64 codes from row 64 w on; those beyond the last row are 0.
template <class Level>
[[gnu::always_inline]] inline const std::uint8_t* codes_at(const std::uint8_t* column,
                                                           std::size_t n_rows, std::size_t w,
                                                           std::uint8_t* room) noexcept {
    const std::size_t first = w * word_rows;
    if (first + word_rows <= n_rows) {
        return column + first;
    }
    for (std::size_t i = 0; i < word_rows; ++i) {
        room[i] = first + i < n_rows ? column[first + i] : 0;
    }
    return room;
}

// A byte of ones for each bit. Eight bits at a time: a copy in each byte, of which one stays.
template <class Level>
[[gnu::always_inline]] inline void spread(std::uint64_t rows, std::uint8_t* inside) noexcept {
    for (std::size_t i = 0; i < 8; ++i) {
        std::uint64_t x = (rows >> (8 * i) & 0xFFU) * 0x0101010101010101U & 0x8040201008040201U;
        x = ((x + 0x00406070787C7E7FU) >> 7 & 0x0101010101010101U) * 0xFFU;
        __builtin_memcpy(inside + 8 * i, &x, 8);
    }
}

#endif

template <class Level>
[[gnu::always_inline]] inline void range_of(const BlockCodes& block, std::size_t f,
                                            const std::uint64_t* rows, std::size_t words,
                                            std::uint8_t& low, std::uint8_t& high) noexcept {
    const std::uint8_t* column = block.codes + f * block.stride;
#ifdef __AVX512F__
    const __m512i all = _mm512_set1_epi8(-1);
    __m512i least = _mm512_mask_loadu_epi8(all, rows[0], column);
    __m512i most = _mm512_maskz_loadu_epi8(rows[0], column);
    for (std::size_t w = 1; w < words; ++w) {
        const __m512i code = _mm512_maskz_loadu_epi8(rows[w], column + w * word_rows);
        most = _mm512_max_epu8(most, code);
        least = _mm512_mask_min_epu8(least, rows[w], least, code);
    }
    low = static_cast<std::uint8_t>(smallest(least));
    high = static_cast<std::uint8_t>(~smallest(_mm512_andnot_si512(most, all)) & 0xFFU);
#else
    using Vector = typename Bytes<Level>::Vector;
    constexpr std::size_t size = Bytes<Level>::size;
    Vector least = Vector{} - 1;
    Vector most = Vector{};
    alignas(64) std::uint8_t inside[word_rows];
    alignas(64) std::uint8_t room[word_rows];
    for (std::size_t w = 0; w < words; ++w) {
        if (rows[w] == 0) {
            continue;
        }
        spread<Level>(rows[w], inside);
        const std::uint8_t* codes = codes_at<Level>(column, block.rows, w, room);
        for (std::size_t v = 0; v < word_rows; v += size) {
            const Vector code = *reinterpret_cast<const Vector*>(codes + v);
            const Vector in = *reinterpret_cast<const Vector*>(inside + v);
            const Vector a = code | ~in;
            const Vector b = code & in;
            least = a < least ? a : least;
            most = b > most ? b : most;
        }
    }
    low = least[0];
    high = most[0];
    for (std::size_t i = 1; i < size; ++i) {
        low = least[i] < low ? least[i] : low;
        high = most[i] > high ? most[i] : high;
    }
#endif
}

template <class Level>
[[gnu::always_inline]] inline std::uint64_t side_of(const BlockCodes& block, std::size_t f,
                                                    std::uint8_t last, const std::uint64_t* rows,
                                                    std::size_t words,
                                                    std::uint64_t* left) noexcept {
    const std::uint8_t* column = block.codes + f * block.stride;
    std::uint64_t any = 0;
#if defined(__AVX512F__)
    const __m512i limit = _mm512_set1_epi8(static_cast<char>(last));
    for (std::size_t w = 0; w < words; ++w) {
        const __m512i code = _mm512_maskz_loadu_epi8(rows[w], column + w * word_rows);
        left[w] = _mm512_mask_cmple_epu8_mask(rows[w], code, limit);
        any |= left[w];
    }
#else
    alignas(64) std::uint8_t room[word_rows];
    for (std::size_t w = 0; w < words; ++w) {
        if (rows[w] == 0) {
            left[w] = 0;
            continue;
        }
        const std::uint8_t* codes = codes_at<Level>(column, block.rows, w, room);
        std::uint64_t below = 0;
#ifdef ASSAY_X86
        const __m128i limit = _mm_set1_epi8(static_cast<char>(last));
        for (std::size_t i = 0; i < word_rows; i += 16) {
            const __m128i code = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + i));
            const __m128i is_below = _mm_cmpeq_epi8(_mm_min_epu8(code, limit), code);
            below |= std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(is_below))} << i;
        }
#else
        for (std::size_t i = 0; i < word_rows; ++i) {
            below |= std::uint64_t{codes[i] <= last} << i;
        }
#endif
        left[w] = rows[w] & below;
        any |= left[w];
    }
#endif
    return any;
}

// CutGuide::bin_below.
template <class Level>
[[gnu::always_inline]] inline std::int64_t bin_below(const CutTables& guide, std::size_t f,
                                                     std::int64_t first, std::int64_t last,
                                                     double x) noexcept {
    constexpr double end = CutTables::steps - 1;
    const double* middle = guide.middle + guide.base[f];
    double step = (x - guide.start[f]) * guide.scale[f];
    step = step > 0 ? step : 0;
    step = step < end ? step : end;
    std::int64_t b = guide.place[f * CutTables::steps + static_cast<std::uint32_t>(step)];
    while (b > 0 && middle[b] > x) {
        --b;
    }
    std::int64_t count = CutTables::window;
    while (count == CutTables::window) {
#ifdef __AVX512F__
        count = __builtin_popcount(
            _mm512_cmp_pd_mask(_mm512_loadu_pd(middle + b + 1), _mm512_set1_pd(x), _CMP_LE_OQ));
#else
        count = 0;
        for (std::size_t j = 1; j <= CutTables::window; ++j) {
            count += middle[static_cast<std::size_t>(b) + j] <= x ? 1 : 0;
        }
#endif
        b += count;
    }
    b = b < last - 1 ? b : last - 1;
    return b > first ? b : first;
}

// With the number of words known to the compiler where it is 1, the common case.
template <class Level>
[[gnu::always_inline]] inline void draw_cuts(const CutTables& guide, const BlockCodes& block,
                                             const std::uint32_t* columns, std::size_t n,
                                             const std::uint64_t* rows, std::size_t words,
                                             const double* shares, std::uint64_t* constant,
                                             BlockCuts& out, std::uint64_t* left) noexcept {
    std::uint8_t low[BlockCuts::most];
    std::uint8_t high[BlockCuts::most];
    for (std::size_t g = 0; g < n; ++g) {
        range_of<Level>(block, columns[g], rows, words, low[g], high[g]);
    }
    std::size_t k = 0;
    for (std::size_t g = 0; g < n; ++g) {
        const std::size_t f = columns[g];
        if (low[g] == high[g]) {
            constant[f / 64] |= std::uint64_t{1} << (f % 64);
            continue;
        }
        const double x = guide.lower[guide.base[f] + low[g]] * (1 - shares[k]) +
                         guide.upper[guide.base[f] + high[g]] * shares[k];
        out.column[k] = columns[g];
        out.drawn[k] = x;
        out.last_left[k] =
            static_cast<std::uint8_t>(bin_below<Level>(guide, f, low[g], high[g], x));
        side_of<Level>(block, f, out.last_left[k], rows, words, left + k * words);
        ++k;
    }
    out.n = k;
}

#ifdef ASSAY_X86

// 16 rows of 16 codes to 16 columns of 16 codes: four times, every two neighbours are merged.
template <class Level>
[[gnu::always_inline]] inline void transpose16(const std::uint8_t* const* from, std::size_t first,
                                               std::uint8_t* out, std::size_t stride) noexcept {
    __m128i a[16];
    __m128i b[16];
    for (std::size_t i = 0; i < 16; ++i) {
        a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from[i] + first));
    }
    for (std::size_t i = 0; i < 8; ++i) {
        b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
        b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
    }
    for (std::size_t i = 0; i < 8; ++i) {
        a[2 * i] = _mm_unpacklo_epi8(b[i], b[i + 8]);
        a[2 * i + 1] = _mm_unpackhi_epi8(b[i], b[i + 8]);
    }
    for (std::size_t i = 0; i < 8; ++i) {
        b[2 * i] = _mm_unpacklo_epi8(a[i], a[i + 8]);
        b[2 * i + 1] = _mm_unpackhi_epi8(a[i], a[i + 8]);
    }
    for (std::size_t i = 0; i < 8; ++i) {
        a[2 * i] = _mm_unpacklo_epi8(b[i], b[i + 8]);
        a[2 * i + 1] = _mm_unpackhi_epi8(b[i], b[i + 8]);
    }
    for (std::size_t i = 0; i < 16; ++i) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i * stride), a[i]);
    }
}

#else

template <class Level>
[[gnu::always_inline]] inline void transpose16(const std::uint8_t* const* from, std::size_t first,
                                               std::uint8_t* out, std::size_t stride) noexcept {
    for (std::size_t i = 0; i < 16; ++i) {
        for (std::size_t f = 0; f < 16; ++f) {
            out[f * stride + i] = from[i][first + f];
        }
    }
}

#endif

// Smallest and largest number of a set of rows that is not empty.
template <class Level>
[[gnu::always_inline]] inline void fine_range(const float* column, const std::uint64_t* rows,
                                              std::size_t words, float& low, float& high) noexcept {
    constexpr float inf = __builtin_inff();
#ifdef __AVX512F__
    __m512 least = _mm512_set1_ps(inf);
    __m512 minus_most = least;
    const __m512 sign = _mm512_set1_ps(-0.0F);
    for (std::size_t w = 0; w < words; ++w) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < 4; ++v) {
            const auto in = static_cast<__mmask16>(rows[w] >> (16 * v));
            const __m512 value = _mm512_maskz_loadu_ps(in, column + w * word_rows + 16 * v);
            least = _mm512_mask_min_ps(least, in, least, value);
            minus_most = _mm512_mask_min_ps(minus_most, in, minus_most, _mm512_xor_ps(value, sign));
        }
    }
    // Both ends at once: the smallest of the lower half, and of the upper half, which is negated.
    const __m512 half = _mm512_min_ps(_mm512_shuffle_f32x4(least, minus_most, 0x44),
                                      _mm512_shuffle_f32x4(least, minus_most, 0xEE));
    const __m512 quarter = _mm512_min_ps(half, _mm512_shuffle_f32x4(half, half, 0xB1));
    const __m512 two = _mm512_min_ps(quarter, _mm512_permute_ps(quarter, 0x4E));
    const __m512 one = _mm512_min_ps(two, _mm512_permute_ps(two, 0xB1));
    low = _mm512_cvtss_f32(one);
    high = -_mm512_cvtss_f32(_mm512_shuffle_f32x4(one, one, 0xEE));
#else
    low = inf;
    high = -inf;
    for (std::size_t w = 0; w < words; ++w) {
        for (std::uint64_t rest = rows[w]; rest != 0; rest &= rest - 1) {
            const float value = column[w * word_rows + first_of<Level>(rest)];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
    }
#endif
}

// The rows whose number is at most `limit`.
template <class Level>
[[gnu::always_inline]] inline void fine_side(const float* column, const std::uint64_t* rows,
                                             std::size_t words, float limit,
                                             std::uint64_t* left) noexcept {
#ifdef __AVX512F__
    const __m512 last = _mm512_set1_ps(limit);
    for (std::size_t w = 0; w < words; ++w) {
        std::uint64_t below = 0;
#pragma GCC unroll 4
        for (std::size_t v = 0; v < 4; ++v) {
            const auto in = static_cast<__mmask16>(rows[w] >> (16 * v));
            const __m512 value = _mm512_maskz_loadu_ps(in, column + w * word_rows + 16 * v);
            below |= std::uint64_t{_mm512_mask_cmp_ps_mask(in, value, last, _CMP_LE_OQ)}
                     << (16 * v);
        }
        left[w] = below;
    }
#else
    for (std::size_t w = 0; w < words; ++w) {
        std::uint64_t below = 0;
        for (std::uint64_t rest = rows[w]; rest != 0; rest &= rest - 1) {
            const std::size_t i = first_of<Level>(rest);
            below |= std::uint64_t{column[w * word_rows + i] <= limit} << i;
        }
        left[w] = below;
    }
#endif
}

// With the number of words known to the compiler where it is 1, the common case.
template <class Level>
[[gnu::always_inline]] inline void draw_fine_cuts(const float* values, std::size_t stride,
                                                  const std::uint32_t* columns,
                                                  const std::uint32_t* slots, std::size_t n,
                                                  const std::uint64_t* rows, std::size_t words,
                                                  const double* shares, std::uint64_t* constant,
                                                  FineCuts& out, std::uint64_t* left) noexcept {
    float low[BlockCuts::most];
    float high[BlockCuts::most];
    for (std::size_t g = 0; g < n; ++g) {
        fine_range<Level>(values + slots[g] * stride, rows, words, low[g], high[g]);
    }
    std::size_t k = 0;
    for (std::size_t g = 0; g < n; ++g) {
        const std::size_t f = columns[g];
        if (low[g] == high[g]) {
            constant[f / 64] |= std::uint64_t{1} << (f % 64);
            continue;
        }
        // fine_cut of fine_rows.hpp, which must not be compiled for several levels.
        const double drawn = static_cast<double>(low[g]) * (1 - shares[k]) +
                             static_cast<double>(high[g]) * shares[k];
        const auto x = static_cast<float>(drawn);
        out.column[k] = columns[g];
        out.drawn[k] = x >= low[g] && x < high[g] ? x : low[g];
        fine_side<Level>(values + slots[g] * stride, rows, words, out.drawn[k], left + k * words);
        ++k;
    }
    out.n = k;
}

// Four rows of four numbers to four columns.
template <class Level>
[[gnu::always_inline]] inline void transpose4(const float* const* from, std::size_t first,
                                              float* out, std::size_t stride) noexcept {
#ifdef ASSAY_X86
    __m128 a = _mm_loadu_ps(from[0] + first);
    __m128 b = _mm_loadu_ps(from[1] + first);
    __m128 c = _mm_loadu_ps(from[2] + first);
    __m128 d = _mm_loadu_ps(from[3] + first);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(out, a);
    _mm_storeu_ps(out + stride, b);
    _mm_storeu_ps(out + 2 * stride, c);
    _mm_storeu_ps(out + 3 * stride, d);
#else
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t f = 0; f < 4; ++f) {
            out[f * stride + i] = from[i][first + f];
        }
    }
#endif
}

}  // namespace

template <class Level>
void Block<Level>::fine_cuts(const float* values, std::size_t stride, const std::uint32_t* columns,
                             const std::uint32_t* slots, std::size_t n, const std::uint64_t* rows,
                             std::size_t words, const double* shares, std::uint64_t* constant,
                             FineCuts& out, std::uint64_t* left) noexcept {
    if (words == 1) {
        draw_fine_cuts<Level>(values, stride, columns, slots, n, rows, 1, shares, constant, out,
                              left);
    } else {
        draw_fine_cuts<Level>(values, stride, columns, slots, n, rows, words, shares, constant, out,
                              left);
    }
}

template <class Level>
void Block<Level>::fine_columns(const float* table, std::size_t step, const std::uint32_t* place,
                                std::size_t n, float* out, std::size_t stride) noexcept {
    const float* from[4];
    for (std::size_t i = 0; i < n; i += 4) {
        for (std::size_t k = 0; k < 4; ++k) {
            // The last row again where there is none.
            const std::size_t at = i + k < n ? i + k : n - 1;
            from[k] = table + (place == nullptr ? at : place[at]) * step;
        }
        for (std::size_t f = 0; f < step; f += 4) {
            transpose4<Level>(from, f, out + f * stride + i, stride);
        }
    }
}

template <class Level>
void Block<Level>::cuts(const CutTables& guide, const BlockCodes& block,
                        const std::uint32_t* columns, std::size_t n, const std::uint64_t* rows,
                        const double* shares, std::uint64_t* constant, BlockCuts& out,
                        std::uint64_t* left) noexcept {
    if (block.rows <= word_rows) {
        draw_cuts<Level>(guide, block, columns, n, rows, 1, shares, constant, out, left);
    } else {
        draw_cuts<Level>(guide, block, columns, n, rows, block.words(), shares, constant, out,
                         left);
    }
}

template <class Level>
void Block<Level>::range(const BlockCodes& block, std::size_t column, const std::uint64_t* rows,
                         std::uint8_t& low, std::uint8_t& high) noexcept {
    range_of<Level>(block, column, rows, block.words(), low, high);
}

template <class Level>
bool Block<Level>::side(const BlockCodes& block, std::size_t column, std::uint8_t last,
                        const std::uint64_t* rows, std::uint64_t* left) noexcept {
    return side_of<Level>(block, column, last, rows, block.words(), left) != 0;
}

template <class Level>
void Block<Level>::counts(const std::uint64_t* sets, std::size_t n, std::size_t words,
                          const std::uint64_t* ones, std::uint64_t* cells) noexcept {
    for (std::size_t s = 0; s < n; ++s, sets += words) {
        std::uint64_t all = 0;
        std::uint64_t some = 0;
        for (std::size_t w = 0; w < words; ++w) {
            all += count<Level>(sets[w]);
            some += count<Level>(sets[w] & ones[w]);
        }
        cells[s] = all << 32 | some;
    }
}

template <class Level>
void Block<Level>::class_counts(const std::uint64_t* sets, std::size_t n, std::size_t words,
                                const std::uint64_t* classes, std::size_t n_classes,
                                std::uint32_t* out) noexcept {
    for (std::size_t s = 0; s < n; ++s, sets += words) {
        for (std::size_t k = 0; k < n_classes; ++k) {
            std::uint64_t all = 0;
            for (std::size_t w = 0; w < words; ++w) {
                all += count<Level>(sets[w] & classes[k * words + w]);
            }
            out[s * n_classes + k] = static_cast<std::uint32_t>(all);
        }
    }
}

template <class Level>
void Block<Level>::sums(const std::uint64_t* sets, std::size_t n, const double* numbers,
                        std::size_t n_rows, double* cells) noexcept {
    const std::size_t words = (n_rows + word_rows - 1) / word_rows;
    for (std::size_t s = 0; s < n; ++s, sets += words) {
        std::uint64_t all = 0;
        for (std::size_t w = 0; w < words; ++w) {
            all += count<Level>(sets[w]);
        }
        cells[2 * s] = static_cast<double>(all);
#ifdef __AVX512F__
        __m512d sum[4] = {};
        std::size_t i = 0;
        for (; i + 32 <= n_rows; i += 32) {
            const std::uint64_t in = sets[i / 64] >> (i % 64);
#pragma GCC unroll 4
            for (std::size_t v = 0; v < 4; ++v) {
                sum[v] = _mm512_add_pd(sum[v],
                                       _mm512_maskz_loadu_pd(static_cast<__mmask8>(in >> (8 * v)),
                                                             numbers + i + 8 * v));
            }
        }
        if (i < n_rows) {
            const std::uint64_t in = sets[i / 64] >> (i % 64);
#pragma GCC unroll 4
            for (std::size_t v = 0; v < 4; ++v) {
                sum[v] = _mm512_add_pd(sum[v],
                                       _mm512_maskz_loadu_pd(static_cast<__mmask8>(in >> (8 * v)),
                                                             numbers + i + 8 * v));
            }
        }
        cells[2 * s + 1] = folded(sum);
#else
        double part[32] = {};
        for (std::size_t w = 0; w < words; ++w) {
            for (std::uint64_t rest = sets[w]; rest != 0; rest &= rest - 1) {
                const std::size_t i = first_of<Level>(rest);
                part[i % 32] += numbers[w * word_rows + i];
            }
        }
        cells[2 * s + 1] = folded<Level>(part);
#endif
    }
}

template <class Level>
double Block<Level>::squares(const std::uint64_t* rows, const double* numbers, std::size_t n_rows,
                             double mean) noexcept {
#ifdef __AVX512F__
    __m512d sum[4] = {};
    const __m512d middle = _mm512_set1_pd(mean);
    for (std::size_t i = 0; i < n_rows; i += 32) {
        const std::uint64_t word = rows[i / 64] >> (i % 64);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < 4; ++v) {
            const auto in = static_cast<__mmask8>(word >> (8 * v));
            const __m512d difference =
                _mm512_maskz_sub_pd(in, _mm512_maskz_loadu_pd(in, numbers + i + 8 * v), middle);
            sum[v] = _mm512_add_pd(sum[v], _mm512_mul_pd(difference, difference));
        }
    }
    return folded(sum);
#else
    double part[32] = {};
    for (std::size_t w = 0; w * word_rows < n_rows; ++w) {
        for (std::uint64_t rest = rows[w]; rest != 0; rest &= rest - 1) {
            const std::size_t i = first_of<Level>(rest);
            const double difference = numbers[w * word_rows + i] - mean;
            part[i % 32] += difference * difference;
        }
    }
    return folded<Level>(part);
#endif
}

template <class Level>
bool Block<Level>::are_equal(const std::uint64_t* rows, const double* numbers,
                             std::size_t n_rows) noexcept {
    std::size_t w = 0;
    while (rows[w] == 0) {
        ++w;
    }
    const double first = numbers[w * word_rows + first_of<Level>(rows[w])];
#ifdef __AVX512F__
    const __m512d all = _mm512_set1_pd(first);
    for (std::size_t i = w * word_rows; i < n_rows; i += 32) {
        const std::uint64_t word = rows[i / 64] >> (i % 64);
        unsigned other = 0;
#pragma GCC unroll 4
        for (std::size_t v = 0; v < 4; ++v) {
            const auto in = static_cast<__mmask8>(word >> (8 * v));
            other |= _mm512_mask_cmp_pd_mask(in, _mm512_maskz_loadu_pd(in, numbers + i + 8 * v),
                                             all, _CMP_NEQ_UQ);
        }
        if (other != 0) {
            return false;
        }
    }
#else
    for (; w * word_rows < n_rows; ++w) {
        for (std::uint64_t rest = rows[w]; rest != 0; rest &= rest - 1) {
            if (numbers[w * word_rows + first_of<Level>(rest)] != first) {
                return false;
            }
        }
    }
#endif
    return true;
}

template <class Level>
void Block<Level>::copy_records(const std::uint8_t* records, std::size_t step,
                                const std::uint32_t* place, std::size_t n,
                                std::uint8_t* out) noexcept {
    constexpr std::size_t ahead = 16;  // records on their way from the memory
    typedef std::uint64_t Vector __attribute__((vector_size(16), may_alias, aligned(1)));
    for (std::size_t i = 0; i < n; ++i, out += step) {
        const std::uint8_t* next = records + place[i + ahead < n ? i + ahead : i] * step;
        for (std::size_t f = 0; f < step; f += 64) {
            __builtin_prefetch(next + f);
        }
        __builtin_prefetch(next + step - 1);  // rows of numbers begin anywhere in a cache line
        const std::uint8_t* from = records + place[i] * step;
        for (std::size_t f = 0; f < step; f += 16) {
            *reinterpret_cast<Vector*>(out + f) = *reinterpret_cast<const Vector*>(from + f);
        }
    }
}

template <class Level>
void Block<Level>::transpose(const std::uint8_t* records, std::size_t step,
                             const std::uint32_t* place, std::size_t n, std::uint8_t* out,
                             std::size_t stride) noexcept {
    const std::uint8_t* from[16];
    for (std::size_t i = 0; i < n; i += 16) {
        for (std::size_t k = 0; k < 16; ++k) {
            // The last record again where there is none.
            const std::size_t at = i + k < n ? i + k : n - 1;
            from[k] = records + (place == nullptr ? at : place[at]) * step;
        }
        for (std::size_t f = 0; f < step; f += 16) {
            transpose16<Level>(from, f, out + f * stride + i, stride);
        }
    }
}

template struct Block<ASSAY_LEVEL>;

}  // namespace assay::tree

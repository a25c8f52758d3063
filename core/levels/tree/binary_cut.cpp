// assay/tree/binary_cut.hpp, once per CPU level.
#include "assay/tree/binary_cut.hpp"

#include "sort_network.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
// GCC 12 takes the undefined lanes inside its own intrinsics for ours (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace assay::tree {
namespace {

template <class Level, class Word>
struct Fields {
    static constexpr unsigned shift = sizeof(Word) * 4;
    static constexpr Word mask = (Word{1} << shift) - 1;
    [[gnu::always_inline]] static std::uint32_t weight(Word x) noexcept {
        return static_cast<std::uint32_t>(x >> shift);
    }
    [[gnu::always_inline]] static std::uint32_t ones(Word x) noexcept {
        return static_cast<std::uint32_t>(x & mask);
    }
};

template <class Level>
[[gnu::always_inline]] inline double score_of(double w, double p, double W, double P) noexcept {
    const double difference = p * W - P * w;
    return difference * difference / (w * (W - w));
}

template <class Level, class Word>
[[gnu::always_inline]] inline BinaryCut scan_cells(const Word* cells, std::size_t n_bins,
                                                   std::uint32_t weight, std::uint32_t ones,
                                                   double min_weight) noexcept {
    using Field = Fields<Level, Word>;
    BinaryCut cut;
    const double W = weight;
    const double P = ones;
    Word left = 0;
    for (std::size_t b = 0; b < n_bins; ++b) {
        if (cells[b] == 0) {
            continue;
        }
        left += cells[b];
        const double w = Field::weight(left);
        if (w >= min_weight && W - w >= min_weight && w < W) {
            const double score = score_of<Level>(w, Field::ones(left), W, P);
            if (score > cut.score) {
                cut.score = score;
                cut.last_left = static_cast<std::int32_t>(b);
                cut.left_weight = Field::weight(left);
                cut.left_ones = Field::ones(left);
            }
        }
    }
    return cut;
}

template <class Level, class Word>
[[gnu::always_inline]] inline void find_right(const Word* cells, BinaryCut& cut) noexcept {
    if (cut.last_left >= 0) {
        auto b = static_cast<std::size_t>(cut.last_left) + 1;
        while (cells[b] == 0) {
            ++b;
        }
        cut.first_right = static_cast<std::int32_t>(b);
    }
}

#ifdef __AVX512F__

// Running best of eight lanes.
struct Lanes {
    __m512d score = _mm512_set1_pd(-1);
    __m512i place = _mm512_setzero_si512();
    __m512i sums = _mm512_setzero_si512();  // (weight << 32) + ones

    [[gnu::always_inline]] void look(__m512i sum, __m512i at, __mmask8 allowed, __m512d W,
                                     __m512d P, __m512d min_weight) noexcept {
        const __m512d w = _mm512_cvtepu64_pd(_mm512_srli_epi64(sum, 32));
        const __m512d p = _mm512_cvtepu64_pd(_mm512_and_si512(sum, _mm512_set1_epi64(0xFFFFFFFF)));
        const __m512d rest = _mm512_sub_pd(W, w);
        allowed = _mm512_mask_cmp_pd_mask(allowed, w, min_weight, _CMP_GE_OQ);
        allowed = _mm512_mask_cmp_pd_mask(allowed, rest, min_weight, _CMP_GE_OQ);
        const __m512d difference = _mm512_sub_pd(_mm512_mul_pd(p, W), _mm512_mul_pd(P, w));
        const __m512d now =
            _mm512_div_pd(_mm512_mul_pd(difference, difference), _mm512_mul_pd(w, rest));
        const __mmask8 better = _mm512_mask_cmp_pd_mask(allowed, now, score, _CMP_GT_OQ);
        score = _mm512_mask_mov_pd(score, better, now);
        place = _mm512_mask_mov_epi64(place, better, at);
        sums = _mm512_mask_mov_epi64(sums, better, sum);
    }

    // The largest score, the lowest place among equal ones.
    [[gnu::always_inline]] BinaryCut best(const Lanes& other) const noexcept {
        BinaryCut cut;
        cut.score = _mm512_reduce_max_pd(_mm512_max_pd(score, other.score));
        if (cut.score < 0) {
            return cut;
        }
        const __m512d top = _mm512_set1_pd(cut.score);
        const __mmask8 here = _mm512_cmp_pd_mask(score, top, _CMP_EQ_OQ);
        const __mmask8 there = _mm512_cmp_pd_mask(other.score, top, _CMP_EQ_OQ);
        const __m512i far = _mm512_set1_epi64(std::int64_t{1} << 40);
        const __m512i a = _mm512_mask_mov_epi64(far, here, place);
        const __m512i b = _mm512_mask_mov_epi64(far, there, other.place);
        const auto at = _mm512_reduce_min_epi64(_mm512_min_epi64(a, b));
        cut.last_left = static_cast<std::int32_t>(at);
        const __m512i where = _mm512_set1_epi64(at);
        const __mmask8 lane_a = _mm512_mask_cmpeq_epi64_mask(here, place, where);
        const __mmask8 lane_b = _mm512_mask_cmpeq_epi64_mask(there, other.place, where);
        const auto sum = static_cast<std::uint64_t>(
            lane_a != 0 ? _mm512_mask_reduce_max_epu64(lane_a, sums)
                        : _mm512_mask_reduce_max_epu64(lane_b, other.sums));
        cut.left_weight = static_cast<std::uint32_t>(sum >> 32);
        cut.left_ones = static_cast<std::uint32_t>(sum);
        return cut;
    }
};

[[gnu::always_inline]] inline __m512i prefix_sum(__m512i x) noexcept {
    const __m512i zero = _mm512_setzero_si512();
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 15));
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 14));
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 12));
    return _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 8));
}

// (weight << bits) + ones in 32 bits to (weight << 32) + ones in 64.
template <int bits>
[[gnu::always_inline]] inline __m512i widened(__m256i x) noexcept {
    const __m512i wide = _mm512_cvtepu32_epi64(x);
    const __m512i low = _mm512_and_si512(wide, _mm512_set1_epi64((1 << bits) - 1));
    return _mm512_or_si512(low, _mm512_slli_epi64(_mm512_srli_epi64(wide, bits), 32));
}

[[gnu::always_inline]] inline __m512i lanes_from(std::int64_t first) noexcept {
    return _mm512_add_epi64(_mm512_set1_epi64(first), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
}

[[gnu::always_inline]] inline BinaryCut dense_narrow(const std::uint32_t* cells, std::size_t n_bins,
                                                     double weight, double ones,
                                                     double min_weight) noexcept {
    const __m512d W = _mm512_set1_pd(weight);
    const __m512d P = _mm512_set1_pd(ones);
    const __m512d least = _mm512_set1_pd(min_weight > 1 ? min_weight : 1);
    __m512i carry = _mm512_setzero_si512();
    Lanes low;
    Lanes high;
    for (std::size_t b = 0; b < n_bins; b += 16) {
        const __m512i cell = _mm512_loadu_si512(cells + b);
        const __mmask16 filled = _mm512_test_epi32_mask(cell, cell);
        if (filled == 0) {
            continue;
        }
        const __m512i sum = _mm512_add_epi32(prefix_sum(cell), carry);
        carry = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), sum);
        const auto at = static_cast<std::int64_t>(b);
        low.look(widened<16>(_mm512_castsi512_si256(sum)), lanes_from(at),
                 static_cast<__mmask8>(filled), W, P, least);
        high.look(widened<16>(_mm512_extracti64x4_epi64(sum, 1)), lanes_from(at + 8),
                  static_cast<__mmask8>(filled >> 8), W, P, least);
    }
    return low.best(high);
}

// Looks at the cuts behind the 16 sorted keys `x`; `next` follows lane by lane.
[[gnu::always_inline]] inline void look_at(__m512i x, __m512i next, __m512i sum, std::int64_t first,
                                           __m512d W, __m512d P, __m512d least, Lanes& low,
                                           Lanes& high) noexcept {
    const __mmask16 ends =
        _mm512_cmpneq_epu32_mask(_mm512_srli_epi32(x, 24), _mm512_srli_epi32(next, 24));
    low.look(widened<12>(_mm512_castsi512_si256(sum)), lanes_from(first),
             static_cast<__mmask8>(ends), W, P, least);
    if ((ends >> 8) != 0) {
        high.look(widened<12>(_mm512_extracti64x4_epi64(sum, 1)), lanes_from(first + 8),
                  static_cast<__mmask8>(ends >> 8), W, P, least);
    }
}

#endif

}  // namespace

template <class Level>
BinaryCut BinaryCutSearch<Level>::dense(const std::uint32_t* cells, std::size_t n_bins,
                                        std::uint32_t weight, std::uint32_t ones,
                                        double min_weight) noexcept {
#ifdef __AVX512F__
    BinaryCut cut = dense_narrow(cells, n_bins, weight, ones, min_weight);
#else
    BinaryCut cut = scan_cells<Level>(cells, n_bins, weight, ones, min_weight);
#endif
    find_right<Level>(cells, cut);
    return cut;
}

template <class Level>
BinaryCut BinaryCutSearch<Level>::dense(const std::uint64_t* cells, std::size_t n_bins,
                                        std::uint32_t weight, std::uint32_t ones,
                                        double min_weight) noexcept {
    BinaryCut cut = scan_cells<Level>(cells, n_bins, weight, ones, min_weight);
    find_right<Level>(cells, cut);
    return cut;
}

template <class Level>
BinaryCut BinaryCutSearch<Level>::sorted(const std::uint64_t* elements, std::size_t n,
                                         std::uint32_t weight, std::uint32_t ones,
                                         double min_weight) noexcept {
    BinaryCut cut;
#ifdef __AVX512F__
    const __m512d W = _mm512_set1_pd(weight);
    const __m512d P = _mm512_set1_pd(ones);
    const __m512d least = _mm512_set1_pd(min_weight > 1 ? min_weight : 1);
    const __m512i zero = _mm512_setzero_si512();
    __m512i carry = zero;
    Lanes lanes;
    for (std::size_t i = 0; i + 1 < n; i += 8) {
        const __mmask8 inside = n - 1 - i < 8 ? static_cast<__mmask8>((1U << (n - 1 - i)) - 1)
                                              : static_cast<__mmask8>(0xFF);
        const __m512i x = _mm512_maskz_loadu_epi64(inside, elements + i);
        const __m512i next = _mm512_maskz_loadu_epi64(inside, elements + i + 1);
        const __m512i change = _mm512_srli_epi64(_mm512_xor_si512(x, next), 48);
        const __mmask8 ends = _mm512_mask_test_epi64_mask(inside, change, change);
        const __m512i load = _mm512_and_si512(_mm512_srli_epi64(x, 32), _mm512_set1_epi64(0xFFFF));
        const __m512i w = _mm512_srli_epi64(load, 1);
        const __mmask8 is_one = _mm512_test_epi64_mask(load, _mm512_set1_epi64(1));
        __m512i sum =
            _mm512_mask_or_epi64(_mm512_slli_epi64(w, 32), is_one, _mm512_slli_epi64(w, 32), w);
        sum = _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, zero, 7));
        sum = _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, zero, 6));
        sum = _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, zero, 4));
        sum = _mm512_add_epi64(sum, carry);
        carry = _mm512_permutexvar_epi64(_mm512_set1_epi64(7), sum);
        if (ends != 0) {
            lanes.look(sum, lanes_from(static_cast<std::int64_t>(i)), ends, W, P, least);
        }
    }
    cut = lanes.best(Lanes{});
    if (cut.last_left >= 0) {
        const auto at = static_cast<std::size_t>(cut.last_left);
        cut.last_left = static_cast<std::int32_t>(elements[at] >> 48);
        cut.first_right = static_cast<std::int32_t>(elements[at + 1] >> 48);
    }
#else
    const double W = weight;
    const double P = ones;
    std::uint32_t left_weight = 0;
    std::uint32_t left_ones = 0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        const std::uint32_t load = elements[i] >> 32 & 0xFFFFU;
        left_weight += load >> 1;
        left_ones += (load >> 1) & (0U - (load & 1U));
        if (elements[i] >> 48 == elements[i + 1] >> 48) {
            continue;
        }
        const double w = left_weight;
        if (w >= min_weight && W - w >= min_weight) {
            const double score = score_of<Level>(w, left_ones, W, P);
            if (score > cut.score) {
                cut.score = score;
                cut.last_left = static_cast<std::int32_t>(elements[i] >> 48);
                cut.first_right = static_cast<std::int32_t>(elements[i + 1] >> 48);
                cut.left_weight = left_weight;
                cut.left_ones = left_ones;
            }
        }
    }
#endif
    return cut;
}

template <class Level>
BinaryCut BinaryCutSearch<Level>::marked(const std::uint32_t* rows, std::size_t n,
                                         std::uint32_t ones, double min_weight) noexcept {
    BinaryCut cut;
#ifdef __AVX512F__
    const __m512d W = _mm512_set1_pd(static_cast<double>(n));
    const __m512d P = _mm512_set1_pd(ones);
    const __m512d least = _mm512_set1_pd(min_weight > 1 ? min_weight : 1);
    const __m512i zero = _mm512_setzero_si512();
    const __m512i one = _mm512_set1_epi64(1);
    std::uint64_t before = 0;  // rows of class 1 so far
    Lanes lanes;
    for (std::size_t i = 0; i + 1 < n; i += 8) {
        const __mmask8 inside = n - 1 - i < 8 ? static_cast<__mmask8>((1U << (n - 1 - i)) - 1)
                                              : static_cast<__mmask8>(0xFF);
        const __m256i x = _mm256_maskz_loadu_epi32(inside, rows + i);
        const __m256i next = _mm256_maskz_loadu_epi32(inside, rows + i + 1);
        // A row that is not the same as the one before begins a new value.
        const __mmask8 ends = _mm256_mask_cmpge_epi32_mask(inside, next, _mm256_setzero_si256());
        const __mmask8 is_one = _mm256_test_epi32_mask(x, _mm256_set1_epi32(1 << 30));
        if (ends != 0) {
            __m512i sum = _mm512_maskz_mov_epi64(is_one, one);
            sum = _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, zero, 7));
            sum = _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, zero, 6));
            sum = _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, zero, 4));
            sum = _mm512_add_epi64(sum, _mm512_set1_epi64(static_cast<std::int64_t>(before)));
            const __m512i count = lanes_from(static_cast<std::int64_t>(i) + 1);
            lanes.look(_mm512_or_si512(_mm512_slli_epi64(count, 32), sum),
                       lanes_from(static_cast<std::int64_t>(i)), ends, W, P, least);
        }
        before += static_cast<std::uint64_t>(__builtin_popcount(is_one));
    }
    cut = lanes.best(Lanes{});
#else
    const auto W = static_cast<double>(n);
    const double P = ones;
    std::uint32_t left_ones = 0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
        left_ones += rows[i] >> 30 & 1U;
        const auto w = static_cast<double>(i + 1);
        if (rows[i + 1] >> 31 == 0 && w >= min_weight && W - w >= min_weight) {
            const double score = score_of<Level>(w, left_ones, W, P);
            if (score > cut.score) {
                cut.score = score;
                cut.last_left = static_cast<std::int32_t>(i);
                cut.left_weight = static_cast<std::uint32_t>(i + 1);
                cut.left_ones = left_ones;
            }
        }
    }
#endif
    return cut;
}

template <class Level>
BinaryCut BinaryCutSearch<Level>::few(const std::uint32_t* keys, std::size_t n_keys,
                                      std::uint32_t weight, std::uint32_t ones,
                                      double min_weight) noexcept {
    BinaryCut cut;
    std::uint32_t order[few_rows + 1];
#ifdef __AVX512F__
    const __m512d W = _mm512_set1_pd(weight);
    const __m512d P = _mm512_set1_pd(ones);
    const __m512d least = _mm512_set1_pd(min_weight > 1 ? min_weight : 1);
    const __m512i loads = _mm512_set1_epi32(0xFFFFFF);
    const __m512i last = _mm512_set1_epi32(-1);
    Lanes low;
    Lanes high;
    const __m512i x = in_order(_mm512_loadu_si512(keys));
    if (n_keys <= 16) {
        const __m512i next = _mm512_alignr_epi32(last, x, 1);
        look_at(x, next, prefix_sum(_mm512_and_si512(x, loads)), 0, W, P, least, low, high);
        _mm512_storeu_si512(order, x);
    } else {
        const __m512i y = neighbours<15>(in_order(_mm512_loadu_si512(keys + 16)));
        const __m512i a = merged(_mm512_min_epu32(x, y));
        const __m512i b = merged(_mm512_max_epu32(x, y));
        const __m512i sum = prefix_sum(_mm512_and_si512(a, loads));
        const __m512i carry = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), sum);
        look_at(a, _mm512_alignr_epi32(b, a, 1), sum, 0, W, P, least, low, high);
        look_at(b, _mm512_alignr_epi32(last, b, 1),
                _mm512_add_epi32(prefix_sum(_mm512_and_si512(b, loads)), carry), 16, W, P, least,
                low, high);
        _mm512_storeu_si512(order, a);
        _mm512_storeu_si512(order + 16, b);
    }
    cut = low.best(high);
    if (cut.last_left >= 0) {
        const auto at = static_cast<std::size_t>(cut.last_left);
        cut.first_right = static_cast<std::int32_t>(order[at + 1] >> 24);
        cut.last_left = static_cast<std::int32_t>(order[at] >> 24);
    }
#else
    for (std::size_t i = 0; i < n_keys; ++i) {
        const std::uint32_t key = keys[i];
        std::size_t j = i;
        for (; j > 0 && order[j - 1] > key; --j) {
            order[j] = order[j - 1];
        }
        order[j] = key;
    }
    const double W = weight;
    const double P = ones;
    std::uint32_t left = 0;
    for (std::size_t i = 0; i + 1 < n_keys; ++i) {
        left += order[i] & 0xFFFFFFU;
        if (order[i] >> 24 == order[i + 1] >> 24) {
            continue;
        }
        const double w = left >> 12;
        if (w >= min_weight && W - w >= min_weight) {
            const double score = score_of<Level>(w, left & 0xFFFU, W, P);
            if (score > cut.score) {
                cut.score = score;
                cut.last_left = static_cast<std::int32_t>(order[i] >> 24);
                cut.first_right = static_cast<std::int32_t>(order[i + 1] >> 24);
                cut.left_weight = left >> 12;
                cut.left_ones = left & 0xFFFU;
            }
        }
    }
#endif
    return cut;
}

template struct BinaryCutSearch<ASSAY_LEVEL>;

}  // namespace assay::tree

// A vector register of a CPU level, as a value: Simd<float, Level>, Simd<double, Level>.
//
// For files in core/levels/ only. Arithmetic is lane by lane and correctly rounded;
// nothing is contracted (the build says -ffp-contract=off), so a float64 loop gives
// the same bits at every level. Only `minus_product` may fuse: it is for screening
// values whose error bound covers both.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "assay/common/dispatch.hpp"
#include "assay/common/power.hpp"

#ifdef ASSAY_X86
#include <immintrin.h>
#endif

namespace assay {

template <class T, class Level>
struct Simd {
    static constexpr std::size_t size = Level::vector_bytes / sizeof(T);

    typedef T Register __attribute__((vector_size(Level::vector_bytes)));
    typedef T Unaligned
        __attribute__((vector_size(Level::vector_bytes), aligned(alignof(T)), may_alias));
    using Word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    typedef Word Words __attribute__((vector_size(Level::vector_bytes)));

    typedef std::make_unsigned_t<Word> Bits __attribute__((vector_size(Level::vector_bytes)));

    Register value;

    [[gnu::always_inline]] static Simd load(const T* from) noexcept {
        return {*reinterpret_cast<const Unaligned*>(from)};
    }
    [[gnu::always_inline]] static Simd all(T x) noexcept { return {x - Register{}}; }
    [[gnu::always_inline]] void store(T* to) const noexcept {
        *reinterpret_cast<Unaligned*>(to) = value;
    }

    [[gnu::always_inline]] friend Simd operator+(Simd a, Simd b) noexcept {
        return {a.value + b.value};
    }
    [[gnu::always_inline]] friend Simd operator-(Simd a, Simd b) noexcept {
        return {a.value - b.value};
    }
    [[gnu::always_inline]] friend Simd operator*(Simd a, Simd b) noexcept {
        return {a.value * b.value};
    }
    [[gnu::always_inline]] friend Simd abs(Simd a) noexcept {
        constexpr Word sign = Word{1} << (sizeof(T) * 8 - 1);
        return {reinterpret_cast<Register>(reinterpret_cast<Words>(a.value) & ~(Words{} + sign))};
    }
    [[gnu::always_inline]] friend Simd fmax(Simd a, Simd b) noexcept {
        return {a.value > b.value ? a.value : b.value};
    }
    [[gnu::always_inline]] friend Simd sqrt(Simd a) noexcept {
#ifdef __AVX512F__
        if constexpr (sizeof(T) == 8 && size == 8) {
            // Plain _mm512_sqrt_pd makes gcc 12 warn of its own header.
            return {_mm512_maskz_sqrt_pd(0xFF, a.value)};
        }
#endif
#ifdef __AVX2__
        if constexpr (sizeof(T) == 8 && size == 4) {
            return {_mm256_sqrt_pd(a.value)};
        }
#endif
#ifdef ASSAY_X86
        if constexpr (sizeof(T) == 8 && size == 2) {
            return {_mm_sqrt_pd(a.value)};
        }
#endif
        for (std::size_t lane = 0; lane < size; ++lane) {
            a.value[lane] = std::sqrt(a.value[lane]);
        }
        return a;
    }
    [[gnu::always_inline]] friend Simd pow(Simd a, double exponent) noexcept {
        return {power_of<Register, Bits>(a.value, exponent)};
    }

    // a - b * c, fused where the level can.
    [[gnu::always_inline]] friend Simd minus_product(Simd a, Simd b, Simd c) noexcept {
#ifdef __AVX512F__
        if constexpr (sizeof(T) == 4 && size == 16) {
            return {_mm512_fnmadd_ps(b.value, c.value, a.value)};
        }
#endif
#ifdef __FMA__
        if constexpr (sizeof(T) == 4 && size == 8) {
            return {_mm256_fnmadd_ps(b.value, c.value, a.value)};
        }
#endif
        return {a.value - b.value * c.value};
    }

    // Bit l is set where not a[l] > b[l] (also where one is NaN).
    [[gnu::always_inline]] friend std::uint32_t not_above(Simd a, Simd b) noexcept {
#ifdef __AVX512F__
        if constexpr (sizeof(T) == 4 && size == 16) {
            return _mm512_cmp_ps_mask(a.value, b.value, _CMP_NGT_UQ);
        }
        if constexpr (sizeof(T) == 8 && size == 8) {
            return _mm512_cmp_pd_mask(a.value, b.value, _CMP_NGT_UQ);
        }
#endif
        return ~bits(a.value > b.value) & ((std::uint64_t{1} << size) - 1);
    }

  private:
    [[gnu::always_inline]] static std::uint32_t bits(Words truth) noexcept {
#ifdef __AVX2__
        if constexpr (sizeof(T) == 4 && size == 8) {
            return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(truth)));
        }
        if constexpr (sizeof(T) == 8 && size == 4) {
            return static_cast<std::uint32_t>(_mm256_movemask_pd(reinterpret_cast<__m256d>(truth)));
        }
#endif
#ifdef ASSAY_X86
        if constexpr (sizeof(T) == 4 && size == 4) {
            return static_cast<std::uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(truth)));
        }
        if constexpr (sizeof(T) == 8 && size == 2) {
            return static_cast<std::uint32_t>(_mm_movemask_pd(reinterpret_cast<__m128d>(truth)));
        }
#endif
        std::uint32_t set = 0;
        for (std::size_t lane = 0; lane < size; ++lane) {
            set |= (truth[lane] != 0 ? 1U : 0U) << lane;
        }
        return set;
    }
};

}  // namespace assay

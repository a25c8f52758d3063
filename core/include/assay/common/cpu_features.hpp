// The parts of the x86 instruction set that matter here, and those that the processor has.
//
//     processor_features()     what processor and operating system offer
//     features.has_all(other)  whether a loop built with `other` may run
//
// Every name is also the compiler's: the part `bmi2` is what the flag -mbmi2 allows.
//
// A hypervisor can hide any part alone. Some missing parts do not trap: without LZCNT the
// instruction `lzcnt` runs as `bsr` and yields other numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#ifdef ASSAY_X86
#include <cpuid.h>
#endif

namespace assay {

enum class CpuFeature : std::uint8_t {
    avx2,
    fma,
    bmi,
    bmi2,
    lzcnt,
    popcnt,
    avx512f,
    avx512bw,
    avx512dq,
    avx512vl,
};

inline constexpr std::array<std::string_view, 10> cpu_feature_names = {
    "avx2", "fma", "bmi", "bmi2", "lzcnt", "popcnt", "avx512f", "avx512bw", "avx512dq", "avx512vl"};

[[nodiscard]] constexpr std::optional<CpuFeature> cpu_feature_of(std::string_view name) noexcept {
    for (std::size_t i = 0; i < cpu_feature_names.size(); ++i) {
        if (name == cpu_feature_names[i]) {
            return static_cast<CpuFeature>(i);
        }
    }
    return std::nullopt;
}

class CpuFeatures {
  public:
    constexpr CpuFeatures() = default;
    constexpr CpuFeatures(std::initializer_list<CpuFeature> features) {
        for (const CpuFeature feature : features) {
            bits_ |= bit(feature);
        }
    }

    [[nodiscard]] constexpr bool has(CpuFeature feature) const noexcept {
        return (bits_ & bit(feature)) != 0;
    }
    [[nodiscard]] constexpr bool has_all(CpuFeatures others) const noexcept {
        return (bits_ & others.bits_) == others.bits_;
    }
    [[nodiscard]] constexpr CpuFeatures with(CpuFeature feature,
                                             bool is_there = true) const noexcept {
        CpuFeatures more = *this;
        more.bits_ |= is_there ? bit(feature) : 0U;
        return more;
    }
    [[nodiscard]] constexpr CpuFeatures without(CpuFeature feature) const noexcept {
        CpuFeatures fewer = *this;
        fewer.bits_ &= ~bit(feature);
        return fewer;
    }

    friend constexpr bool operator==(CpuFeatures, CpuFeatures) = default;

  private:
    static constexpr std::uint32_t bit(CpuFeature feature) noexcept {
        return std::uint32_t{1} << static_cast<unsigned>(feature);
    }

    std::uint32_t bits_ = 0;
};

[[nodiscard]] inline CpuFeatures processor_features() noexcept {
    CpuFeatures features;
#ifdef ASSAY_X86
    // Older compilers do not know the name "lzcnt": bit 5 of ECX in leaf 8000'0001.
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    const bool has_lzcnt =
        __get_cpuid(0x80000001U, &eax, &ebx, &ecx, &edx) != 0 && (ecx >> 5U & 1U) != 0;
    features = features.with(CpuFeature::avx2, __builtin_cpu_supports("avx2") != 0)
                   .with(CpuFeature::fma, __builtin_cpu_supports("fma") != 0)
                   .with(CpuFeature::bmi, __builtin_cpu_supports("bmi") != 0)
                   .with(CpuFeature::bmi2, __builtin_cpu_supports("bmi2") != 0)
                   .with(CpuFeature::lzcnt, has_lzcnt)
                   .with(CpuFeature::popcnt, __builtin_cpu_supports("popcnt") != 0)
                   .with(CpuFeature::avx512f, __builtin_cpu_supports("avx512f") != 0)
                   .with(CpuFeature::avx512bw, __builtin_cpu_supports("avx512bw") != 0)
                   .with(CpuFeature::avx512dq, __builtin_cpu_supports("avx512dq") != 0)
                   .with(CpuFeature::avx512vl, __builtin_cpu_supports("avx512vl") != 0);
#endif
    return features;
}

}  // namespace assay

// Hot loops compiled once per vector level of the processor, chosen at run time.
//
// A kernel that needs the machine's vectors is a class template over its level,
// declared in its header and defined in core/levels/<family>/<kernel>.cpp. CMake
// compiles that file once per level with the flags of the level; it ends with
//
//     template struct Screen<ASSAY_LEVEL>;
//
// and callers write one line:
//
//     dispatch([&](auto level) { Screen<decltype(level)>::run(arguments); });
//
// Everything else in the core is compiled for the baseline only. Files in levels/
// must not call other inline functions out of line (see core/README.md).
//
// Cost    one atomic load per dispatch: call it per tile, not per row.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "assay/common/cpu_features.hpp"

namespace assay {

enum class CpuLevel : int { baseline, avx2, avx512 };

struct Baseline {
    static constexpr std::size_t vector_bytes = 16;
};
struct Avx2 {
    static constexpr std::size_t vector_bytes = 32;
};
struct Avx512 {
    static constexpr std::size_t vector_bytes = 64;
};

[[nodiscard]] constexpr const char* level_name(CpuLevel level) noexcept {
    switch (level) {
        case CpuLevel::avx512:
            return "avx512";
        case CpuLevel::avx2:
            return "avx2";
        case CpuLevel::baseline:
            break;
    }
    return "baseline";
}

[[nodiscard]] constexpr std::optional<CpuLevel> level_of(std::string_view name) noexcept {
    for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
        if (name == level_name(level)) {
            return level;
        }
    }
    return std::nullopt;
}

// What the loops of a level are compiled with: the flags in core/levels/CMakeLists.txt, which a
// test compares with this.
[[nodiscard]] constexpr CpuFeatures needed_features(CpuLevel level) noexcept {
    using enum CpuFeature;
    constexpr CpuFeatures avx2_level = {avx2, fma, bmi, bmi2, lzcnt, popcnt};
    switch (level) {
        case CpuLevel::avx512:
            return avx2_level.with(avx512f).with(avx512bw).with(avx512dq).with(avx512vl);
        case CpuLevel::avx2:
            return avx2_level;
        case CpuLevel::baseline:
            break;
    }
    return {};
}

// The highest level that may run with these features.
[[nodiscard]] constexpr CpuLevel level_for(CpuFeatures features) noexcept {
    for (const CpuLevel level : {CpuLevel::avx512, CpuLevel::avx2}) {
        if (features.has_all(needed_features(level))) {
            return level;
        }
    }
    return CpuLevel::baseline;
}

// What processor and operating system offer.
[[nodiscard]] inline CpuLevel hardware_level() noexcept { return level_for(processor_features()); }

namespace detail {

[[nodiscard]] inline CpuLevel default_level() noexcept {
    const CpuLevel hardware = hardware_level();
    const char* name = std::getenv("ASSAY_CPU");
    const auto cap = name == nullptr ? std::nullopt : level_of(name);
    return cap && *cap < hardware ? *cap : hardware;
}

inline std::atomic<CpuLevel>& level_in_use() noexcept {
    static std::atomic<CpuLevel> level = default_level();
    return level;
}

}  // namespace detail

// The level that dispatch uses: the hardware's, capped by the environment variable
// ASSAY_CPU (read once) or by limit_cpu.
[[nodiscard]] inline CpuLevel cpu_level() noexcept {
    return detail::level_in_use().load(std::memory_order_relaxed);
}

// For tests. Nothing: back to the default.
inline void limit_cpu(std::optional<CpuLevel> cap) noexcept {
    const CpuLevel hardware = hardware_level();
    detail::level_in_use().store(!cap              ? detail::default_level()
                                 : *cap < hardware ? *cap
                                                   : hardware,
                                 std::memory_order_relaxed);
}

template <class Call>
decltype(auto) dispatch(Call&& call) {
#ifdef ASSAY_X86
    switch (cpu_level()) {
        case CpuLevel::avx512:
            return call(Avx512{});
        case CpuLevel::avx2:
            return call(Avx2{});
        case CpuLevel::baseline:
            break;
    }
#endif
    return call(Baseline{});
}

}  // namespace assay

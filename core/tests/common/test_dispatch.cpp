#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "assay/common/dispatch.hpp"

using assay::CpuLevel;

namespace {

CpuLevel dispatched() {
    return assay::dispatch([](auto level) {
        using Level = decltype(level);
        return std::is_same_v<Level, assay::Avx512> ? CpuLevel::avx512
               : std::is_same_v<Level, assay::Avx2> ? CpuLevel::avx2
                                                    : CpuLevel::baseline;
    });
}

// The parts of the instruction set that compiler flags "-ma -mb" allow. Flags that tune, but allow
// no instruction, are left out; any other flag is returned as it is and names no part.
std::vector<std::string> parts_of(std::string_view flags) {
    std::vector<std::string> parts;
    while (!flags.empty()) {
        const std::string_view flag = flags.substr(0, flags.find(' '));
        flags.remove_prefix(std::min(flag.size() + 1, flags.size()));
        if (!flag.starts_with("-mprefer-")) {
            parts.emplace_back(flag.substr(flag.starts_with("-m") ? 2 : 0));
        }
    }
    return parts;
}

}  // namespace

#ifdef ASSAY_X86
TEST_CASE("the processor is asked for all that a level is compiled with, and for no more") {
    for (const auto& [level, flags] :
         {std::pair(CpuLevel::avx2, AVX2_FLAGS), std::pair(CpuLevel::avx512, AVX512_FLAGS)}) {
        CAPTURE(assay::level_name(level));
        assay::CpuFeatures built_with;
        for (const std::string& part : parts_of(flags)) {
            CAPTURE(part);
            const auto feature = assay::cpu_feature_of(part);
            REQUIRE(feature.has_value());
            built_with = built_with.with(*feature);
        }
        CHECK(built_with == assay::needed_features(level));
    }
    CHECK(assay::needed_features(CpuLevel::baseline) == assay::CpuFeatures{});
}
#endif

TEST_CASE("a level is not used when the processor hides one part of what it needs") {
    const auto all = assay::needed_features(CpuLevel::avx512);
    REQUIRE(assay::level_for(all) == CpuLevel::avx512);
    for (const std::string_view name : assay::cpu_feature_names) {
        CAPTURE(name);
        const auto feature = assay::cpu_feature_of(name).value();
        const bool is_of_avx2 = assay::needed_features(CpuLevel::avx2).has(feature);
        CHECK(assay::level_for(all.without(feature)) ==
              (is_of_avx2 ? CpuLevel::baseline : CpuLevel::avx2));
    }
    CHECK(assay::level_for({}) == CpuLevel::baseline);
}

TEST_CASE("dispatch calls the level in use") { CHECK(dispatched() == assay::cpu_level()); }

TEST_CASE("a limit caps the level and never raises it above the hardware") {
    const CpuLevel before = assay::cpu_level();
    for (const CpuLevel cap : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
        assay::limit_cpu(cap);
        CHECK(assay::cpu_level() == std::min(cap, assay::hardware_level()));
        CHECK(dispatched() == assay::cpu_level());
    }
    assay::limit_cpu(std::nullopt);
    CHECK(assay::cpu_level() == before);
}

TEST_CASE("level names go both ways") {
    for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
        CHECK(assay::level_of(assay::level_name(level)) == level);
    }
    CHECK_FALSE(assay::level_of("sse9").has_value());
}

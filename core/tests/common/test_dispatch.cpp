#include <doctest/doctest.h>

#include <type_traits>

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

}  // namespace

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

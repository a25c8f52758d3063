#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "assay/common/cpu_features.hpp"

using assay::CpuFeature;
using assay::CpuFeatures;

TEST_CASE("every feature has its own name") {
    for (std::size_t i = 0; i < assay::cpu_feature_names.size(); ++i) {
        CHECK(assay::cpu_feature_of(assay::cpu_feature_names[i]) == static_cast<CpuFeature>(i));
    }
    CHECK_FALSE(assay::cpu_feature_of("march=native").has_value());
}

TEST_CASE("features are a set") {
    const CpuFeatures set = {CpuFeature::fma, CpuFeature::avx512vl};
    CHECK(set.has(CpuFeature::fma));
    CHECK_FALSE(set.has(CpuFeature::bmi));
    CHECK(set.has_all({}));
    CHECK(set.has_all({CpuFeature::avx512vl}));
    CHECK_FALSE(set.has_all({CpuFeature::avx512vl, CpuFeature::bmi}));
    CHECK(set.with(CpuFeature::bmi).without(CpuFeature::bmi) == set);
    CHECK(set.with(CpuFeature::bmi, false) == set);
}

#if defined(ASSAY_X86) && defined(__linux__)
TEST_CASE("the features of the processor are those that Linux lists") {
    std::ifstream file("/proc/cpuinfo");
    std::set<std::string> flags;
    for (std::string line; flags.empty() && std::getline(file, line);) {
        if (line.starts_with("flags")) {
            std::istringstream words(line);
            for (std::string word; words >> word;) {
                flags.insert(word == "abm" ? "lzcnt" : word == "bmi1" ? "bmi" : word);
            }
        }
    }
    REQUIRE_FALSE(flags.empty());
    for (const std::string_view name : assay::cpu_feature_names) {
        CAPTURE(name);
        CHECK(assay::processor_features().has(assay::cpu_feature_of(name).value()) ==
              flags.contains(std::string(name)));
    }
}
#endif

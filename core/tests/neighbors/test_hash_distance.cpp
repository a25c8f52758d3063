#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/distance.hpp"
#include "assay/common/random.hpp"
#include "assay/neighbors/hash_distance.hpp"

using assay::neighbors::HashDistance;

namespace {

template <class T>
void check_sums(std::size_t d) {
    constexpr std::size_t n = 40;
    assay::RandomStream stream(2, d);
    std::vector<T> rows(n * d);
    std::vector<T> query(d);
    for (T& x : rows) {
        x = static_cast<T>(stream.normal());
    }
    for (T& x : query) {
        x = static_cast<T>(stream.normal());
    }
    const std::vector<double> wide(query.begin(), query.end());
    std::vector<std::uint32_t> candidate(n);
    std::iota(candidate.rbegin(), candidate.rend(), 0U);
    const double limit = 2.0 * static_cast<double>(d);
    std::vector<double> sum(n);
    assay::dispatch([&](auto level) {
        HashDistance<decltype(level), T>::run(wide.data(), rows.data(), d, candidate.data(), n,
                                              limit, sum.data());
    });
    for (std::size_t c = 0; c < n; ++c) {
        const auto row = std::span<const T>(rows).subspan(candidate[c] * d, d);
        const double exact = assay::squared_distance(std::span<const T>(query), row);
        CHECK(sum[c] == (exact <= limit ? exact : std::numeric_limits<double>::infinity()));
    }
}

}  // namespace

TEST_CASE("sums are those of the definition, and infinite above the limit") {
    for (const std::size_t d : {1U, 8U, 13U, 64U, 130U, 200U}) {
        CAPTURE(d);
        check_sums<double>(d);
        check_sums<float>(d);
    }
}

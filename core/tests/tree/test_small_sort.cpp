#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/small_sort.hpp"

TEST_CASE("a small sort sorts any number of keys up to 32") {
    assay::RandomStream stream(1, 0);
    for (std::size_t n = 1; n <= assay::tree::small_sort_rows; ++n) {
        for (int round = 0; round < 20; ++round) {
            std::vector<std::uint32_t> keys(32);
            for (std::size_t i = 0; i < n; ++i) {
                keys[i] = round % 2 == 0 ? stream() >> 1 : stream.below(5U);
            }
            std::vector<std::uint32_t> expected(keys.begin(),
                                                keys.begin() + static_cast<std::ptrdiff_t>(n));
            std::sort(expected.begin(), expected.end());
            assay::dispatch(
                [&](auto level) { assay::tree::SmallSort<decltype(level)>::run(keys.data(), n); });
            keys.resize(n);
            CHECK(keys == expected);
        }
    }
}

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/neighbors/shortlist.hpp"

using assay::neighbors::Shortlist;

TEST_CASE("a shortlist never loses one of the k smallest scores") {
    constexpr std::size_t k = 20;
    assay::RandomStream stream(4, 1);
    std::vector<float> memory(2 * k + 8);
    std::vector<std::uint32_t> rows(memory.size());
    Shortlist list(memory, rows);
    std::vector<float> all;
    for (std::uint32_t row = 0; row < 2000; ++row) {
        all.push_back(static_cast<float>(stream.normal()));
        if (all[row] > list.limit()) {
            continue;
        }
        if (list.full()) {
            list.shrink(k, [](float bound) { return bound; });
        }
        REQUIRE_FALSE(list.full());
        list.add(all[row], row);
    }
    list.shrink(k, [](float bound) { return bound; });
    auto sorted = all;
    std::sort(sorted.begin(), sorted.end());
    const auto left = list.rows();
    CHECK(left.size() < 2 * k);
    CHECK(std::is_sorted(left.begin(), left.end()));
    for (std::uint32_t row = 0; row < all.size(); ++row) {
        if (all[row] <= sorted[k - 1]) {
            CHECK(std::find(left.begin(), left.end(), row) != left.end());
        }
    }
}

TEST_CASE("a shortlist of equal scores stays full") {
    std::vector<float> memory(10);
    std::vector<std::uint32_t> rows(10);
    Shortlist list(memory, rows);
    for (std::uint32_t row = 0; row < 10; ++row) {
        list.add(1.0F, row);
    }
    list.shrink(3, [](float bound) { return bound; });
    CHECK(list.full());
}

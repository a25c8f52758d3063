#include <doctest/doctest.h>

#include <vector>

#include "assay/svm/row_cache.hpp"

using assay::svm::RowCache;

TEST_CASE("the least recently used row leaves first, and none of the current round") {
    RowCache<float> cache(10, 4, 2 * 4 * sizeof(float));
    REQUIRE(cache.slots() == 2);
    cache.begin();
    CHECK(cache.find(1) == nullptr);
    float* one = cache.claim(1);
    float* two = cache.claim(2);
    REQUIRE(one != nullptr);
    CHECK(two != one);
    CHECK(cache.claim(3) == nullptr);
    cache.begin();
    CHECK(cache.find(1) == one);
    CHECK(cache.claim(3) == two);
    CHECK(cache.peek(2) == nullptr);
    CHECK(cache.peek(1) == one);
    cache.clear();
    CHECK(cache.find(1) == nullptr);
    CHECK(cache.find(3) == nullptr);
    CHECK(cache.claim(7) != nullptr);
}

TEST_CASE("keep shortens the rows, and a cache without room holds nothing") {
    RowCache<double> cache(3, 4, 1000);
    cache.begin();
    double* row = cache.claim(0);
    for (int j = 0; j < 4; ++j) {
        row[j] = j;
    }
    const std::vector<std::uint32_t> places = {1, 3};
    cache.keep(places, 2);
    CHECK(cache.peek(0)[0] == 1);
    CHECK(cache.peek(0)[1] == 3);

    RowCache<double> none(3, 4, 0);
    none.begin();
    CHECK(none.slots() == 0);
    CHECK(none.find(0) == nullptr);
    CHECK(none.claim(0) == nullptr);
}

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <utility>

#include "assay/common/aligned.hpp"

using assay::AlignedBuffer;

TEST_CASE("aligned buffer starts on a cache line") {
    for (const std::size_t size : {1U, 3U, 1000U}) {
        AlignedBuffer<float> buffer(size);
        CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % assay::cache_line == 0);
        CHECK(buffer.size() == size);
        std::iota(buffer.begin(), buffer.end(), 0.0F);
        CHECK(buffer[size - 1] == static_cast<float>(size - 1));
    }
}

TEST_CASE("aligned buffer moves its memory") {
    AlignedBuffer<int> buffer(2);
    buffer[1] = 7;
    const int* memory = buffer.data();
    const AlignedBuffer<int> moved = std::move(buffer);
    CHECK(moved.data() == memory);
    CHECK(moved[1] == 7);
}

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "assay/common/random.hpp"

using assay::philox;
using assay::PhiloxBlock;
using assay::RandomStream;

TEST_CASE("philox gives the known answers of its authors") {
    // Random123, tests/kat_vectors, philox4x32 with 10 rounds.
    CHECK(philox({0, 0, 0, 0}, 0, 0) ==
          PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffff, 0xffffffff) ==
          PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
          PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a stream is a pure function of seed and key") {
    RandomStream a(7, 3);
    RandomStream b(7, 3);
    RandomStream other_key(7, 4);
    RandomStream other_seed(8, 3);
    std::size_t same_key = 0;
    std::size_t same_seed = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::uint32_t x = a();
        CHECK(x == b());
        same_key += x == other_key() ? 1 : 0;
        same_seed += x == other_seed() ? 1 : 0;
    }
    CHECK(same_key <= 2);
    CHECK(same_seed <= 2);
}

TEST_CASE("the first numbers of a stream never change") {
    // A changed stream changes every seeded result: model files would differ.
    RandomStream stream(1, 2);
    CHECK(stream() == philox({0, 0, 2, 0}, 1, 0)[0]);
    stream();
    stream();
    stream();
    CHECK(stream() == philox({1, 0, 2, 0}, 1, 0)[0]);
}

TEST_CASE("below is uniform and in range") {
    RandomStream stream(0, 0);
    for (const std::uint32_t bound : {1U, 2U, 3U, 7U, 10U}) {
        constexpr int draws = 60000;
        std::vector<int> count(bound);
        for (int i = 0; i < draws; ++i) {
            ++count.at(stream.below(bound));
        }
        double chi2 = 0;
        const double expected = draws / static_cast<double>(bound);
        for (const int c : count) {
            chi2 += (c - expected) * (c - expected) / expected;
        }
        CHECK(chi2 < 40);  // at most 9 degrees of freedom: p < 1e-5
    }
}

TEST_CASE("below has no bias where a plain remainder would") {
    // bound = 3 * 2^30: x % bound gives the lowest third twice as often.
    RandomStream stream(5, 0);
    constexpr std::uint32_t bound = 3U << 30;
    int low = 0;
    constexpr int draws = 30000;
    for (int i = 0; i < draws; ++i) {
        low += stream.below(bound) < (1U << 30) ? 1 : 0;
    }
    CHECK(std::abs(low - draws / 3) < 400);
}

TEST_CASE("below accepts bounds over 32 bits") {
    RandomStream stream(5, 1);
    constexpr std::uint64_t bound = std::uint64_t{3} << 62;
    int low = 0;
    for (int i = 0; i < 30000; ++i) {
        const std::uint64_t x = stream.below(bound);
        CHECK(x < bound);
        low += x < (std::uint64_t{1} << 62) ? 1 : 0;
    }
    CHECK(std::abs(low - 10000) < 400);
}

TEST_CASE("uniform has the moments of the unit interval") {
    RandomStream stream(11, 0);
    constexpr int draws = 100000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < draws; ++i) {
        const double x = stream.uniform();
        CHECK((x >= 0 && x < 1));
        sum += x;
        squares += x * x;
    }
    CHECK(sum / draws == doctest::Approx(0.5).epsilon(0.01));
    CHECK(squares / draws == doctest::Approx(1.0 / 3).epsilon(0.01));
}

TEST_CASE("normal has the moments and tails of the normal distribution") {
    RandomStream stream(13, 0);
    constexpr int draws = 200000;
    double sum = 0;
    double squares = 0;
    double fourth = 0;
    int beyond = 0;
    for (int i = 0; i < draws; ++i) {
        const double x = stream.normal();
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
        beyond += std::abs(x) > 1.959964 ? 1 : 0;
    }
    CHECK(std::abs(sum / draws) < 0.01);
    CHECK(squares / draws == doctest::Approx(1).epsilon(0.02));
    CHECK(fourth / draws == doctest::Approx(3).epsilon(0.05));
    CHECK(beyond / static_cast<double>(draws) == doctest::Approx(0.05).epsilon(0.05));
}

TEST_CASE("shuffle makes every order equally often") {
    RandomStream stream(17, 0);
    constexpr int draws = 24000;
    std::vector<int> count(24);
    for (int i = 0; i < draws; ++i) {
        std::array<int, 4> items = {0, 1, 2, 3};
        stream.shuffle(std::span<int>(items));
        int rank = 0;
        std::array<int, 4> order = {0, 1, 2, 3};
        while (order != items) {
            ++rank;
            REQUIRE(std::next_permutation(order.begin(), order.end()));
        }
        ++count[static_cast<std::size_t>(rank)];
    }
    for (const int c : count) {
        CHECK(std::abs(c - draws / 24) < 160);  // five standard deviations
    }
}

// A team runs every chunk of every phase once, whoever comes.
#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "assay/tree/boost_team.hpp"

using assay::tree::Team;

TEST_CASE("every chunk of every phase runs exactly once") {
    for (const int n_threads : {1, 2, 4}) {
        std::vector<std::atomic<int>> count(100);
        Team::run(n_threads, [&](Team& team) {
            for (int phase = 0; phase < 500; ++phase) {
                const auto n_chunks = static_cast<std::size_t>(phase % 100);
                team.each(n_chunks, [&](std::size_t chunk, int) { ++count[chunk]; });
            }
        });
        for (std::size_t chunk = 0; chunk < 100; ++chunk) {
            CHECK(count[chunk] == 5 * (99 - static_cast<int>(chunk)));
        }
    }
}

TEST_CASE("a phase ends before the next begins") {
    long total = 0;
    Team::run(3, [&](Team& team) {
        std::vector<long> value(64, 0);
        for (int phase = 0; phase < 300; ++phase) {
            team.each(value.size(), [&](std::size_t chunk, int) { value[chunk] += phase; });
            total += value[static_cast<std::size_t>(phase) % 64];
        }
    });
    long expected = 0;
    for (long phase = 0; phase < 300; ++phase) {
        expected += phase * (phase + 1) / 2;
    }
    CHECK(total == expected);
}

TEST_CASE("thread numbers are below the number of threads") {
    std::atomic<bool> fits = true;
    Team::run(2, [&](Team& team) {
        team.each(1000, [&](std::size_t, int thread) {
            if (thread < 0 || thread >= 2) {
                fits = false;
            }
        });
    });
    CHECK(fits);
}

TEST_CASE("what the leader throws reaches the caller") {
    CHECK_THROWS_AS(Team::run(2, [](Team&) { throw std::runtime_error("no"); }),
                    std::runtime_error);
}

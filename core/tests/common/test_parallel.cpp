#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "assay/common/parallel.hpp"

using assay::Range;

namespace {

// A sum that depends on the order of its terms.
double chunked_sum(std::size_t n, int n_threads) {
    constexpr std::size_t chunk = 37;
    std::vector<double> partial(assay::chunk_count(n, chunk));
    assay::parallel_chunks(n, chunk, n_threads, [&](Range range) {
        for (std::size_t i = range.begin; i < range.end; ++i) {
            partial[range.index] += std::sin(static_cast<double>(i)) * 1e10;
        }
    });
    double sum = 0;
    for (const double part : partial) {
        sum += part;
    }
    return sum;
}

}  // namespace

TEST_CASE("parallel_for visits every index exactly once") {
    for (const std::size_t n : {0U, 1U, 2U, 255U, 256U, 257U, 10000U}) {
        for (const int n_threads : {1, 2, 5}) {
            std::vector<int> visits(n);
            assay::parallel_for(n, n_threads, [&](std::size_t i) { ++visits[i]; });
            CHECK(visits == std::vector<int>(n, 1));
        }
    }
}

TEST_CASE("parallel_chunks covers the range with chunks of the given size") {
    std::vector<Range> ranges(assay::chunk_count(10, 4));
    assay::parallel_chunks(10, 4, 3, [&](Range range) { ranges[range.index] = range; });
    REQUIRE(ranges.size() == 3);
    CHECK(ranges[1].begin == 4);
    CHECK(ranges[1].end == 8);
    CHECK(ranges[2].end == 10);
}

TEST_CASE("a chunked reduction has the same bits for any number of threads") {
    const double serial = chunked_sum(100000, 1);
    for (const int n_threads : {2, 3, 8}) {
        CHECK(chunked_sum(100000, n_threads) == serial);
    }
}

TEST_CASE("nested calls run serially on the calling thread") {
    std::atomic<int> wrong = 0;
    std::atomic<int> inner = 0;
    assay::parallel_for(64, 4, [&](std::size_t) {
        const auto outer_thread = std::this_thread::get_id();
        assay::parallel_for(16, 4, [&](std::size_t) {
            wrong += std::this_thread::get_id() != outer_thread ? 1 : 0;
            ++inner;
        });
    });
    CHECK(wrong == 0);
    CHECK(inner == 64 * 16);
}

TEST_CASE("the exception of the first failing chunk reaches the caller") {
    for (const int n_threads : {1, 2, 4}) {
        std::string message;
        try {
            assay::parallel_chunks(1000, 1, n_threads, [](Range range) {
                if (range.index % 100 == 17) {
                    throw std::runtime_error("chunk " + std::to_string(range.index));
                }
            });
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        CHECK(message == "chunk 17");
        // The pool is usable afterwards.
        CHECK(chunked_sum(1000, n_threads) == chunked_sum(1000, 1));
    }
}

TEST_CASE("several threads may use the pool at once") {
    const double expected = chunked_sum(20000, 1);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&] {
            for (int repeat = 0; repeat < 20; ++repeat) {
                wrong += chunked_sum(20000, 3) != expected ? 1 : 0;
            }
        });
    }
    for (std::thread& caller : callers) {
        caller.join();
    }
    CHECK(wrong == 0);
}

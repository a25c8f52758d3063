// Loops over fixed chunks of rows, on one small pool of threads.
//
//     parallel_chunks(n, chunk, n_threads, body)   body(Range) for [0, chunk), [chunk, 2 chunk) ...
//     parallel_for(n, n_threads, body)             body(i) for every i < n
//
// The chunks depend on n and `chunk` alone, never on n_threads or on timing: a
// reduction that keeps one partial result per chunk and adds them in the order
// of Range::index gives the same bits for any number of threads.
//
// A call from inside a body runs serially. The exception of the first failing
// chunk is rethrown to the caller; chunks not yet begun are then skipped.
//
// Needs   n_threads >= 1 (the caller counts as one), chunk >= 1.
// Cost    about 10 microseconds to wake the pool; nothing when one chunk or one
//         thread is enough. Threads start on first use and then sleep. A forked
//         child gets a fresh pool (no thread survives fork).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>

#include "assay/common/thread_pool.hpp"

namespace assay {

struct Range {
    std::size_t begin;
    std::size_t end;
    std::size_t index;  // which chunk
};

[[nodiscard]] constexpr std::size_t chunk_count(std::size_t n, std::size_t chunk) noexcept {
    return n / chunk + (n % chunk != 0 ? 1 : 0);
}

template <class Body>
void parallel_chunks(std::size_t n, std::size_t chunk, int n_threads, Body&& body) {
    assert(chunk >= 1);
    const auto run = [&](std::size_t index) {
        const std::size_t begin = index * chunk;
        std::invoke(body, Range{begin, std::min(n, begin + chunk), index});
    };
    run_tasks(chunk_count(n, chunk), n_threads, run);
}

template <class Body>
void parallel_for(std::size_t n, int n_threads, Body&& body) {
    // Enough chunks to balance uneven rows, few enough to cost nothing.
    const std::size_t chunk = std::max<std::size_t>(1, n / 256);
    parallel_chunks(n, chunk, n_threads, [&](Range range) {
        for (std::size_t i = range.begin; i < range.end; ++i) {
            std::invoke(body, i);
        }
    });
}

}  // namespace assay

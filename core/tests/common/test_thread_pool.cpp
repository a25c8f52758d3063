#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "assay/common/thread_pool.hpp"

#ifdef __SANITIZE_THREAD__
constexpr bool can_thread_after_fork = false;  // ThreadSanitizer ends such a child
#else
constexpr bool can_thread_after_fork = true;
#endif

TEST_CASE("tasks are handed out in ascending order") {
    constexpr int n_threads = 3;
    std::atomic<std::size_t> begun = 0;
    std::atomic<int> wrong = 0;
    assay::run_tasks(10000, n_threads, [&](std::size_t index) {
        // All earlier tasks were taken; only the other threads may not have counted theirs.
        wrong += begun.fetch_add(1) + n_threads - 1 < index ? 1 : 0;
    });
    CHECK(wrong == 0);
}

TEST_CASE("no more threads work than were asked for") {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    assay::run_tasks(200, 2, [&](std::size_t) {
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
    });
    CHECK(seen.size() <= 2);
}

#ifdef __linux__
TEST_CASE("workers that were woken after a pause may use every core again") {
    const int cores = assay::usable_cores();
    for (int round = 0; round < 3; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        std::atomic<int> fewer = 0;
        assay::run_tasks(64, 2, [&](std::size_t) {
            fewer += assay::usable_cores() < cores ? 1 : 0;
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        });
        CHECK(fewer == 0);
    }
}

namespace {

void pin_to(int core) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    REQUIRE(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0);
}

// The least number of cores that a worker may use, in tasks begun by this thread; 0 if no worker
// took one.
int cores_of_workers() {
    const auto caller = std::this_thread::get_id();
    std::mutex mutex;
    int least = 0;
    assay::run_tasks(64, 3, [&](std::size_t) {
        if (std::this_thread::get_id() != caller) {
            const int cores = assay::usable_cores();
            const std::lock_guard lock(mutex);
            least = least == 0 ? cores : std::min(least, cores);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    return least;
}

}  // namespace

TEST_CASE("workers made by a pinned caller may use every core" *
          doctest::skip(!can_thread_after_fork)) {
    const int cores = assay::usable_cores();
    REQUIRE(assay::detail::process_cores().count == cores);  // as when the extension is loaded
    const pid_t child = fork();                              // its pool has no workers yet
    if (child == 0) {
        pin_to(sched_getcpu());
        const bool pinned = assay::usable_cores() == 1;
        _exit(pinned && cores_of_workers() == cores ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("workers woken by a pinned caller may use every core, and the caller stays pinned") {
    const int cores = assay::usable_cores();
    for (int round = 0; round < 3; ++round) {
        std::thread([&] {
            pin_to(sched_getcpu());
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            CHECK(cores_of_workers() == cores);
            CHECK(assay::usable_cores() == 1);
        }).join();
    }
}

// The measurement in thread_pool.hpp: with ASSAY_WAKE=anywhere and without, in turns,
//     assay_tests --no-skip --test-case="how long a call takes after a pause"
TEST_CASE("how long a call takes after a pause" * doctest::skip()) {
    for (const int pause : {0, 5, 50}) {
        std::vector<double> milliseconds;
        for (int round = 0; round < 100; ++round) {
            std::this_thread::sleep_for(std::chrono::milliseconds(pause));
            const auto begin = std::chrono::steady_clock::now();
            assay::run_tasks(8, 2, [](std::size_t) {
                double x = 1;
                for (int i = 0; i < 300000; ++i) {
                    x = x * 1.0000001 + 1e-9;
                }
                [[maybe_unused]] volatile double kept = x;
            });
            milliseconds.push_back(
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                    .count());
        }
        std::sort(milliseconds.begin(), milliseconds.end());
        MESSAGE("pause " << pause << " ms: median " << milliseconds[50] << ", 90 % "
                         << milliseconds[90] << " ms");
    }
}
#endif

TEST_CASE("a forked child has a working pool" * doctest::skip(!can_thread_after_fork)) {
    std::atomic<int> count = 0;
    assay::run_tasks(100, 4, [&](std::size_t) { ++count; });  // the parent's workers exist
    REQUIRE(count == 100);
    for (int repeat = 0; repeat < 10; ++repeat) {
        const pid_t child = fork();
        if (child == 0) {
            std::atomic<int> done = 0;
            assay::run_tasks(100, 4, [&](std::size_t) { ++done; });
            _exit(done == 100 ? 0 : 1);
        }
        int status = -1;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0);
    }
    assay::run_tasks(100, 4, [&](std::size_t) { ++count; });  // and the parent still does
    CHECK(count == 200);
}

TEST_CASE("a fork while other threads use the pool is safe" *
          doctest::skip(!can_thread_after_fork)) {
    std::atomic<bool> stop = false;
    std::thread busy([&] {
        while (!stop) {
            assay::run_tasks(50, 3, [](std::size_t) {});
        }
    });
    for (int repeat = 0; repeat < 20; ++repeat) {
        const pid_t child = fork();
        if (child == 0) {
            std::atomic<int> done = 0;
            assay::run_tasks(50, 3, [&](std::size_t) { ++done; });
            _exit(done == 50 ? 0 : 1);
        }
        int status = -1;
        REQUIRE(waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    stop = true;
    busy.join();
}

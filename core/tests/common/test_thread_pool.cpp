#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

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

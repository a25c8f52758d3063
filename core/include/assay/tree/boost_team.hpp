// A few threads that stay together for one long piece of work made of many short phases.
//
//     Team::run(n_threads, [&](Team& team) { ...; team.each(n_chunks, body); ... });
//
// One thread leads; the others wait for phases by spinning, so that a phase costs less than
// a microsecond where waking a pool costs ten: a boosted tree has a hundred phases.
// body(chunk, thread) runs once for every chunk; each() returns when all are done. Nobody
// waits for a thread that has not come: the leader does whatever is left over.
//
// Needs   n_chunks < 2^20. body must not throw, and not call each().
// Cost    one atomic addition per chunk.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <type_traits>

#include "assay/common/parallel.hpp"

#ifdef ASSAY_X86
#include <immintrin.h>
#endif

namespace assay::tree {

class Team {
  public:
    explicit Team(int n_threads) noexcept : n_threads_(n_threads) {}
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    [[nodiscard]] int n_threads() const noexcept { return n_threads_; }

    template <class Body>
    void each(std::size_t n_chunks, const Body& body) {
        if (n_threads_ == 1 || n_chunks <= 1) {
            for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
                body(chunk, 0);
            }
            return;
        }
        call_ = [](const void* context, std::size_t chunk, int thread) {
            (*static_cast<const Body*>(context))(chunk, thread);
        };
        context_ = &body;
        done_.store(0, std::memory_order_relaxed);
        epoch_ = (epoch_ + 1) & 0xFFFFFF;
        // Epoch, number of chunks and next chunk in one word: a claim is always consistent.
        state_.store(epoch_ << 40 | std::uint64_t{n_chunks} << 20, std::memory_order_release);
        help(0);
        for (int spins = 0; done_.load(std::memory_order_acquire) != n_chunks;) {
            relax(spins);
        }
    }

    template <class Lead>
    static void run(int n_threads, const Lead& lead) {
        Team team(n_threads);
        const auto caller = std::this_thread::get_id();
        std::atomic<int> thread = 1;
        std::exception_ptr failure;
        run_tasks(static_cast<std::size_t>(n_threads), n_threads, [&](std::size_t) {
            if (team.closed_.load(std::memory_order_acquire)) {
                return;
            }
            if (std::this_thread::get_id() == caller) {
                try {
                    lead(team);
                } catch (...) {
                    failure = std::current_exception();
                }
                team.closed_.store(true, std::memory_order_release);
            } else {
                team.serve(thread.fetch_add(1));
            }
        });
        if (failure) {
            std::rethrow_exception(failure);
        }
    }

  private:
    static constexpr std::uint64_t low20 = 0xFFFFF;

    [[nodiscard]] static bool has_work(std::uint64_t state) noexcept {
        return (state & low20) < (state >> 20 & low20);
    }

    void help(int thread) {
        while (has_work(state_.load(std::memory_order_acquire))) {
            const std::uint64_t state = state_.fetch_add(1, std::memory_order_acq_rel);
            if (!has_work(state)) {
                return;
            }
            // A claimed chunk keeps the phase open, so call_ and context_ are its own.
            call_(context_, static_cast<std::size_t>(state & low20), thread);
            done_.fetch_add(1, std::memory_order_acq_rel);
        }
    }

    void serve(int thread) {
        for (int spins = 0; !closed_.load(std::memory_order_acquire);) {
            if (has_work(state_.load(std::memory_order_acquire))) {
                help(thread);
                spins = 0;
            } else {
                relax(spins);
            }
        }
    }

    static void relax(int& spins) noexcept {
        if (++spins > 4000) {
            std::this_thread::yield();  // more threads than cores: let the others work
        } else {
#ifdef ASSAY_X86
            _mm_pause();
#endif
        }
    }

    int n_threads_;
    std::uint64_t epoch_ = 0;
    void (*call_)(const void*, std::size_t, int) = nullptr;
    const void* context_ = nullptr;
    alignas(64) std::atomic<std::uint64_t> state_ = 0;
    alignas(64) std::atomic<std::size_t> done_ = 0;
    std::atomic<bool> closed_ = false;
};

}  // namespace assay::tree

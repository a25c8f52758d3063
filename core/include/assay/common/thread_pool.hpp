// The one pool of threads behind parallel.hpp.
//
//     run_tasks(n_tasks, n_threads, task)      task(0), task(1), ..., task(n_tasks - 1)
//
// The caller works on its own tasks, helped by at most n_threads - 1 workers, so
// calls from several Python threads share the pool and can never wait for each
// other. Tasks are handed out in ascending order.
//
// A worker may run on every core that the process had when they were first asked for, which the
// extension does when it is loaded: a caller that is pinned to one core, as some programs do with
// threads of their own, keeps that to itself.
//
// A sleeping worker is woken with the caller's core forbidden (when there are many, only after a
// pause: it costs a microsecond each), and allows it again as soon as it runs. Left to itself,
// Linux was seen to wake the worker on the core of its caller, in a virtual machine of two cores:
// for 15 ms two threads shared a core while the other slept. Measured there, 8 tasks of 0.8 ms on
// two threads, median of 60 calls in ms, three runs in turns, on a machine with other work to do:
//
//     pause before the call      0 ms               5 ms               50 ms
//     caller's core forbidden    4.5  4.5  4.9      3.5  3.5  5.2      3.6  4.0  4.3
//     ASSAY_WAKE=anywhere        7.8  5.5  8.1      4.0  5.3  7.2      5.8  6.3  5.8
//
// (test_thread_pool.cpp, "how long a call takes after a pause").
//
// Needs   n_threads >= 1. Workers must not fork.
// Cost    one lock per helper and call, one atomic addition per task.
#pragma once

#include <pthread.h>
#ifdef __linux__
#include <sched.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace assay {
namespace detail {

inline thread_local bool inside_task = false;

#ifdef __linux__
// A set of cores; none where the system does not say.
struct Cores {
    cpu_set_t set{};
    int count = 0;

    static Cores of(pid_t thread) noexcept {
        Cores cores;
        if (sched_getaffinity(thread, sizeof cores.set, &cores.set) == 0) {
            cores.count = CPU_COUNT(&cores.set);
        }
        return cores;
    }
};

// Those of the process are those of its first thread. Read once, before the program can have pinned
// it: bind_cpu asks. (A variable with a start value would put that code into every level object.)
inline const Cores& process_cores() noexcept {
    static const Cores cores = Cores::of(getpid());
    return cores;
}
#endif

// The switch: ASSAY_WAKE=anywhere in the environment leaves the choice of a core to the system.
[[nodiscard]] inline bool wakes_away() noexcept {
    static const bool away = [] {
        const char* where = std::getenv("ASSAY_WAKE");
        return where == nullptr || std::string_view(where) != "anywhere";
    }();
    return away;
}

struct Job {
    void (*call)(const void* task, std::size_t index) = nullptr;
    const void* task = nullptr;
    std::size_t n_tasks = 0;
    std::atomic<std::size_t> next = 0;
    // Guarded by the pool's mutex.
    std::size_t helpers_wanted = 0;
    std::size_t helpers = 0;
    std::size_t failed_index = 0;
    std::exception_ptr failure;
};

class ThreadPool {
  public:
    void run(Job& job, std::size_t n_helpers) {
        {
            const std::lock_guard lock(mutex_);
            grow(n_helpers);
            if (open_.empty()) {
                send_away(n_helpers);
            }
            job.helpers_wanted = n_helpers;
            open_.push_back(&job);
        }
        work_.notify_all();
        drain(job);
        std::unique_lock lock(mutex_);
        open_.erase(std::find(open_.begin(), open_.end(), &job));
        done_.wait(lock, [&] { return job.helpers == 0; });
        assert(job.next.load() >= job.n_tasks);  // nobody works on a job that is given up
        last_end_ = Clock::now();
        if (job.failure) {
            std::rethrow_exception(job.failure);
        }
    }

    // Never destroyed: at exit the workers sleep, and after fork they are gone.
    static ThreadPool& current() {
        static const int handlers = pthread_atfork(lock_current, unlock_current, renew_current);
        static_cast<void>(handlers);
        return *slot().load(std::memory_order_acquire);
    }

  private:
    static std::atomic<ThreadPool*>& slot() {
        static std::atomic<ThreadPool*> pool = new ThreadPool;
        return pool;
    }
    // The mutex is held across fork, so that the parent's state is consistent; the
    // child cannot unlock what its dead workers may wait for, and starts anew.
    static void lock_current() { slot().load()->mutex_.lock(); }
    static void unlock_current() { slot().load()->mutex_.unlock(); }
    static void renew_current() { slot().store(new ThreadPool, std::memory_order_release); }

    void grow(std::size_t size) {
        while (workers_.size() < size) {
            try {
                workers_.emplace_back([this, number = workers_.size()] { serve(number); });
                is_away_.push_back(false);
            } catch (const std::system_error&) {
                return;  // the system gives no more threads: the caller does the rest
            }
        }
    }

    // A new thread inherits the cores of the one that made it, which may be pinned.
    static void use_all_cores() noexcept {
#ifdef __linux__
        const Cores& cores = process_cores();
        if (cores.count > 0) {
            pthread_setaffinity_np(pthread_self(), sizeof cores.set, &cores.set);
        }
#endif
    }

    void serve(std::size_t number) {
        use_all_cores();
        std::unique_lock lock(mutex_);
        for (;;) {
            Job* job = nullptr;
            work_.wait(lock, [&] { return (job = wanting()) != nullptr; });
            assert(job->helpers_wanted > 0);
            --job->helpers_wanted;
            ++job->helpers;
            if (is_away_[number]) {
                is_away_[number] = false;
                use_all_cores();
            }
            lock.unlock();
            drain(*job);
            lock.lock();
            if (--job->helpers == 0) {
                done_.notify_all();
            }
        }
    }

    // Keeps sleeping workers from the caller's core until they run.
    void send_away([[maybe_unused]] std::size_t n_helpers) {
#ifdef __linux__
        constexpr std::chrono::milliseconds pause(2);
        constexpr std::size_t few = 4;
        const int here = sched_getcpu();
        if (!wakes_away() || (n_helpers > few && Clock::now() - last_end_ < pause) || here < 0 ||
            process_cores().count < 2) {
            return;
        }
        cpu_set_t others = process_cores().set;
        CPU_CLR(here, &others);
        for (std::size_t i = 0; i < std::min(n_helpers, workers_.size()); ++i) {
            is_away_[i] =
                pthread_setaffinity_np(workers_[i].native_handle(), sizeof others, &others) == 0;
        }
#endif
    }

    Job* wanting() const {
        for (Job* job : open_) {
            if (job->helpers_wanted > 0 && job->next.load() < job->n_tasks) {
                return job;
            }
        }
        return nullptr;
    }

    void drain(Job& job) {
        inside_task = true;
        for (;;) {
            const std::size_t index = job.next.fetch_add(1);
            if (index >= job.n_tasks) {
                break;
            }
            try {
                job.call(job.task, index);
            } catch (...) {
                job.next.store(job.n_tasks);
                const std::lock_guard lock(mutex_);
                // All earlier tasks were begun before this one: keeping the smallest
                // index makes the choice of the exception independent of timing.
                if (!job.failure || index < job.failed_index) {
                    job.failure = std::current_exception();
                    job.failed_index = index;
                }
            }
        }
        inside_task = false;
    }

    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable done_;
    std::vector<Job*> open_;
    std::vector<std::thread> workers_;
    std::vector<bool> is_away_;  // may not run on the core of a caller
    using Clock = std::chrono::steady_clock;
    Clock::time_point last_end_{};
};

}  // namespace detail

// The cores that this process may use (its affinity, where the system has one).
[[nodiscard]] inline int usable_cores() noexcept {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return std::max(CPU_COUNT(&set), 1);
    }
#endif
    return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
}

template <class Task>
void run_tasks(std::size_t n_tasks, int n_threads, const Task& task) {
    const auto n_helpers = static_cast<std::size_t>(std::max(n_threads, 1)) - 1;
    if (n_tasks <= 1 || n_helpers == 0 || detail::inside_task) {
        for (std::size_t index = 0; index < n_tasks; ++index) {
            task(index);
        }
        return;
    }
    detail::Job job;
    job.call = [](const void* body, std::size_t index) {
        (*static_cast<const Task*>(body))(index);
    };
    job.task = &task;
    job.n_tasks = n_tasks;
    detail::ThreadPool::current().run(job, std::min(n_helpers, n_tasks - 1));
}

}  // namespace assay

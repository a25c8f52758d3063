// A cache of kernel rows with a fixed size in bytes; the least recently used row leaves first.
//
//     begin()      a new round: rows found or claimed from now on stay until the next begin
//     find(key)    the row, or nullptr
//     claim(key)   room for a row that was not found, or nullptr when all room is taken this round
//     keep(which)  shorten every row to the given places, in place
//
// Which rows are in the cache never changes a result: a kernel value has the same bits whether
// it is read or computed again.
//
// Needs   key < n_keys; claim only after find gave nullptr.
// Cost    O(1) per call; memory is taken from the system as rows are written.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/parallel.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace assay::svm {

template <class T>
class RowCache {
  public:
    RowCache(std::size_t n_keys, std::size_t stride, std::size_t bytes)
        : stride_(stride), slot_of_(n_keys, none) {
        const std::size_t row_bytes = std::max<std::size_t>(1, stride * sizeof(T));
        const std::size_t slots = std::min(n_keys, bytes / row_bytes);
        rows_ = AlignedBuffer<T>(slots * stride);
        use_large_pages();
        key_of_.assign(slots, none);
        round_of_.assign(slots, 0);
        next_.resize(slots + 1);
        before_.resize(slots + 1);
        for (std::size_t s = 0; s <= slots; ++s) {  // the ring's head is the place after the last
            next_[s] = static_cast<std::uint32_t>(s == slots ? 0 : s + 1);
            before_[s] = static_cast<std::uint32_t>(s == 0 ? slots : s - 1);
        }
    }

    [[nodiscard]] std::size_t slots() const noexcept { return key_of_.size(); }

    void begin() noexcept { ++round_; }

    [[nodiscard]] T* find(std::size_t key) noexcept {
        const std::uint32_t slot = slot_of_[key];
        if (slot == none) {
            return nullptr;
        }
        touch(slot);
        return row(slot);
    }

    // As find, without making the row recent.
    [[nodiscard]] const T* peek(std::size_t key) const noexcept {
        const std::uint32_t slot = slot_of_[key];
        return slot == none ? nullptr : rows_.data() + slot * stride_;
    }

    [[nodiscard]] T* claim(std::size_t key) noexcept {
        if (slots() == 0) {
            return nullptr;
        }
        assert(slot_of_[key] == none);  // find(key) came first
        const std::uint32_t oldest = next_[slots()];
        assert(oldest < slots());
        if (round_of_[oldest] == round_) {
            return nullptr;
        }
        if (key_of_[oldest] != none) {
            slot_of_[key_of_[oldest]] = none;
        }
        key_of_[oldest] = static_cast<std::uint32_t>(key);
        slot_of_[key] = oldest;
        touch(oldest);
        return row(oldest);
    }

    void clear() noexcept {
        std::fill(slot_of_.begin(), slot_of_.end(), none);
        std::fill(key_of_.begin(), key_of_.end(), none);
        std::fill(round_of_.begin(), round_of_.end(), 0);
        round_ = 1;
    }

    // Needs `which` ascending.
    void keep(std::span<const std::uint32_t> which, int n_threads) {
        assert(std::is_sorted(which.begin(), which.end()) && which.size() <= stride_);
        parallel_for(slots(), n_threads, [&](std::size_t slot) {
            if (key_of_[slot] != none) {
                T* values = row(slot);
                for (std::size_t j = 0; j < which.size(); ++j) {
                    values[j] = values[which[j]];
                }
            }
        });
    }

  private:
    static constexpr std::uint32_t none = 0xFFFFFFFF;

    // Fresh pages of 4 KB cost as much as the kernel values that are written to them.
    void use_large_pages() noexcept {
#ifdef __linux__
        constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
        const auto begin = reinterpret_cast<std::uintptr_t>(rows_.data());
        const std::uintptr_t first = (begin + page - 1) / page * page;
        const std::uintptr_t last = (begin + rows_.size() * sizeof(T)) / page * page;
        if (last > first) {
            madvise(reinterpret_cast<char*>(rows_.data()) + (first - begin), last - first,
                    MADV_HUGEPAGE);
        }
#endif
    }

    [[nodiscard]] T* row(std::size_t slot) noexcept { return rows_.data() + slot * stride_; }

    void touch(std::uint32_t slot) noexcept {
        const auto head = static_cast<std::uint32_t>(slots());
        next_[before_[slot]] = next_[slot];
        before_[next_[slot]] = before_[slot];
        before_[slot] = before_[head];
        next_[slot] = head;
        next_[before_[head]] = slot;
        before_[head] = slot;
        assert(next_[before_[slot]] == slot && before_[next_[slot]] == slot);
        round_of_[slot] = round_;
    }

    std::size_t stride_;
    std::uint64_t round_ = 1;
    AlignedBuffer<T> rows_;
    std::vector<std::uint32_t> slot_of_;
    std::vector<std::uint32_t> key_of_;
    std::vector<std::uint64_t> round_of_;
    std::vector<std::uint32_t> next_;
    std::vector<std::uint32_t> before_;
};

}  // namespace assay::svm

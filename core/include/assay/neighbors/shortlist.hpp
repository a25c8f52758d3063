// The rows that may still be among the k nearest of one query, by their screen value.
//
//     entries with score <= limit;  limit follows the k-th smallest score seen so far
//
// Scores come in any number; when the memory is full, about the k-th smallest sets a new limit
// and what lies above it is dropped. Nothing is computed exactly here, so a row that enters and
// leaves again has cost a few nanoseconds. Entries keep the order in which they came.
//
// Cost    amortised O(1) per entry; the memory (capacity entries) is the caller's.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "assay/common/dispatch.hpp"
#include "assay/neighbors/select.hpp"

namespace assay::neighbors {

class Shortlist {
  public:
    Shortlist() = default;
    Shortlist(std::span<float> scores, std::span<std::uint32_t> rows) noexcept
        : scores_(scores), rows_(rows) {}

    [[nodiscard]] float limit() const noexcept { return limit_; }
    [[nodiscard]] bool full() const noexcept { return size_ == scores_.size(); }
    [[nodiscard]] std::span<const std::uint32_t> rows() const noexcept {
        return rows_.first(size_);
    }

    // Takes nothing any more.
    void lose() noexcept { limit_ = -std::numeric_limits<float>::infinity(); }
    [[nodiscard]] bool lost() const noexcept {
        return limit_ == -std::numeric_limits<float>::infinity();
    }

    // Needs not full().
    void add(float score, std::uint32_t row) noexcept {
        assert(!full());
        scores_[size_] = score;
        rows_[size_++] = row;
    }

    // Drops what cannot be among the k nearest: limit_of(s) is the largest score of a row that is
    // not farther than some row with score s. Needs k <= entries; scores are numbers.
    template <class LimitOf>
    void shrink(std::size_t k, const LimitOf& limit_of) noexcept {
        assert(k >= 1 && k <= size_);
        dispatch([&](auto level) {
            using Kernel = Select<decltype(level)>;
            const float bound = Kernel::bound(scores_.data(), size_, k);
            limit_ = std::min(limit_, limit_of(bound));
            size_ = Kernel::keep(scores_.data(), rows_.data(), size_, limit_);
        });
    }

  private:
    std::span<float> scores_;
    std::span<std::uint32_t> rows_;
    std::size_t size_ = 0;
    float limit_ = std::numeric_limits<float>::infinity();
};

}  // namespace assay::neighbors

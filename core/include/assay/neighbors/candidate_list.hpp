// The k nearest rows of one query after another, for k up to most_sums (candidates.hpp).
//
//     order: by (distance, row index), as in nearest_list.hpp
//
// Cost    a vector or two per row that is kept, and again per neighbour at the end.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/neighbors/candidates.hpp"
#include "assay/neighbors/tree_shape.hpp"

namespace assay::neighbors {

template <class Space>
class CandidateList {
  public:
    // `row_of` says which row stands at a place; leaves have at most `lanes` rows.
    CandidateList(const Space& space, std::span<const std::uint32_t> row_of, std::size_t k,
                  std::size_t lanes)
        : space_(&space),
          row_of_(row_of),
          k_(k),
          room_(std::max<std::size_t>(lanes, 512)),
          sums_(2 * room_ + lane_group),
          places_(2 * room_) {
        list_.sums = sums_.data();
        list_.places = places_.data();
        assert(k >= 1 && k <= row_of.size());
        list_.k = k;
        list_.slack = space.widen(1.0);
        while (list_.width < k) {
            list_.width *= 2;
        }
    }

    void start() noexcept {
        double* const first = list_.smallest + (list_.width - k_);
        std::fill(list_.smallest, first, -std::numeric_limits<double>::infinity());
        std::fill(first, first + k_, std::numeric_limits<double>::infinity());
        list_.limit = std::numeric_limits<double>::infinity();
        list_.n_kept = 0;
    }

    [[nodiscard]] double limit() const noexcept { return list_.limit; }

    // To scan a leaf into.
    [[nodiscard]] Candidates& candidates() {
        if (list_.n_kept > room_) {
            shrink();
        }
        return list_;
    }

    // Writes the neighbours from near to far; there must have been k rows.
    void write(std::span<double> distance, std::span<std::int64_t> index) {
        const std::size_t found = calls_.rank(list_);
        const double* const sums = list_.smallest + (list_.width - k_);
        for (std::size_t t = 0; t < k_; ++t) {
            distance[t] = space_->distance(sums[t]);
        }
        bool tied = found != k_;
        for (std::size_t t = 1; t < k_; ++t) {
            tied |= !(distance[t - 1] < distance[t]);
        }
        if (!tied) {
            for (std::size_t t = 0; t < k_; ++t) {
                index[t] = row_of_[list_.ranked[t]];
            }
            return;
        }
        drop();
        keep_first();
        for (std::size_t t = 0; t < k_; ++t) {
            distance[t] = space_->distance(list_.sums[t]);
            index[t] = row_of_[list_.places[t]];
        }
    }

  private:
    struct KeptRow {
        double reduced;
        std::uint32_t place;
    };

    // Drops what exceeds the limit by now.
    void drop() noexcept {
        std::size_t n = 0;
        for (std::size_t i = 0; i < list_.n_kept; ++i) {
            const double sum = list_.sums[i];
            list_.sums[n] = sum;
            list_.places[n] = list_.places[i];
            n += sum <= list_.limit ? 1 : 0;
        }
        assert(n <= list_.n_kept);
        list_.n_kept = n;
    }

    // Whether a is written before b. Roots are taken only where sums alone do not tell.
    [[nodiscard]] bool nearer(const KeptRow& a, const KeptRow& b) const noexcept {
        if (a.reduced != b.reduced) {
            const double near = std::min(a.reduced, b.reduced);
            const double far = std::max(a.reduced, b.reduced);
            if (near * list_.slack < far) {
                return a.reduced < b.reduced;
            }
            const double of_a = space_->distance(a.reduced);
            const double of_b = space_->distance(b.reduced);
            if (of_a != of_b) {
                return of_a < of_b;
            }
        }
        return row_of_[a.place] < row_of_[b.place];
    }

    // Keeps the k nearest only, sorted.
    void keep_first() {
        assert(list_.n_kept >= k_);
        sorted_.clear();
        for (std::size_t i = 0; i < list_.n_kept; ++i) {
            sorted_.push_back({list_.sums[i], list_.places[i]});
        }
        std::partial_sort(sorted_.begin(), sorted_.begin() + static_cast<std::ptrdiff_t>(k_),
                          sorted_.end(),
                          [&](const KeptRow& a, const KeptRow& b) { return nearer(a, b); });
        for (std::size_t i = 0; i < k_; ++i) {
            list_.sums[i] = sorted_[i].reduced;
            list_.places[i] = sorted_[i].place;
        }
        list_.n_kept = k_;
    }

    void shrink() {
        drop();
        if (list_.n_kept > room_ / 2) {
            keep_first();  // very many ties: only the first k of them can be written
        }
    }

    const Space* space_;
    std::span<const std::uint32_t> row_of_;
    std::size_t k_;
    std::size_t room_;
    std::vector<double> sums_;
    std::vector<std::uint32_t> places_;
    std::vector<KeptRow> sorted_;
    Candidates list_;
    CandidateCalls<typename Space::Query> calls_ = CandidateCalls<typename Space::Query>::in_use();
};

}  // namespace assay::neighbors

// The k best neighbours seen so far by one query.
//
//     order: by (distance, row index)
//
// A short unordered list. When it is full, all but the k best are forgotten and the
// limit for further ones falls: constant work per row that is offered, where a heap
// would need log k.
//
// Needs   rows offered in ascending index, each once: a row as far as the limit then
//         never belongs to the k best.
// Cost    O(1) amortised per offer; the memory (`capacity(k)` entries) is the caller's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace assay::neighbors {

struct Neighbor {
    double distance;
    double reduced;  // the sum whose root is the distance
    std::int64_t index;

    [[nodiscard]] friend bool operator<(const Neighbor& a, const Neighbor& b) noexcept {
        return a.distance != b.distance ? a.distance < b.distance : a.index < b.index;
    }
};

class NearestList {
  public:
    [[nodiscard]] static constexpr std::size_t capacity(std::size_t k) noexcept {
        return k + std::max<std::size_t>(8, k / 2);
    }

    NearestList() = default;
    NearestList(std::span<Neighbor> memory, std::size_t k) noexcept : memory_(memory), k_(k) {}

    // True once k rows are known: `worst` is then the k-th best of them, or a little
    // behind it until `trim`.
    [[nodiscard]] bool has_limit() const noexcept { return has_limit_; }
    [[nodiscard]] const Neighbor& worst() const noexcept { return worst_; }

    // The largest sum that may still belong to the k best.
    template <class Metric>
    [[nodiscard]] double limit(const Metric& metric) const noexcept {
        if (!has_limit_) {
            return std::numeric_limits<double>::infinity();
        }
        return metric.root_slack == 0 ? std::nextafter(worst_.reduced, -1.0)
                                      : worst_.reduced * (1 + metric.root_slack);
    }

    void offer(const Neighbor& found) noexcept {
        if (has_limit_ && !(found.distance < worst_.distance)) {
            return;
        }
        memory_[size_++] = found;
        if (size_ == memory_.size()) {
            forget();
        }
    }

    // Lowers the limit when that is worth its price.
    void trim() noexcept {
        if (size_ > k_ + (memory_.size() - k_) / 2 || (!has_limit_ && size_ >= k_)) {
            forget();
        }
    }

    // Takes over the rows of a list whose rows all come after those of this one.
    void merge(NearestList& later) noexcept {
        // From near to far, so that of equal rows the smaller index comes first here too.
        for (const Neighbor& found : later.sorted()) {
            offer(found);
        }
    }

    // Writes the k best from near to far. Ends the list.
    void write(std::span<double> distance, std::span<std::int64_t> index) noexcept {
        const auto best = sorted();
        for (std::size_t t = 0; t < k_; ++t) {
            distance[t] = best[t].distance;
            index[t] = best[t].index;
        }
    }

  private:
    [[nodiscard]] std::span<const Neighbor> sorted() noexcept {
        if (size_ > k_) {
            forget();
        }
        const auto best = memory_.first(size_);
        std::sort(best.begin(), best.end());
        return best;
    }

    void forget() noexcept {
        const auto all = memory_.first(size_);
        const auto last = all.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
        std::nth_element(all.begin(), last, all.end());
        worst_ = *last;
        size_ = k_;
        has_limit_ = true;
    }

    std::span<Neighbor> memory_;
    std::size_t k_ = 0;
    std::size_t size_ = 0;
    bool has_limit_ = false;
    Neighbor worst_{};
};

}  // namespace assay::neighbors

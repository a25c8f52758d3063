// The k best neighbours seen so far by one query.
//
//     order: by (distance, row index); a heap with the worst in front
//
// Cost    O(log k) per row that is accepted; the memory (k entries) is the caller's.
#pragma once

#include <algorithm>
#include <cassert>
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
    NearestList() = default;
    explicit NearestList(std::span<Neighbor> memory) noexcept : heap_(memory) {}

    [[nodiscard]] bool full() const noexcept { return size_ == heap_.size(); }
    [[nodiscard]] const Neighbor& worst() const noexcept {
        assert(size_ > 0);
        return heap_[0];
    }

    // The largest sum with which a row of larger index than all before may still enter.
    template <class Metric>
    [[nodiscard]] double limit(const Metric& metric) const noexcept {
        if (!full()) {
            return std::numeric_limits<double>::infinity();
        }
        return metric.root_slack == 0 ? std::nextafter(worst().reduced, -1.0)
                                      : worst().reduced * (1 + metric.root_slack);
    }

    void offer(const Neighbor& found) noexcept {
        if (!full()) {
            heap_[size_++] = found;
            std::push_heap(heap_.begin(), heap_.begin() + static_cast<std::ptrdiff_t>(size_));
        } else if (found < heap_[0]) {
            replace_worst(found);
        }
    }

    void merge(const NearestList& other) noexcept {
        for (const Neighbor& found : other.heap_.first(other.size_)) {
            offer(found);
        }
    }

    // Writes the neighbours from near to far. Ends the list, which must be full.
    void write(std::span<double> distance, std::span<std::int64_t> index) noexcept {
        assert(full() && distance.size() >= heap_.size() && index.size() >= heap_.size());
        assert(std::is_heap(heap_.begin(), heap_.end()));
        std::sort_heap(heap_.begin(), heap_.end());
        for (std::size_t t = 0; t < heap_.size(); ++t) {
            distance[t] = heap_[t].distance;
            index[t] = heap_[t].index;
        }
    }

  private:
    void replace_worst(const Neighbor& found) noexcept {
        std::size_t hole = 0;
        for (;;) {
            std::size_t child = 2 * hole + 1;
            if (child + 1 < size_ && heap_[child] < heap_[child + 1]) {
                ++child;
            }
            if (child >= size_ || !(found < heap_[child])) {
                break;
            }
            heap_[hole] = heap_[child];
            hole = child;
        }
        heap_[hole] = found;
    }

    std::span<Neighbor> heap_;
    std::size_t size_ = 0;
};

}  // namespace assay::neighbors

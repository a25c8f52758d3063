// The neighbours of one row, chosen from its distances.
//
//     nearest    the k smallest by (distance, row), from near to far
//     within     all closer than a threshold, in the order of the rows
//     surf_threshold   mean - half of the standard deviation of the distances to all other rows
//
// Needs   `self` is never a neighbour; it may lie outside [begin, end).
// Cost    O(n + k log k log n) expected for nearest, O(n) otherwise; no allocation but the list.
// Source  Urbanowicz et al.: Benchmarking Relief-based feature selection methods (2018), MultiSURF.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/exp_log.hpp"

namespace assay::features {

struct ReliefNeighbour {
    float distance;
    std::size_t row;
    double weight = 0;  // filled in by whoever uses the list

    [[nodiscard]] friend bool operator<(const ReliefNeighbour& a,
                                        const ReliefNeighbour& b) noexcept {
        return a.distance != b.distance ? a.distance < b.distance : a.row < b.row;
    }
};

// Appends to `list`.
inline void nearest(std::span<const float> distance, std::size_t begin, std::size_t end,
                    std::size_t self, std::size_t k, std::vector<ReliefNeighbour>& list) {
    const auto first = static_cast<std::ptrdiff_t>(list.size());
    std::size_t count = 0;
    for (std::size_t j = begin; j < end; ++j) {
        if (count == k && !(distance[j] < list[static_cast<std::size_t>(first)].distance)) {
            continue;  // rows ascend, so a tie with the worst one loses
        }
        if (j == self) {
            continue;
        }
        if (count == k) {
            std::pop_heap(list.begin() + first, list.end());
            list.back() = {distance[j], j};
        } else {
            list.push_back({distance[j], j});
            ++count;
        }
        std::push_heap(list.begin() + first, list.end());
    }
    std::sort_heap(list.begin() + first, list.end());
}

// Appends to `list`.
inline void within(std::span<const float> distance, std::size_t begin, std::size_t end,
                   std::size_t self, double threshold, std::vector<ReliefNeighbour>& list) {
    for (std::size_t j = begin; j < end; ++j) {
        if (static_cast<double>(distance[j]) < threshold && j != self) {
            list.push_back({distance[j], j});
        }
    }
}

// Needs   at least two rows.
[[nodiscard]] inline double surf_threshold(std::span<const float> distance,
                                           std::size_t self) noexcept {
    const auto count = static_cast<double>(distance.size() - 1);
    double sum = 0;
    for (std::size_t j = 0; j < distance.size(); ++j) {
        sum += j == self ? 0 : static_cast<double>(distance[j]);
    }
    const double mean = sum / count;
    double squares = 0;
    for (std::size_t j = 0; j < distance.size(); ++j) {
        const double gap = j == self ? 0 : static_cast<double>(distance[j]) - mean;
        squares += gap * gap;
    }
    return mean - std::sqrt(squares / count) / 2;
}

// Sets the weights of the neighbours from `first` on: that of the row, times exp(-(rank / sigma)^2)
// (rank from 1) unless sigma is 0; divided by their sum. Says whether the sum is positive.
template <class RowWeight>
[[nodiscard]] bool share_out(std::vector<ReliefNeighbour>& list, std::size_t first, double sigma,
                             RowWeight&& row_weight) noexcept {
    double sum = 0;
    for (std::size_t t = first; t < list.size(); ++t) {
        const double rank = sigma > 0 ? static_cast<double>(t - first + 1) / sigma : 0;
        list[t].weight =
            row_weight(list[t].row) * (sigma > 0 ? exp_of<double, std::uint64_t>(-rank * rank) : 1);
        sum += list[t].weight;
    }
    for (std::size_t t = first; t < list.size(); ++t) {
        list[t].weight /= sum;
    }
    return sum > 0;
}

}  // namespace assay::features

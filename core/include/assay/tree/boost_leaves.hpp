// Leaf values that a Newton step does not give: quantiles of the residuals, and Huber's.
//
//     quantile(q)   the smallest value v with  sum of weights up to v >= q sum of weights; where
//     the
//                   sum is hit exactly, half way to the next value (so the median is the usual one)
//     huber(d)      m + mean of sign(r - m) min(|r - m|, d),  m the median
//
// Cost    O(rows log rows) with weights, O(rows) without.
// Source  Friedman: Greedy function approximation (2001), algorithms 3 and 4.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace assay::tree {

// (residual, weight) pairs; the order of the entries is changed.
using Residuals = std::vector<std::pair<double, double>>;

[[nodiscard]] inline double residual_quantile(Residuals& rows, double q, bool weighted) {
    if (rows.empty()) {
        return 0;
    }
    const std::size_t n = rows.size();
    const auto value = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (!weighted) {
        const double at = q * static_cast<double>(n);
        const double whole = std::round(at);
        const bool hit = std::abs(at - whole) <= 1e-9 * static_cast<double>(n);
        const auto rank = static_cast<std::size_t>(std::max(hit ? whole : std::ceil(at), 1.0)) - 1;
        const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(std::min(rank, n - 1));
        std::nth_element(rows.begin(), middle, rows.end(), value);
        if (!hit || rank + 1 >= n || whole < 1) {
            return middle->first;
        }
        const double next = std::min_element(middle + 1, rows.end(), value)->first;
        return middle->first / 2 + next / 2;
    }
    std::sort(rows.begin(), rows.end());
    double total = 0;
    for (const auto& row : rows) {
        total += row.second;
    }
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        sum += rows[i].second;
        if (std::abs(sum - q * total) <= 1e-9 * total && i + 1 < n) {
            return rows[i].first / 2 + rows[i + 1].first / 2;
        }
        if (sum >= q * total) {
            return rows[i].first;
        }
    }
    return rows.back().first;
}

[[nodiscard]] inline double huber_center(Residuals& rows, double delta, bool weighted) {
    const double median = residual_quantile(rows, 0.5, weighted);
    std::sort(rows.begin(), rows.end());  // nth_element leaves an order that is not specified
    double sum = 0;
    double total = 0;
    for (const auto& [residual, weight] : rows) {
        const double away = residual - median;
        sum += weight * std::min(std::max(away, -delta), delta);
        total += weight;
    }
    return total > 0 ? median + sum / total : median;
}

}  // namespace assay::tree

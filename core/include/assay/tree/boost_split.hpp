// What a leaf is worth, and the best split of one column of a node.
//
//     value(G, H)  = -S(G) / (H + lambda), held to the node's bounds    S soft threshold by alpha
//     merit(v)     = -2 (G v + (H + lambda) v^2 / 2 + alpha |v|)        = S(G)^2 / (H + lambda)
//                                                                         where v is not held
//     gain         = merit(left) + merit(right) - merit(node)
//
// Numeric columns without constraints go to the vector kernel (boost_scan.hpp). Here is the
// rest: monotone constraints, exact counts of rows, and nominal columns, whose levels are
// put in the order of G / (H + smoothing) and cut along it from both ends, at most half of
// them on the left; a level with less support than `min_support` rows stays on the right.
//
// All in the integer units of the words.
//
// Source  Fisher (1958) for the order; Ke et al. (2017) and scikit-learn's histogram
//         boosting for smoothing and support.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "assay/common/dispatch.hpp"
#include "assay/tree/boost_loss.hpp"
#include "assay/tree/boost_scan.hpp"

namespace assay::tree {

inline constexpr double boost_smoothing = 10;  // rows' worth of curvature added to each level
inline constexpr double boost_min_support = 10;
// Where bounds hold the values back a merit may be far below zero.
inline constexpr double no_merit = -std::numeric_limits<double>::infinity();

struct BoostSplit {
    double gain = 0;  // above the node's own merit; 0: none
    std::int32_t column = -1;
    std::int32_t bin = -1;
    bool nominal = false;
    bool missing_left = false;
    bool has_missing = false;  // the node has missing rows there: the direction was learnt
    std::array<std::uint32_t, 8> bins{};  // nominal: codes on the left
    std::int64_t left = 0;
};

// A node as the search for its split sees it.
struct SplitNode {
    std::int64_t total = 0;
    std::size_t rows = 0;
    double low = -std::numeric_limits<double>::infinity();  // bounds of its value, in units
    double high = std::numeric_limits<double>::infinity();
};

struct SplitRules {
    GradientUnits units;
    double lambda = 0;
    double alpha = 0;
    std::int64_t min_hessian = 1;
    std::int64_t min_rows = 1;
    bool bounded = false;  // some column is constrained

    [[nodiscard]] double value(std::int64_t word, double low, double high) const noexcept {
        const auto g = static_cast<double>(units.gradient(word));
        const auto h = static_cast<double>(units.hessian(word)) + lambda;
        const double size = std::max(std::abs(g) - alpha, 0.0);
        const double best = h > 0 ? (g < 0 ? size / h : -size / h) : 0.0;
        return std::min(std::max(best, low), high);
    }
    [[nodiscard]] double merit(std::int64_t word, double v) const noexcept {
        const auto g = static_cast<double>(units.gradient(word));
        const auto h = static_cast<double>(units.hessian(word)) + lambda;
        return -2 * (g * v + h * v * v * 0.5 + alpha * std::abs(v));
    }
    [[nodiscard]] double node_merit(const SplitNode& node) const noexcept {
        if (bounded) {
            return merit(node.total, value(node.total, node.low, node.high));
        }
        const auto g = static_cast<double>(units.gradient(node.total));
        const auto h = static_cast<double>(units.hessian(node.total)) + lambda;
        const double size = std::max(std::abs(g) - alpha, 0.0);
        return h > 0 ? size * size / h : 0.0;
    }
    // Merit of both sides; no_merit where the split is not allowed.
    [[nodiscard]] double split_merit(const SplitNode& node, std::int64_t left,
                                     int direction) const noexcept {
        const std::int64_t right = node.total - left;
        const std::int64_t hl = units.hessian(left);
        const std::int64_t hr = units.hessian(right);
        if (hl < min_hessian || hr < min_hessian) {
            return no_merit;
        }
        if (bounded) {
            const double vl = value(left, node.low, node.high);
            const double vr = value(right, node.low, node.high);
            if ((direction > 0 && vl > vr) || (direction < 0 && vl < vr)) {
                return no_merit;
            }
            return merit(left, vl) + merit(right, vr);
        }
        const double al =
            std::max(std::abs(static_cast<double>(units.gradient(left))) - alpha, 0.0);
        const double ar =
            std::max(std::abs(static_cast<double>(units.gradient(right))) - alpha, 0.0);
        const double bl = static_cast<double>(hl) + lambda;
        const double br = static_cast<double>(hr) + lambda;
        return (al * al * br + ar * ar * bl) / (bl * br);
    }
};

// One column of one node: its histogram, the rows per code where they must be known.
struct SplitColumn {
    const std::int64_t* hist = nullptr;
    const std::int64_t* count = nullptr;
    std::int32_t n_bins = 0;
    bool has_missing = false;
    bool nominal = false;
    int direction = 0;  // monotone constraint
};

namespace detail {

[[nodiscard]] inline ScanBest scan_numeric(const SplitRules& rules, const SplitNode& node,
                                           const SplitColumn& column) noexcept {
    ScanBest best;
    best.gain = no_merit;
    const std::int64_t missing = column.has_missing ? column.hist[column.n_bins] : 0;
    const std::int64_t missing_rows =
        column.has_missing && column.count != nullptr ? column.count[column.n_bins] : 0;
    const auto all = static_cast<std::int64_t>(node.rows);
    for (const bool missing_left : {false, true}) {
        if (missing_left && missing == 0) {
            break;
        }
        std::int64_t left = missing_left ? missing : 0;
        std::int64_t rows = missing_left ? missing_rows : 0;
        const std::int32_t end = column.n_bins - (missing_left ? 1 : 0);
        for (std::int32_t t = 0; t < end; ++t) {
            left += column.hist[t];
            if (column.count != nullptr) {
                rows += column.count[t];
                if (rows < rules.min_rows || all - rows < rules.min_rows) {
                    continue;
                }
            }
            const double merit = rules.split_merit(node, left, column.direction);
            if (merit > best.gain) {
                best = {merit, t, missing_left, left};
            }
        }
    }
    return best;
}

inline double scan_nominal(const SplitRules& rules, const SplitNode& node,
                           const SplitColumn& column, BoostSplit& split) noexcept {
    struct Level {
        double order;
        std::int32_t code;
    };
    std::array<Level, 257> levels;
    std::size_t n_levels = 0;
    const auto h_all = static_cast<double>(rules.units.hessian(node.total));
    const double h_per_row = h_all / static_cast<double>(node.rows);
    const double support = boost_min_support * h_per_row;
    const double smoothing = boost_smoothing * h_per_row;
    const std::int32_t codes = column.n_bins + (column.has_missing ? 1 : 0);
    for (std::int32_t code = 0; code < codes; ++code) {
        const auto h = static_cast<double>(rules.units.hessian(column.hist[code]));
        if (h >= support && h > 0) {
            const auto g = static_cast<double>(rules.units.gradient(column.hist[code]));
            levels[n_levels++] = {g / (h + smoothing), code};
        }
    }
    const auto end = levels.begin() + static_cast<std::ptrdiff_t>(n_levels);
    std::sort(levels.begin(), end, [](const Level& a, const Level& b) {
        return a.order < b.order || (a.order == b.order && a.code < b.code);
    });
    const auto all = static_cast<std::int64_t>(node.rows);
    double best = no_merit;
    for (const bool from_end : {false, true}) {
        std::array<std::uint32_t, 8> bins{};
        std::int64_t left = 0;
        std::int64_t rows = 0;
        for (std::size_t i = 0; i < (n_levels + 1) / 2; ++i) {
            const std::int32_t code = levels[from_end ? n_levels - 1 - i : i].code;
            left += column.hist[code];
            bins[static_cast<std::size_t>(code) / 32] |= 1U << (code % 32);
            if (column.count != nullptr) {
                rows += column.count[code];
                if (rows < rules.min_rows || all - rows < rules.min_rows) {
                    continue;
                }
            }
            const double merit = rules.split_merit(node, left, 0);
            if (merit > best) {
                best = merit;
                split.bins = bins;
                split.left = left;
            }
        }
    }
    if (best > no_merit && column.has_missing) {
        const auto code = static_cast<std::size_t>(column.n_bins);
        split.missing_left = (split.bins[code / 32] >> (code % 32) & 1U) != 0;
    }
    return best;
}

}  // namespace detail

// The best split of a column; gain = 0 where none is better than the node itself.
[[nodiscard]] inline BoostSplit best_split(const SplitRules& rules, const SplitNode& node,
                                           double node_merit, const SplitColumn& column,
                                           std::size_t f) noexcept {
    BoostSplit split;
    double merit = no_merit;
    if (column.nominal) {
        split.nominal = true;
        merit = detail::scan_nominal(rules, node, column, split);
    } else {
        ScanBest best;
        if (rules.bounded || column.count != nullptr) {
            best = detail::scan_numeric(rules, node, column);
        } else {
            const ScanInput input{column.hist, column.n_bins,     column.has_missing,
                                  node.total,  rules.units.shift, rules.lambda,
                                  rules.alpha, rules.min_hessian};
            best = dispatch([&](auto level) { return BoostScan<decltype(level)>::run(input); });
        }
        merit = best.bin < 0 ? no_merit : best.gain;
        split.bin = best.bin;
        split.missing_left = best.missing_left;
        split.left = best.left;
    }
    // Equal merits of a pure node differ by rounding only.
    if (merit > node_merit + 1e-12 * std::abs(node_merit)) {
        split.gain = merit - node_merit;
        split.column = static_cast<std::int32_t>(f);
        split.has_missing = column.has_missing && column.hist[column.n_bins] != 0;
    }
    return split;
}

}  // namespace assay::tree

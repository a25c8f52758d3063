// Fuzzy k-means: every row belongs to every cluster, more to the nearer ones.
//
//     minimise  J = sum_i sum_c w_i P_c(x_i)^m ||x_i - mu_c||^2,     sum_c P_c(x) = 1
//     repeat    P from the centres (fuzzy_step.hpp)
//               mu_c = sum_i w_i P^m x_i / sum_i w_i P^m             (literal: P instead of P^m)
//     until     sum ||shift||^2 <= tolerance, or max_iter
//
// Both steps minimise J for what the other left, so J never rises (not so with literal centres).
// A centre without weight stays where it is.
//
// Needs   finite rows, at least one centre, m > 1; weights none or one per row.
// Cost    O(n k d) per round. At most 64 partial sums of fixed chunks, added in their order: the
//         result does not depend on n_threads. No copy of the rows.
// Source  Bezdek: Pattern recognition with fuzzy objective function algorithms (1981), 11.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/cluster/centroid_panels.hpp"
#include "assay/cluster/fuzzy_step.hpp"
#include "assay/cluster/kmeans.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/distance.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"

namespace assay::cluster {

struct FuzzyOptions {
    FuzzyRule rule;
    std::size_t max_iter = 300;
    double tolerance = 0;  // of the summed squared shifts, absolute
    int n_threads = 1;
};

struct FuzzyResult {
    std::vector<double> objective;  // J of the centres that each round began with, and of the last
    double shift = 0;
    bool is_stable = false;
};

namespace detail {

template <class T>
double fuzzy_round(MatrixView<const T> rows, std::span<const double> weight,
                   const CentroidPanels& panels, MatrixView<const double> centres,
                   const FuzzyOptions& options, std::vector<double>& parts) {
    const ScanTable table = scan_table(panels, centres);
    const std::size_t width = panels.size() * lanes;
    const std::size_t chunk = std::max<std::size_t>(256, (rows.rows + 63) / 64);
    const std::size_t n_chunks = chunk_count(rows.rows, chunk);
    const std::size_t stride = width * (rows.cols + 1) + 1;
    parts.assign(n_chunks * stride, 0.0);
    parallel_chunks(rows.rows, chunk, options.n_threads, [&](Range range) {
        std::vector<double> scratch(2 * width);
        double* part = parts.data() + range.index * stride;
        FuzzySums sums{part, part + width, 0};
        dispatch([&](auto level) {
            FuzzyStep<decltype(level), T>::gather(
                rows.data + range.begin * rows.cols, range.end - range.begin, table, options.rule,
                weight.empty() ? nullptr : weight.data() + range.begin, scratch.data(), sums);
        });
        part[stride - 1] = sums.objective;
    });
    for (std::size_t c = 1; c < n_chunks; ++c) {
        for (std::size_t t = 0; t < stride; ++t) {
            parts[t] += parts[c * stride + t];
        }
    }
    return parts[stride - 1];
}

}  // namespace detail

// Moves `centres` to where the iteration from them ends.
template <class T>
FuzzyResult fuzzy_kmeans(MatrixView<const T> rows, std::span<const double> weight,
                         MatrixView<double> centres, const FuzzyOptions& options) {
    const std::size_t d = rows.cols;
    CentroidPanels panels{MatrixView<const double>(centres)};
    const std::size_t width = panels.size() * lanes;
    std::vector<double> parts;
    std::vector<double> old(d);
    FuzzyResult result;
    const auto round = [&] {
        result.objective.push_back(
            detail::fuzzy_round<T>(rows, weight, panels, centres, options, parts));
    };
    for (std::size_t t = 0; t < options.max_iter && !result.is_stable; ++t) {
        round();
        result.shift = 0;
        for (std::size_t place = 0; place < width; ++place) {
            const auto c = static_cast<std::size_t>(panels.index()[place]);
            if (c >= centres.rows || !(parts[place] > 0)) {
                continue;
            }
            const auto centre = centres.row(c);
            std::copy(centre.begin(), centre.end(), old.begin());
            const double* moments = parts.data() + width + place / lanes * lanes * d;
            for (std::size_t j = 0; j < d; ++j) {
                centre[j] = moments[j * lanes + place % lanes] / parts[place];
            }
            result.shift += squared_distance<double>(centre, old);
        }
        panels.fill(centres);
        result.is_stable = result.shift <= options.tolerance;
    }
    round();
    return result;
}

// P of every row, one column per centre.
template <class T>
void fuzzy_memberships(MatrixView<const T> rows, MatrixView<const double> centres, double m,
                       MatrixView<double> out, int n_threads) {
    const CentroidPanels panels(centres);
    const ScanTable table = scan_table(panels, centres);
    const std::size_t width = panels.size() * lanes;
    constexpr std::size_t chunk = 64;
    parallel_chunks(rows.rows, chunk, n_threads, [&](Range range) {
        std::vector<double> share((chunk + 1) * width);
        dispatch([&](auto level) {
            FuzzyStep<decltype(level), T>::memberships(rows.data + range.begin * rows.cols,
                                                       range.end - range.begin, table, {m, false},
                                                       share.data());
        });
        for (std::size_t i = range.begin; i < range.end; ++i) {
            for (std::size_t place = 0; place < width; ++place) {
                const auto c = static_cast<std::size_t>(panels.index()[place]);
                if (c < centres.rows) {
                    out(i, c) = share[(i - range.begin) * width + place];
                }
            }
        }
    });
}

}  // namespace assay::cluster

// Grows many trees, in parallel over trees, and lays them out one after the other.
//
// Tree t of the forest has its own bootstrap sample and its own streams, both functions of
// (seed, t): growing trees 0 .. 99, or 0 .. 49 and then 50 .. 99, gives the same trees, on
// any number of threads.
//
// Integer weights (bootstrap counts among them) are summed as integers, other weights as
// float64; both in a fixed order. Rows of weight 0 are left out.
//
// Needs   bins.rows >= 1; y (or values) and weight, if not empty, one per row; weights finite,
//         not negative, at least one positive; n_classes >= 1 and 0 <= y < n_classes.
// Cost    the trees, and for each thread about 3 entries per row.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/common/parallel.hpp"
#include "assay/tree/absolute_target.hpp"
#include "assay/tree/bins.hpp"
#include "assay/tree/block_grow.hpp"
#include "assay/tree/bootstrap.hpp"
#include "assay/tree/criterion.hpp"
#include "assay/tree/fine_rows.hpp"
#include "assay/tree/grow.hpp"
#include "assay/tree/grow_options.hpp"
#include "assay/tree/nodes.hpp"
#include "assay/tree/row_copy.hpp"

namespace assay::tree {

struct Grown {
    Nodes nodes;
    std::vector<double> importance;  // n_trees x cols
    // Per node, with stats only.
    std::vector<double> impurity;
    std::vector<std::int64_t> n_samples;
    std::vector<double> weight;
};

namespace detail {

template <class T>
void append(std::vector<T>& all, std::vector<T>& part) {
    if (all.capacity() == 0) {  // a single tree: no copy
        all.swap(part);
        return;
    }
    all.insert(all.end(), part.begin(), part.end());
    std::vector<T>().swap(part);
}

// Slots of pure leaves name the shared rows 0 .. n_classes - 1; the others are moved.
inline Grown laid_out(std::vector<Tree>& trees, std::size_t n_outputs, const GrowOptions& options) {
    Grown all;
    all.nodes.n_outputs = n_outputs;
    std::size_t n_nodes = 0;
    std::size_t n_values = 0;
    const std::size_t shared = options.with_stats ? 0 : options.n_classes;
    for (const Tree& tree : trees) {
        assert(tree.is_whole(options.with_stats));
        assert(tree.value.size() % n_outputs == 0);
        n_nodes += tree.left.size();
        n_values += tree.value.size();
    }
    if (trees.size() > 1) {
        all.nodes.left.reserve(n_nodes);
        all.nodes.feature.reserve(n_nodes);
        all.nodes.threshold.reserve(n_nodes);
        all.nodes.missing_left.reserve(n_nodes);
        all.nodes.slot.reserve(n_nodes);
        all.nodes.value.reserve(n_values + shared * shared);
    }
    for (std::size_t k = 0; k < shared; ++k) {
        for (std::size_t j = 0; j < shared; ++j) {
            all.nodes.value.push_back(j == k ? 1 : 0);
        }
    }
    for (Tree& tree : trees) {
        const auto first_value =
            static_cast<std::int32_t>(all.nodes.value.size() / n_outputs - shared);
        const auto first_word = static_cast<std::int32_t>(all.nodes.words.size());
        for (std::size_t i = 0; i < tree.slot.size(); ++i) {
            if (tree.left[i] != 0) {
                tree.slot[i] += tree.slot[i] >= 0 ? first_word : 0;
            } else if (tree.slot[i] >= static_cast<std::int32_t>(shared)) {
                tree.slot[i] += first_value;
            }
        }
        append(all.nodes.left, tree.left);
        append(all.nodes.feature, tree.feature);
        append(all.nodes.threshold, tree.threshold);
        append(all.nodes.missing_left, tree.missing_left);
        append(all.nodes.slot, tree.slot);
        append(all.nodes.words, tree.words);
        append(all.nodes.value, tree.value);
        append(all.importance, tree.importance);
        append(all.impurity, tree.impurity);
        append(all.n_samples, tree.n_samples);
        append(all.weight, tree.weight);
        all.nodes.start.push_back(static_cast<std::int64_t>(all.nodes.left.size()));
    }
    assert(all.nodes.left.size() == n_nodes && all.nodes.slot.size() == n_nodes);
    assert(all.nodes.value.size() == n_values + shared * shared);
    return all;
}

// Trees in parallel, each by a worker that nobody else uses: make() and grow(worker, number).
template <class Make, class Grow>
std::vector<Tree> grow_each(const GrowOptions& options, Make make, Grow grow) {
    using Worker = decltype(make());
    std::vector<Tree> trees(options.n_trees);
    std::vector<Worker> idle;  // scratch of threads, for the next tree
    std::mutex mutex;
    run_tasks(options.n_trees, options.n_threads, [&](std::size_t t) {
        Worker worker;
        {
            const std::lock_guard lock(mutex);
            if (!idle.empty()) {
                worker = std::move(idle.back());
                idle.pop_back();
            }
        }
        if (!worker) {
            worker = make();
        }
        trees[t] = grow(*worker, options.first_tree + t);
        const std::lock_guard lock(mutex);
        idle.push_back(std::move(worker));
    });
    return trees;
}

template <class Code, class Target>
Grown grow_trees(const BinnedView<Code>& bins, const Target& target, std::span<const double> weight,
                 const GrowOptions& options, const FineRows& fine) {
    assert(bins.rows >= 1 && bins.n_bins.size() == bins.cols);
    assert(weight.empty() || weight.size() == bins.rows);
    const CutGuide guide = options.random_splitter ? CutGuide(bins) : CutGuide();
    const bool equal =
        options.n_draws == 0 &&
        std::all_of(weight.begin(), weight.end(), [&](double w) { return w == weight.front(); });
    const double each = weight.empty() ? 1.0 : weight.front();
    std::vector<Tree> trees;
    if constexpr (std::is_same_v<Code, std::uint8_t> && has_blocks<Target>) {
        using Worker = BlockGrower<Target>;
        const bool counts = std::is_integral_v<typename Target::Unit>;
        if (equal && (each == 1 || !counts) && Worker::serves(bins, options)) {
            const RowCopy records =
                bins.cols <= RowCopy::most_columns ? RowCopy(bins, options.n_threads) : RowCopy();
            trees = grow_each(
                options,
                [&] {
                    return std::make_unique<Worker>(bins, records, fine, guide, target, options,
                                                    each);
                },
                [](Worker& worker, std::uint64_t number) { return worker.grow(number); });
            return laid_out(trees, target.n_outputs(), options);
        }
    }
    using Worker = Grower<Code, Target>;
    trees = grow_each(
        options, [&] { return std::make_unique<Worker>(bins, guide, target, options); },
        [&](Worker& worker, std::uint64_t number) {
            // A sample without a row of positive weight is drawn again, from another stream.
            for (std::uint64_t attempt = 0; !worker.take_rows(weight, number, attempt); ++attempt) {
            }
            worker.prepare(equal && each == 1);
            return worker.grow(number);
        });
    return laid_out(trees, target.n_outputs(), options);
}

// Whether weights times bootstrap counts fit 15 bits per row and 32 in all.
inline bool are_small_integers(std::span<const double> weight, std::size_t n_rows,
                               std::size_t n_draws) noexcept {
    double largest = 1;
    for (const double w : weight) {
        if (w != std::floor(w)) {
            return false;
        }
        largest = std::max(largest, w);
    }
    // A mean count of 8 never reaches 256 (probability below 1e-200).
    const double count = n_draws == 0            ? 1.0
                         : n_draws <= 8 * n_rows ? std::min(255.0, static_cast<double>(n_draws))
                                                 : static_cast<double>(n_draws);
    return largest * count <= 32767.0 &&
           largest * static_cast<double>(std::max(n_rows, n_draws)) < 4294967296.0;
}

// Near the weighted mean of each output, rounded to a multiple of a power of two that is
// not above its standard deviation: differences of small integers stay integers.
inline std::vector<double> offsets(std::span<const double> y, std::size_t n_outputs,
                                   std::span<const double> weight) {
    std::vector<double> offset(n_outputs);
    const std::size_t n = y.size() / n_outputs;
    for (std::size_t k = 0; k < n_outputs; ++k) {
        double total = 0;
        double mean = 0;
        double square = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double w = weight.empty() ? 1.0 : weight[i];
            if (w > 0) {
                total += w;
                const double difference = y[i * n_outputs + k] - mean;
                mean += difference * (w / total);
                square += w * difference * (y[i * n_outputs + k] - mean);
            }
        }
        const double deviation = std::sqrt(square / total);
        if (deviation > 0 && std::isfinite(deviation)) {
            const double step = std::exp2(std::floor(std::log2(deviation)));
            offset[k] = std::nearbyint(mean / step) * step;
        }
    }
    return offset;
}

}  // namespace detail

template <class Code>
[[nodiscard]] Grown grow_classification(const BinnedView<Code>& bins,
                                        std::span<const std::int32_t> y,
                                        std::span<const double> weight, const GrowOptions& options,
                                        const FineRows& fine = {}) {
    if (!detail::are_small_integers(weight, bins.rows, options.n_draws) ||
        options.n_classes > 65535) {
        return detail::grow_trees(
            bins,
            ClassTarget<Criterion::at_run_time, double>(options.criterion, y, options.n_classes),
            weight, options, fine);
    }
    if (options.n_classes == 2 && options.criterion == Criterion::gini) {
        return detail::grow_trees(bins, BinaryTarget(y), weight, options, fine);
    }
    return detail::grow_trees(
        bins,
        ClassTarget<Criterion::at_run_time, std::uint32_t>(options.criterion, y, options.n_classes),
        weight, options, fine);
}

// y is row-major (rows, n_outputs).
template <class Code>
[[nodiscard]] Grown grow_regression(const BinnedView<Code>& bins, std::span<const double> y,
                                    std::size_t n_outputs, std::span<const double> weight,
                                    const GrowOptions& options, const FineRows& fine = {}) {
    if (options.criterion == Criterion::absolute_error) {
        return detail::grow_trees(bins, AbsoluteTarget(y, n_outputs), weight, options, fine);
    }
    const std::vector<double> offset = options.criterion == Criterion::poisson
                                           ? std::vector<double>(n_outputs)
                                           : detail::offsets(y, n_outputs, weight);
    if (n_outputs == 1) {
        return detail::grow_trees(bins, MeanTarget<1>(options.criterion, y, 1, offset), weight,
                                  options, fine);
    }
    return detail::grow_trees(bins, MeanTarget<0>(options.criterion, y, n_outputs, offset), weight,
                              options, fine);
}

}  // namespace assay::tree

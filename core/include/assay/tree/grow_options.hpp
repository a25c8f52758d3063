// What a tree may look like: the stops and choices of the grower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace assay::tree {

enum class Criterion : std::uint8_t {
    gini,
    entropy,  // base 2
    error,    // share of rows outside the most frequent class
    squared_error,
    friedman_mse,
    poisson,
    absolute_error,
    at_run_time,  // as a template argument: the criterion is a value
};

struct GrowOptions {
    Criterion criterion = Criterion::gini;
    std::size_t n_classes = 0;  // 0: regression
    bool random_splitter = false;
    std::int32_t max_depth = std::numeric_limits<std::int32_t>::max();
    std::size_t min_samples_split = 2;  // rows, whatever their weight
    std::size_t min_samples_leaf = 1;
    double min_weight_fraction_leaf = 0;
    std::size_t max_features = 0;    // columns drawn per node, 1 .. cols
    std::size_t max_leaf_nodes = 0;  // 0: no limit; otherwise the best node is split first
    double min_impurity_decrease = 0;
    std::span<const std::int8_t> monotone;  // per column -1, 0, 1; empty: none
    std::uint64_t seed = 0;
    std::size_t n_trees = 1;
    std::size_t first_tree = 0;  // number of the first tree, for growing in batches
    std::size_t n_draws = 0;     // of each bootstrap sample; 0: all rows, once each
    bool with_stats = false;     // impurity, rows, weight and value of every node
    int n_threads = 1;
};

// As in scikit-learn: a node less impure than this is pure, a gain less than this is none.
inline constexpr double no_impurity = std::numeric_limits<double>::epsilon();

}  // namespace assay::tree

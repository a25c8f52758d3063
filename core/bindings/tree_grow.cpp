// Python border of assay::tree, part "grow": check the table, drop the GIL, grow.
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "assay/tree/bins.hpp"
#include "assay/tree/bootstrap.hpp"
#include "assay/tree/forest.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

template <class Code>
tree::BinnedView<Code> binned(const InMatrix<Code>& codes, const InVector<std::int32_t>& n_bins,
                              const InVector<std::uint8_t>& nominal,
                              const InVector<std::uint8_t>& has_missing,
                              const InVector<std::int64_t>& bin_start,
                              const InVector<double>& lower, const InVector<double>& upper,
                              const InVector<std::int64_t>& level_start,
                              const InVector<std::int32_t>& level_bin) {
    tree::BinnedView<Code> bins{codes.data(),  codes.shape(1),    codes.shape(0),  span(n_bins),
                                span(nominal), span(has_missing), span(bin_start), span(lower),
                                span(upper),   span(level_start), span(level_bin)};
    require(bins.rows >= 1 && bins.cols >= 1, "codes needs a row and a column");
    require(bins.rows < (std::size_t{1} << 31), "a table has fewer than 2^31 rows");
    require(bins.n_bins.size() == bins.cols && bins.nominal.size() == bins.cols &&
                bins.has_missing.size() == bins.cols,
            "n_bins, nominal and has_missing need one entry per column");
    require(bins.bin_start.size() == bins.cols + 1 && bins.level_start.size() == bins.cols + 1,
            "bin_start and level_start need one entry per column and one more");
    require(bins.bin_start[0] == 0 && bins.level_start[0] == 0,
            "bin_start and level_start begin at 0");
    for (std::size_t f = 0; f < bins.cols; ++f) {
        require(bins.n_bins[f] >= 0 && bins.n_bins[f] <= std::numeric_limits<Code>::max(),
                "n_bins must fit the codes");
        require(bins.bin_start[f + 1] >= bins.bin_start[f] &&
                    (bins.nominal[f] != 0 ||
                     bins.bin_start[f + 1] - bins.bin_start[f] >= bins.n_bins[f]),
                "bin_start leaves no room for n_bins");
        require(bins.level_start[f + 1] >= bins.level_start[f], "level_start must not fall");
    }
    const auto n_all = static_cast<std::size_t>(bins.bin_start[bins.cols]);
    require(bins.lower.size() == n_all && bins.upper.size() == n_all,
            "lower and upper need one entry per bin");
    require(bins.level_bin.size() == static_cast<std::size_t>(bins.level_start[bins.cols]),
            "level_bin needs one entry per level");
    return bins;
}

// Codes are indices: one pass over the table makes sure that they are in range.
template <class Code>
void check_codes(const tree::BinnedView<Code>& bins) {
    for (std::size_t f = 0; f < bins.cols; ++f) {
        std::size_t largest = 0;
        for (const Code code : bins.column(f)) {
            largest = std::max<std::size_t>(largest, code);
        }
        require(largest <= static_cast<std::size_t>(bins.n_bins[f]), "a code is above n_bins");
    }
}

void check_weight(std::span<const double> weight, std::size_t n_rows) {
    require(weight.empty() || weight.size() == n_rows, "weight needs one number per row");
    bool positive = weight.empty();
    for (const double w : weight) {
        require(w >= 0 && std::isfinite(w), "weight must be finite and not negative");
        positive = positive || w > 0;
    }
    require(positive, "weight has no positive number");
}

void check_options(const tree::GrowOptions& options, std::size_t n_cols) {
    require(options.max_depth >= 1, "max_depth must be at least 1");
    require(options.min_samples_split >= 2, "min_samples_split must be at least 2");
    require(options.min_samples_leaf >= 1, "min_samples_leaf must be at least 1");
    require(options.min_weight_fraction_leaf >= 0 && options.min_weight_fraction_leaf <= 0.5,
            "min_weight_fraction_leaf must be between 0 and 0.5");
    require(options.max_features >= 1 && options.max_features <= n_cols,
            "max_features must be between 1 and the number of columns");
    require(options.max_leaf_nodes != 1, "max_leaf_nodes must be 0 (no limit) or at least 2");
    require(options.min_impurity_decrease >= 0, "min_impurity_decrease must not be negative");
    require(options.monotone.empty() || options.monotone.size() == n_cols,
            "monotone needs one entry per column");
    require(options.n_draws < (std::size_t{1} << 32), "n_draws must be below 2^32");
    require(options.n_threads >= 1, "n_threads must be at least 1");
}

Arrays arrays_of(tree::Grown&& grown, std::size_t n_cols, bool with_stats) {
    Arrays out;
    const std::size_t n_outputs = grown.nodes.n_outputs;
    out["start"] = owned(std::move(grown.nodes.start));
    out["left"] = owned(std::move(grown.nodes.left));
    out["feature"] = owned(std::move(grown.nodes.feature));
    out["threshold"] = owned(std::move(grown.nodes.threshold));
    out["missing_left"] = owned(std::move(grown.nodes.missing_left));
    out["slot"] = owned(std::move(grown.nodes.slot));
    out["words"] = owned(std::move(grown.nodes.words));
    out["value"] = owned(std::move(grown.nodes.value), n_outputs);
    out["importance"] = owned(std::move(grown.importance), n_cols);
    if (with_stats) {
        out["impurity"] = owned(std::move(grown.impurity));
        out["n_samples"] = owned(std::move(grown.n_samples));
        out["weight"] = owned(std::move(grown.weight));
    }
    return out;
}

tree::FineRows fine_rows(const InVector<std::int32_t>& slots, const InMatrix<float>& values,
                         std::size_t rows, std::size_t cols) {
    if (values.size() == 0) {
        return {};
    }
    require(values.shape(0) == rows, "fine_values needs one row per row of the table");
    require(values.shape(1) % 4 == 0, "fine_values needs a multiple of 4 columns");
    require(slots.shape(0) == cols, "fine_slots needs one entry per column");
    for (const std::int32_t slot : span(slots)) {
        require(slot < static_cast<std::int32_t>(values.shape(1)),
                "fine_slots must be below the number of columns of fine_values");
    }
    return {span(slots), values.data(), values.shape(1)};
}

template <class Code>
void bind_grow(nb::module_& m) {
    m.def(
        "grow",
        [](InMatrix<Code> codes, InVector<std::int32_t> n_bins, InVector<std::uint8_t> nominal,
           InVector<std::uint8_t> has_missing, InVector<std::int64_t> bin_start,
           InVector<double> lower, InVector<double> upper, InVector<std::int64_t> level_start,
           InVector<std::int32_t> level_bin, InVector<std::int32_t> labels, InMatrix<double> values,
           InVector<double> weight, InVector<std::int32_t> fine_slots, InMatrix<float> fine_values,
           int criterion, std::size_t n_classes, bool random_splitter, std::int32_t max_depth,
           std::size_t min_samples_split, std::size_t min_samples_leaf,
           double min_weight_fraction_leaf, std::size_t max_features, std::size_t max_leaf_nodes,
           double min_impurity_decrease, InVector<std::int8_t> monotone, std::uint64_t seed,
           std::size_t n_trees, std::size_t first_tree, std::size_t n_draws, bool with_stats,
           int n_threads) {
            const auto bins = binned(codes, n_bins, nominal, has_missing, bin_start, lower, upper,
                                     level_start, level_bin);
            tree::GrowOptions options;
            require(criterion >= 0 && criterion <= 6, "criterion must be between 0 and 6");
            options.criterion = static_cast<tree::Criterion>(criterion);
            options.n_classes = n_classes;
            options.random_splitter = random_splitter;
            options.max_depth = max_depth;
            options.min_samples_split = min_samples_split;
            options.min_samples_leaf = min_samples_leaf;
            options.min_weight_fraction_leaf = min_weight_fraction_leaf;
            options.max_features = max_features;
            options.max_leaf_nodes = max_leaf_nodes;
            options.min_impurity_decrease = min_impurity_decrease;
            options.monotone = span(monotone);
            options.seed = seed;
            options.n_trees = n_trees;
            options.first_tree = first_tree;
            options.n_draws = n_draws;
            options.with_stats = with_stats;
            options.n_threads = n_threads;
            check_options(options, bins.cols);
            check_weight(span(weight), bins.rows);
            for (std::size_t f = 0; f < options.monotone.size(); ++f) {
                require(options.monotone[f] >= -1 && options.monotone[f] <= 1,
                        "monotone must be -1, 0 or 1");
                require(options.monotone[f] == 0 || bins.nominal[f] == 0,
                        "a nominal column cannot be monotone");
            }
            if (n_classes != 0) {
                require(criterion <= 2, "classes need the criterion gini, entropy or error");
                require(labels.shape(0) == bins.rows, "labels needs one entry per row");
                for (const std::int32_t label : span(labels)) {
                    require(label >= 0 && label < static_cast<std::int32_t>(n_classes),
                            "labels must be between 0 and n_classes - 1");
                }
                require(options.monotone.empty() || n_classes == 2, "monotone needs two classes");
            } else {
                require(criterion >= 3, "regression needs a criterion for regression");
                require(values.shape(0) == bins.rows && values.shape(1) >= 1,
                        "values needs one row per row of the table");
                for (std::size_t i = 0; i < values.size(); ++i) {
                    require(std::isfinite(values.data()[i]), "values must be finite");
                }
                require(options.monotone.empty() || values.shape(1) == 1,
                        "monotone needs a single output");
            }
            const auto fine = fine_rows(fine_slots, fine_values, bins.rows, bins.cols);
            tree::Grown grown;
            {
                nb::gil_scoped_release unlocked;
                check_codes(bins);
                grown =
                    n_classes != 0
                        ? tree::grow_classification(bins, span(labels), span(weight), options, fine)
                        : tree::grow_regression(bins, {values.data(), values.size()},
                                                values.shape(1), span(weight), options, fine);
            }
            return arrays_of(std::move(grown), bins.cols, with_stats);
        },
        "codes"_a.noconvert(), "n_bins"_a.noconvert(), "nominal"_a.noconvert(),
        "has_missing"_a.noconvert(), "bin_start"_a.noconvert(), "lower"_a.noconvert(),
        "upper"_a.noconvert(), "level_start"_a.noconvert(), "level_bin"_a.noconvert(),
        "labels"_a.noconvert(), "values"_a.noconvert(), "weight"_a.noconvert(),
        "fine_slots"_a.noconvert(), "fine_values"_a.noconvert(), "criterion"_a, "n_classes"_a,
        "random_splitter"_a, "max_depth"_a, "min_samples_split"_a, "min_samples_leaf"_a,
        "min_weight_fraction_leaf"_a, "max_features"_a, "max_leaf_nodes"_a,
        "min_impurity_decrease"_a, "monotone"_a.noconvert(), "seed"_a, "n_trees"_a, "first_tree"_a,
        "n_draws"_a, "with_stats"_a, "n_threads"_a,
        "Grow trees on binned columns; arrays by name.");
}

}  // namespace

void bind_tree_grow(nb::module_& m) {
    bind_grow<std::uint8_t>(m);
    bind_grow<std::uint16_t>(m);
    m.def(
        "bootstrap_counts",
        [](std::uint64_t seed, std::uint64_t tree, std::size_t n_draws,
           OutVector<std::uint32_t> counts) {
            require(counts.shape(0) >= 1, "counts needs an entry");
            require(counts.shape(0) < (std::size_t{1} << 32) && n_draws < (std::size_t{1} << 32),
                    "n_rows and n_draws must be below 2^32");
            nb::gil_scoped_release unlocked;
            tree::bootstrap_counts(seed, tree, n_draws, span(counts));
        },
        "seed"_a, "tree"_a, "n_draws"_a, "counts"_a.noconvert(),
        "Write how often each row is in the bootstrap sample of a tree.");
}

}  // namespace assay::bindings

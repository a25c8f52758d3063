// Python border of assay::tree, part "fractional": trees whose rows divide, and pruning.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "assay/tree/fractional.hpp"
#include "assay/tree/prune.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

template <class Code>
void bind_grow(nb::module_& m) {
    m.def(
        "grow_fractional",
        [](InMatrix<Code> codes, InVector<std::int32_t> n_bins, InVector<std::uint8_t> nominal,
           InVector<std::uint8_t> has_missing, InVector<std::int64_t> bin_start,
           InVector<double> lower, InVector<double> upper, InVector<std::int64_t> level_start,
           InVector<std::int32_t> level_bin, InMatrix<double> target, InVector<double> weight,
           int criterion, std::size_t n_outputs, std::int64_t max_depth, double min_split,
           double min_leaf, double min_weight_leaf, double min_decrease, std::size_t max_features,
           std::uint64_t seed) {
            const std::size_t d = codes.shape(0);
            const std::size_t n = codes.shape(1);
            require(n >= 1 && d >= 1, "codes has no rows or no columns");
            require(n_bins.shape(0) == d && nominal.shape(0) == d && has_missing.shape(0) == d,
                    "n_bins, nominal and has_missing need one entry per column");
            require(bin_start.shape(0) == d + 1 && level_start.shape(0) == d + 1,
                    "bin_start and level_start need one entry per column and one more");
            require(target.shape(0) == n && weight.shape(0) == n,
                    "target and weight need one entry per row");
            require(criterion >= 0 && criterion <= 3, "criterion must be 0, 1, 2 or 3");
            require(n_outputs >= 1, "n_outputs must be at least 1");
            require(target.shape(1) == (criterion == 3 ? n_outputs : 1),
                    "target needs n_outputs columns, or one of class codes");
            require(min_leaf >= 1 && min_split >= 2, "min_leaf and min_split are too small");
            if (criterion != 3) {
                for (std::size_t i = 0; i < n; ++i) {
                    const double code = target.data()[i];
                    require(code >= 0 && code < static_cast<double>(n_outputs),
                            "a class code is out of range");
                }
            }
            tree::BinnedView<Code> bins{.codes = codes.data(),
                                        .rows = n,
                                        .cols = d,
                                        .n_bins = span(n_bins),
                                        .nominal = span(nominal),
                                        .has_missing = span(has_missing),
                                        .bin_start = span(bin_start),
                                        .lower = span(lower),
                                        .upper = span(upper),
                                        .level_start = span(level_start),
                                        .level_bin = span(level_bin)};
            tree::FractionalOptions options;
            options.criterion = static_cast<tree::FractionalCriterion>(criterion);
            options.n_outputs = n_outputs;
            options.max_depth = max_depth;
            options.min_split = min_split;
            options.min_leaf = min_leaf;
            options.min_weight_leaf = min_weight_leaf;
            options.min_decrease = min_decrease;
            options.max_features = max_features;
            options.seed = seed;
            tree::FractionalTree grown;
            {
                nb::gil_scoped_release unlocked;
                grown =
                    tree::FractionalGrower<Code>(bins, view(target), span(weight), options).grow();
            }
            Arrays found;
            found["left"] = owned(std::move(grown.nodes.left));
            found["feature"] = owned(std::move(grown.nodes.feature));
            found["threshold"] = owned(std::move(grown.nodes.threshold));
            found["missing_left"] = owned(std::move(grown.nodes.missing_left));
            found["slot"] = owned(std::move(grown.nodes.slot));
            found["words"] = owned(std::move(grown.nodes.words));
            found["value"] = owned(std::move(grown.nodes.value));
            found["impurity"] = owned(std::move(grown.impurity));
            found["samples"] = owned(std::move(grown.samples));
            found["weight"] = owned(std::move(grown.weight));
            return found;
        },
        "codes"_a.noconvert(), "n_bins"_a.noconvert(), "nominal"_a.noconvert(),
        "has_missing"_a.noconvert(), "bin_start"_a.noconvert(), "lower"_a.noconvert(),
        "upper"_a.noconvert(), "level_start"_a.noconvert(), "level_bin"_a.noconvert(),
        "target"_a.noconvert(), "weight"_a.noconvert(), "criterion"_a, "n_outputs"_a, "max_depth"_a,
        "min_split"_a, "min_leaf"_a, "min_weight_leaf"_a, "min_decrease"_a, "max_features"_a,
        "seed"_a, "Grow one tree whose rows divide where a value is missing; arrays by name.");
}

template <class T>
void bind_predict(nb::module_& m) {
    m.def(
        "predict_fractional",
        [](InVector<std::int32_t> left, InVector<std::int32_t> feature, InVector<double> threshold,
           InVector<std::uint8_t> missing_left, InVector<std::int32_t> slot,
           InVector<std::uint32_t> words, InVector<std::int32_t> n_levels, InMatrix<double> value,
           InVector<double> weight, InMatrix<T> X, OutMatrix<double> out, int n_threads) {
            const std::size_t n = left.shape(0);
            require(n >= 1, "a tree has at least one node");
            require(feature.shape(0) == n && threshold.shape(0) == n &&
                        missing_left.shape(0) == n && slot.shape(0) == n && weight.shape(0) == n,
                    "the arrays of nodes differ in length");
            require(n_levels.shape(0) == X.shape(1), "n_levels needs one entry per column of X");
            require(out.shape(0) == X.shape(0) && out.shape(1) == value.shape(1),
                    "out needs the shape (rows of X, columns of value)");
            require(n_threads >= 1, "n_threads must be at least 1");
            const std::int64_t start[2] = {0, static_cast<std::int64_t>(n)};
            tree::NodesView nodes;
            nodes.start = start;
            nodes.left = span(left);
            nodes.feature = span(feature);
            nodes.threshold = span(threshold);
            nodes.missing_left = span(missing_left);
            nodes.slot = span(slot);
            nodes.words = span(words);
            nodes.n_levels = span(n_levels);
            nodes.value = {value.data(), value.size()};
            nodes.n_outputs = value.shape(1);
            nb::gil_scoped_release unlocked;
            tree::predict_fractional(nodes, span(weight), view(X), view(out), n_threads);
        },
        "left"_a.noconvert(), "feature"_a.noconvert(), "threshold"_a.noconvert(),
        "missing_left"_a.noconvert(), "slot"_a.noconvert(), "words"_a.noconvert(),
        "n_levels"_a.noconvert(), "value"_a.noconvert(), "weight"_a.noconvert(), "X"_a.noconvert(),
        "out"_a.noconvert(), "n_threads"_a = 1,
        "Write the mean of the leaves each row of X reaches into out. The tree must be checked.");
}

}  // namespace

void bind_tree_fractional(nb::module_& m) {
    bind_grow<std::uint8_t>(m);
    bind_grow<std::uint16_t>(m);
    bind_predict<double>(m);
    bind_predict<float>(m);
    m.def(
        "weakest_links",
        [](InVector<std::int32_t> left, InVector<double> risk, OutVector<double> collapse) {
            const std::size_t n = left.shape(0);
            require(n >= 1, "a tree has at least one node");
            require(risk.shape(0) == n && collapse.shape(0) == n,
                    "risk and collapse need one entry per node");
            for (std::size_t i = 0; i < n; ++i) {
                const std::int64_t child = left.data()[i];
                require(child == 0 || (child > static_cast<std::int64_t>(i) &&
                                       child + 1 < static_cast<std::int64_t>(n)),
                        "a child does not come after its parent");
            }
            tree::PruningSteps steps;
            {
                nb::gil_scoped_release unlocked;
                steps = tree::weakest_links(span(left), span(risk), span(collapse));
            }
            return nb::typed<nb::tuple, nb::any, nb::any>(
                nb::make_tuple(owned(std::move(steps.alpha)), owned(std::move(steps.risk))));
        },
        "left"_a.noconvert(), "risk"_a.noconvert(), "collapse"_a.noconvert(),
        "Write the price at which each node is no longer inner; return (prices, risks) by step.");
}

}  // namespace assay::bindings

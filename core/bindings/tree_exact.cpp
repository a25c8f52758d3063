// Python border of assay::tree, part "exact": one tree on columns as they are.
#include <cmath>
#include <cstdint>
#include <utility>

#include "arrays.hpp"
#include "assay/tree/exact_grow.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

void check_rows(std::size_t rows, std::size_t cols, std::span<const double> weight) {
    require(rows >= 1 && cols >= 1, "X needs a row and a column");
    require(rows < (std::size_t{1} << 30), "a table has fewer than 2^30 rows");
    require(weight.empty() || weight.size() == rows, "weight needs one number per row");
    for (const double w : weight) {
        require(w > 0 && std::isfinite(w), "weight must be finite and positive");
    }
}

template <class T>
void bind_exact(nb::module_& m) {
    m.def(
        "grow_exact",
        [](InMatrix<T> X, InVector<std::int32_t> labels, InMatrix<double> values,
           InVector<double> weight, int criterion, std::size_t n_classes, std::int32_t max_depth,
           std::size_t min_samples_split, std::size_t min_samples_leaf,
           double min_weight_fraction_leaf, double min_impurity_decrease, int n_threads) {
            const auto table = view(X);
            check_rows(table.rows, table.cols, span(weight));
            for (std::size_t i = 0; i < X.size(); ++i) {
                require(std::isfinite(X.data()[i]), "X must be finite");
            }
            require(criterion >= 0 && criterion <= 5, "criterion must be between 0 and 5");
            require(max_depth >= 1, "max_depth must be at least 1");
            require(min_samples_split >= 2, "min_samples_split must be at least 2");
            require(min_samples_leaf >= 1, "min_samples_leaf must be at least 1");
            require(min_weight_fraction_leaf >= 0 && min_weight_fraction_leaf <= 0.5,
                    "min_weight_fraction_leaf must be between 0 and 0.5");
            require(min_impurity_decrease >= 0, "min_impurity_decrease must not be negative");
            require(n_threads >= 1, "n_threads must be at least 1");
            tree::GrowOptions options;
            options.criterion = static_cast<tree::Criterion>(criterion);
            options.n_classes = n_classes;
            options.max_depth = max_depth;
            options.min_samples_split = min_samples_split;
            options.min_samples_leaf = min_samples_leaf;
            options.min_weight_fraction_leaf = min_weight_fraction_leaf;
            options.min_impurity_decrease = min_impurity_decrease;
            options.with_stats = true;
            options.n_threads = n_threads;
            if (n_classes != 0) {
                require(criterion <= 2, "classes need the criterion gini, entropy or error");
                require(labels.shape(0) == table.rows, "labels needs one entry per row");
                for (const std::int32_t label : span(labels)) {
                    require(label >= 0 && label < static_cast<std::int32_t>(n_classes),
                            "labels must be between 0 and n_classes - 1");
                }
            } else {
                require(criterion >= 3, "regression needs a criterion for regression");
                require(values.shape(0) == table.rows && values.shape(1) >= 1,
                        "values needs one row per row of the table");
                for (std::size_t i = 0; i < values.size(); ++i) {
                    require(std::isfinite(values.data()[i]), "values must be finite");
                }
            }
            tree::Grown grown;
            {
                nb::gil_scoped_release unlocked;
                grown = n_classes != 0
                            ? tree::grow_exact_classes(table, span(labels), span(weight), options)
                            : tree::grow_exact_values(table, {values.data(), values.size()},
                                                      values.shape(1), span(weight), options);
            }
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
            out["importance"] = owned(std::move(grown.importance), table.cols);
            out["impurity"] = owned(std::move(grown.impurity));
            out["n_samples"] = owned(std::move(grown.n_samples));
            out["weight"] = owned(std::move(grown.weight));
            return out;
        },
        "X"_a.noconvert(), "labels"_a.noconvert(), "values"_a.noconvert(), "weight"_a.noconvert(),
        "criterion"_a, "n_classes"_a, "max_depth"_a, "min_samples_split"_a, "min_samples_leaf"_a,
        "min_weight_fraction_leaf"_a, "min_impurity_decrease"_a, "n_threads"_a,
        "Grow one tree on columns without bins; arrays by name.");
}

}  // namespace

void bind_tree_exact(nb::module_& m) {
    bind_exact<double>(m);
    bind_exact<float>(m);
}

}  // namespace assay::bindings

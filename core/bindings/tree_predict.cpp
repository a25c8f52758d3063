// Python border of assay::tree, part "predict": flat trees checked and walked.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "arrays.hpp"
#include "assay/tree/predict.hpp"
#include "assay/tree/predict_check.hpp"
#include "assay/tree/predict_paths.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

// start, left, feature, threshold, missing_left, slot, words, n_levels, value.
using NodeArrays =
    std::tuple<InVector<std::int64_t>, InVector<std::int32_t>, InVector<std::int32_t>,
               InVector<double>, InVector<std::uint8_t>, InVector<std::int32_t>,
               InVector<std::uint32_t>, InVector<std::int32_t>, InMatrix<double>>;

tree::NodesView nodes_view(const NodeArrays& arrays) {
    const auto& [start, left, feature, threshold, missing_left, slot, words, n_levels, value] =
        arrays;
    const std::size_t n_nodes = left.shape(0);
    require(start.shape(0) >= 2, "start needs an entry per tree and one more");
    require(feature.shape(0) == n_nodes && threshold.shape(0) == n_nodes &&
                missing_left.shape(0) == n_nodes && slot.shape(0) == n_nodes,
            "the arrays of nodes differ in length");
    require(start.data()[start.shape(0) - 1] == static_cast<std::int64_t>(n_nodes),
            "start does not end with the number of nodes");
    require(value.shape(1) >= 1, "value needs at least one column");
    return {span(start),     span(left),         span(feature),
            span(threshold), span(missing_left), span(slot),
            span(words),     span(n_levels),     {value.data(), value.size()},
            value.shape(1)};
}

template <class T>
tree::NodesView nodes_for(const NodeArrays& arrays, const InMatrix<T>& X, int n_threads) {
    const tree::NodesView nodes = nodes_view(arrays);
    require(X.shape(1) == nodes.n_levels.size() && X.shape(1) >= 1,
            "X and n_levels differ in n_features");
    require(n_threads >= 1, "n_threads must be at least 1");
    return nodes;
}

template <class T>
void bind_walks(nb::module_& m) {
    m.def(
        "predict_sums",
        [](const NodeArrays& arrays, InMatrix<T> X, InVector<std::int64_t> stops,
           std::size_t n_groups, InVector<double> init, OutVector<double> out, int n_threads) {
            const auto nodes = nodes_for(arrays, X, n_threads);
            const auto ends = span(stops);
            require(n_groups >= 1, "n_groups must be at least 1");
            require(
                std::is_sorted(ends.begin(), ends.end()) &&
                    (ends.empty() || (ends.front() >= 0 &&
                                      ends.back() <= static_cast<std::int64_t>(nodes.n_trees()))),
                "stops must be ascending numbers of trees");
            require(init.shape(0) == 0 || init.shape(0) == n_groups * nodes.n_outputs,
                    "init needs one number per output");
            require(out.shape(0) == ends.size() * X.shape(0) * n_groups * nodes.n_outputs,
                    "out needs a matrix per stop");
            nb::gil_scoped_release unlocked;
            tree::predict_sums(nodes, view(X), ends, n_groups, span(init), out.data(), n_threads);
        },
        "nodes"_a.noconvert(), "X"_a.noconvert(), "stops"_a.noconvert(), "n_groups"_a,
        "init"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a = 1,
        "Add up the values of the leaves of each row, tree by tree.");
    m.def(
        "out_of_bag_sums",
        [](const NodeArrays& arrays, InMatrix<T> X, InMatrix<std::uint8_t> in_bag,
           OutMatrix<double> sum, OutVector<std::int32_t> trees, int n_threads) {
            const auto nodes = nodes_for(arrays, X, n_threads);
            require(in_bag.shape(0) == nodes.n_trees() && in_bag.shape(1) == X.shape(0),
                    "in_bag needs the shape (n_trees, rows of X)");
            require(sum.shape(0) == X.shape(0) && sum.shape(1) == nodes.n_outputs,
                    "sum needs the shape (rows of X, n_outputs)");
            require(trees.shape(0) == X.shape(0), "trees needs one entry per row of X");
            nb::gil_scoped_release unlocked;
            tree::out_of_bag_sums(nodes, view(X), in_bag.data(), sum.data(), trees.data(),
                                  n_threads);
        },
        "nodes"_a.noconvert(), "X"_a.noconvert(), "in_bag"_a.noconvert(), "sum"_a.noconvert(),
        "trees"_a.noconvert(), "n_threads"_a = 1,
        "Add up the values of the leaves over the trees that did not see a row.");
    m.def(
        "leaves",
        [](const NodeArrays& arrays, InMatrix<T> X, OutMatrix<std::int32_t> out, int n_threads) {
            const auto nodes = nodes_for(arrays, X, n_threads);
            require(out.shape(0) == X.shape(0) && out.shape(1) == nodes.n_trees(),
                    "out needs the shape (rows of X, n_trees)");
            nb::gil_scoped_release unlocked;
            tree::leaves(nodes, view(X), view(out), n_threads);
        },
        "nodes"_a.noconvert(), "X"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a = 1,
        "Write the leaf of each row in each tree, numbered from its root.");
    m.def(
        "path_lengths",
        [](const NodeArrays& arrays, InMatrix<T> X, OutVector<std::int64_t> length, int n_threads) {
            const auto nodes = nodes_for(arrays, X, n_threads);
            require(length.shape(0) == X.shape(0), "length needs one entry per row of X");
            nb::gil_scoped_release unlocked;
            tree::path_lengths(nodes, view(X), span(length), n_threads);
        },
        "nodes"_a.noconvert(), "X"_a.noconvert(), "length"_a.noconvert(), "n_threads"_a = 1,
        "Count the nodes that each row passes in all trees.");
    m.def(
        "fill_paths",
        [](const NodeArrays& arrays, InMatrix<T> X, InVector<std::int64_t> begin,
           OutVector<std::int64_t> index, int n_threads) {
            const auto nodes = nodes_for(arrays, X, n_threads);
            require(begin.shape(0) == X.shape(0) + 1 &&
                        begin.data()[X.shape(0)] == static_cast<std::int64_t>(index.shape(0)),
                    "begin does not divide index");
            nb::gil_scoped_release unlocked;
            tree::fill_paths(nodes, view(X), span(begin), span(index), n_threads);
        },
        "nodes"_a.noconvert(), "X"_a.noconvert(), "begin"_a.noconvert(), "index"_a.noconvert(),
        "n_threads"_a = 1, "Write the nodes that each row passes; begin from path_lengths.");
}

}  // namespace

void bind_tree_predict(nb::module_& m) {
    m.def(
        "node_fault",
        [](const NodeArrays& arrays) {
            const auto nodes = nodes_view(arrays);
            nb::gil_scoped_release unlocked;
            return static_cast<int>(tree::node_fault(nodes));
        },
        "nodes"_a.noconvert(),
        "Return 0 for sound trees, else the number of the first fault (predict_check.hpp).");
    m.def(
        "node_depths",
        [](const NodeArrays& arrays, OutVector<std::int32_t> depth) {
            const auto nodes = nodes_view(arrays);
            require(depth.shape(0) == nodes.left.size(), "depth needs one entry per node");
            nb::gil_scoped_release unlocked;
            tree::node_depths(nodes, span(depth));
        },
        "nodes"_a.noconvert(), "depth"_a.noconvert(), "Write the depth of every node.");
    bind_walks<double>(m);
    bind_walks<float>(m);
}

}  // namespace assay::bindings

// The extension assay._core._ext: one submodule per family.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace assay::bindings {
void bind_blas(nb::module_& m);
void bind_cluster_centroids(nb::module_& m);
void bind_cluster_graph(nb::module_& m);
void bind_cluster_mixture(nb::module_& m);
void bind_cpu(nb::module_& m);
void bind_decomposition(nb::module_& m);
void bind_features(nb::module_& m);
void bind_levels(nb::module_& m);
void bind_linear_descent(nb::module_& m);
void bind_linear_least(nb::module_& m);
void bind_linear_logistic(nb::module_& m);
void bind_linear_svc(nb::module_& m);
void bind_neighbors(nb::module_& m);
void bind_neighbors_hashing(nb::module_& m);
void bind_neighbors_trees(nb::module_& m);
void bind_svm(nb::module_& m);
void bind_tree_adaboost(nb::module_& m);
void bind_tree_bins(nb::module_& m);
void bind_tree_boost(nb::module_& m);
void bind_tree_exact(nb::module_& m);
void bind_tree_fractional(nb::module_& m);
void bind_tree_grow(nb::module_& m);
void bind_tree_predict(nb::module_& m);
}  // namespace assay::bindings

NB_MODULE(_ext, m) {
    const auto add = [&](const char* name, const char* about, void (*bind)(nb::module_&)) {
        auto submodule = m.def_submodule(name, about);
        bind(submodule);
    };
    using namespace assay::bindings;
    m.doc() = "The compiled core of Assay.";
    add("blas", "Matrix products and factors, through SciPy's BLAS; for tests.", bind_blas);
    add("cluster", "Groups of rows: centroids, mixtures, density.", [](nb::module_& cluster) {
        bind_cluster_centroids(cluster);
        bind_cluster_graph(cluster);
        bind_cluster_mixture(cluster);
    });
    add("cpu", "The processor: vector level and usable cores.", bind_cpu);
    add("decomposition", "Sums and scatter of tables.", bind_decomposition);
    add("features", "Feature weights.", bind_features);
    add("levels", "Levels of nominal columns as codes.", bind_levels);
    add("linear", "Linear models: losses, penalties and solvers.", [](nb::module_& linear) {
        bind_linear_descent(linear);
        bind_linear_least(linear);
        bind_linear_logistic(linear);
        bind_linear_svc(linear);
    });
    add("neighbors", "Nearest neighbours.", [](nb::module_& neighbors) {
        bind_neighbors(neighbors);
        bind_neighbors_hashing(neighbors);
        bind_neighbors_trees(neighbors);
    });
    add("svm", "Kernel machines.", bind_svm);
    add("tree", "Trees and what is built from them.", [](nb::module_& tree) {
        bind_tree_bins(tree);
        bind_tree_grow(tree);
        bind_tree_exact(tree);
        bind_tree_fractional(tree);
        bind_tree_adaboost(tree);
        bind_tree_boost(tree);
        bind_tree_predict(tree);
    });
}

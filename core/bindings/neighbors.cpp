// Python border of assay::neighbors: check shapes, drop the GIL, call the kernel.
#include <nanobind/nanobind.h>

#include "arrays.hpp"
#include "assay/neighbors/brute_force.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

template <class T>
void bind_brute_force(nb::module_& m) {
    m.def(
        "brute_force",
        [](InMatrix<T> queries, InMatrix<T> refs, std::size_t k, double p,
           OutMatrix<double> distance, OutMatrix<std::int64_t> index, int n_threads) {
            require(queries.shape(1) == refs.shape(1), "queries and refs differ in n_features");
            require(k >= 1 && k <= refs.shape(0), "k must be between 1 and the rows of refs");
            require(p >= 1, "p must be at least 1");
            require(distance.shape(0) == queries.shape(0) && distance.shape(1) == k,
                    "distance needs the shape (rows of queries, k)");
            require(index.shape(0) == queries.shape(0) && index.shape(1) == k,
                    "index needs the shape (rows of queries, k)");
            require(n_threads >= 1, "n_threads must be at least 1");
            nb::gil_scoped_release unlocked;
            neighbors::brute_force(view(queries), view(refs), p, view(distance), view(index),
                                   n_threads);
        },
        "queries"_a.noconvert(), "refs"_a.noconvert(), "k"_a, "p"_a, "distance"_a.noconvert(),
        "index"_a.noconvert(), "n_threads"_a = 1,
        "Write the k nearest rows of refs for each row of queries into distance and index.");
}

}  // namespace

void bind_neighbors(nb::module_& m) {
    bind_brute_force<double>(m);
    bind_brute_force<float>(m);
}
}  // namespace assay::bindings

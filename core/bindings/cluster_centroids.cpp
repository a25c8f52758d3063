// Python border of assay::cluster, centroids: check shapes, drop the GIL, call the kernel.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "assay/cluster/centroid_variances.hpp"
#include "assay/cluster/fuzzy.hpp"
#include "assay/cluster/kmeans.hpp"
#include "assay/cluster/seed.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

template <class T>
void check_table(const InMatrix<T>& rows, int n_threads) {
    require(rows.shape(0) >= 1 && rows.shape(1) >= 1, "rows has no rows or no columns");
    require(n_threads >= 1, "n_threads must be at least 1");
}

// No weights are an empty vector.
template <class T>
void check_weights(const InVector<double>& weight, const InMatrix<T>& rows) {
    require(weight.shape(0) == 0 || weight.shape(0) == rows.shape(0),
            "weight needs one entry per row, or none at all");
}

template <class T>
void bind_rows(nb::module_& m) {
    m.def(
        "kmeans",
        [](InMatrix<T> rows, InVector<double> weight, OutMatrix<double> centres,
           OutVector<std::int32_t> labels, std::size_t max_iter, double tolerance, bool bounds,
           int n_threads) {
            check_table(rows, n_threads);
            check_weights(weight, rows);
            require(centres.shape(0) >= 1, "centres has no rows");
            require(centres.shape(1) == rows.shape(1), "rows and centres differ in columns");
            require(labels.shape(0) == rows.shape(0), "labels needs one entry per row");
            require(max_iter >= 1, "max_iter must be at least 1");
            cluster::KMeansResult result;
            {
                nb::gil_scoped_release unlocked;
                result = cluster::kmeans<T>(
                    view(rows), span(weight), view(centres), span(labels),
                    {max_iter, tolerance,
                     bounds ? cluster::Pruning::bounds : cluster::Pruning::none, n_threads});
            }
            return std::tuple{result.inertia, result.n_iter, result.is_stable, result.shift,
                              result.scanned};
        },
        "rows"_a.noconvert(), "weight"_a.noconvert(), "centres"_a.noconvert(),
        "labels"_a.noconvert(), "max_iter"_a, "tolerance"_a, "bounds"_a, "n_threads"_a = 1,
        "Move the centres by Lloyd's iteration and label the rows; returns inertia, rounds, "
        "whether the labels are stable, the last summed squared shift and the rows scanned.");
    m.def(
        "nearest_centre",
        [](InMatrix<T> rows, InMatrix<double> centres, OutVector<std::int32_t> labels,
           OutVector<double> squared, int n_threads) {
            check_table(rows, n_threads);
            require(centres.shape(0) >= 1, "centres has no rows");
            require(centres.shape(1) == rows.shape(1), "rows and centres differ in columns");
            require(labels.shape(0) == rows.shape(0) && squared.shape(0) == rows.shape(0),
                    "labels and squared need one entry per row");
            nb::gil_scoped_release unlocked;
            cluster::assign_rows<T>(view(rows), view(centres), span(labels), span(squared),
                                    n_threads);
        },
        "rows"_a.noconvert(), "centres"_a.noconvert(), "labels"_a.noconvert(),
        "squared"_a.noconvert(), "n_threads"_a = 1,
        "Write the nearest centre of each row and the squared distance to it.");
    m.def(
        "centre_distances",
        [](InMatrix<T> rows, InMatrix<double> centres, OutMatrix<T> distances, int n_threads) {
            check_table(rows, n_threads);
            require(centres.shape(0) >= 1, "centres has no rows");
            require(centres.shape(1) == rows.shape(1), "rows and centres differ in columns");
            require(distances.shape(0) == rows.shape(0) && distances.shape(1) == centres.shape(0),
                    "distances needs one row per row and one column per centre");
            nb::gil_scoped_release unlocked;
            cluster::centre_distances<T>(view(rows), view(centres), view(distances), n_threads);
        },
        "rows"_a.noconvert(), "centres"_a.noconvert(), "distances"_a.noconvert(), "n_threads"_a = 1,
        "Write the Euclidean distance of each row to each centre.");
    m.def(
        "column_variances",
        [](InMatrix<T> rows, OutVector<double> variance, int n_threads) {
            check_table(rows, n_threads);
            require(variance.shape(0) == rows.shape(1), "variance needs one entry per column");
            nb::gil_scoped_release unlocked;
            cluster::column_variances<T>(view(rows), span(variance), n_threads);
        },
        "rows"_a.noconvert(), "variance"_a.noconvert(), "n_threads"_a = 1,
        "Write the variance of each column.");
    m.def(
        "seed_rows",
        [](InMatrix<T> rows, InVector<double> weight, std::size_t first, InMatrix<double> draws,
           OutVector<std::int64_t> chosen, int n_threads) {
            check_table(rows, n_threads);
            check_weights(weight, rows);
            require(first < rows.shape(0), "first is not a row");
            require(chosen.shape(0) >= 1 && draws.shape(0) + 1 == chosen.shape(0),
                    "draws needs one row per seed after the first");
            require(draws.shape(1) >= 1 && draws.shape(1) <= 64, "draws needs 1 to 64 columns");
            nb::gil_scoped_release unlocked;
            cluster::seed_rows<T>(view(rows), span(weight), first, view(draws), span(chosen),
                                  n_threads);
        },
        "rows"_a.noconvert(), "weight"_a.noconvert(), "first"_a, "draws"_a.noconvert(),
        "chosen"_a.noconvert(), "n_threads"_a = 1,
        "Write the rows that greedy k-means++ chooses with the given random numbers.");
    m.def(
        "fuzzy_kmeans",
        [](InMatrix<T> rows, InVector<double> weight, OutMatrix<double> centres, double m,
           bool literal, std::size_t max_iter, double tolerance, int n_threads) {
            check_table(rows, n_threads);
            check_weights(weight, rows);
            require(centres.shape(0) >= 1, "centres has no rows");
            require(centres.shape(1) == rows.shape(1), "rows and centres differ in columns");
            require(m > 1, "m must be above 1");
            cluster::FuzzyResult result;
            {
                nb::gil_scoped_release unlocked;
                result = cluster::fuzzy_kmeans<T>(view(rows), span(weight), view(centres),
                                                  {{m, literal}, max_iter, tolerance, n_threads});
            }
            return std::tuple{owned(std::move(result.objective)), result.is_stable, result.shift};
        },
        "rows"_a.noconvert(), "weight"_a.noconvert(), "centres"_a.noconvert(), "m"_a, "literal"_a,
        "max_iter"_a, "tolerance"_a, "n_threads"_a = 1,
        "Move the centres by fuzzy k-means; returns the objective of every round, whether the "
        "centres came to rest, and the last summed squared shift.");
    m.def(
        "fuzzy_memberships",
        [](InMatrix<T> rows, InMatrix<double> centres, double m, OutMatrix<double> out,
           int n_threads) {
            check_table(rows, n_threads);
            require(centres.shape(0) >= 1, "centres has no rows");
            require(centres.shape(1) == rows.shape(1), "rows and centres differ in columns");
            require(m > 1, "m must be above 1");
            require(out.shape(0) == rows.shape(0) && out.shape(1) == centres.shape(0),
                    "out needs one row per row and one column per centre");
            nb::gil_scoped_release unlocked;
            cluster::fuzzy_memberships<T>(view(rows), view(centres), m, view(out), n_threads);
        },
        "rows"_a.noconvert(), "centres"_a.noconvert(), "m"_a, "out"_a.noconvert(),
        "n_threads"_a = 1, "Write the membership of each row in each cluster.");
}

}  // namespace

void bind_cluster_centroids(nb::module_& m) {
    bind_rows<float>(m);
    bind_rows<double>(m);
}
}  // namespace assay::bindings

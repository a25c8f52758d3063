// Python border of assay::decomposition: check shapes, drop the GIL, call the kernel.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "assay/decomposition/class_means.hpp"
#include "assay/decomposition/class_scatter.hpp"
#include "assay/decomposition/project.hpp"
#include "blas.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

// Whether every number is a position among `count`.
bool positions(const InVector<std::int64_t>& numbers, std::size_t count) {
    return std::all_of(numbers.data(), numbers.data() + numbers.shape(0), [&](std::int64_t k) {
        return k >= 0 && static_cast<std::size_t>(k) < count;
    });
}

void check_classes(std::size_t n, const InVector<std::int64_t>& codes,
                   const InVector<double>& weights, std::size_t n_classes, int n_threads) {
    require(codes.shape(0) == n, "codes needs one entry per row of X");
    require(positions(codes, n_classes), "a code is out of range");
    require(weights.shape(0) == 0 || weights.shape(0) == n,
            "weights needs no entry or one per row of X");
    require(n_threads >= 1, "n_threads must be at least 1");
}

bool all_classes_occur(const InVector<std::int64_t>& codes, std::size_t n_classes) {
    std::vector<bool> seen(n_classes, false);
    for (std::size_t i = 0; i < codes.shape(0); ++i) {
        seen[static_cast<std::size_t>(codes.data()[i])] = true;
    }
    return std::all_of(seen.begin(), seen.end(), [](bool found) { return found; });
}

template <class T>
void bind_functions(nb::module_& m) {
    m.def(
        "project",
        [](InMatrix<T> X, InVector<double> shift, InMatrix<double> axes, OutMatrix<double> out,
           int n_threads) {
            require(shift.shape(0) == X.shape(1), "shift needs one entry per column of X");
            require(axes.shape(1) == X.shape(1), "X and axes differ in n_features");
            require(out.shape(0) == X.shape(0) && out.shape(1) == axes.shape(0),
                    "out needs a row per row of X and a column per axis");
            require(n_threads >= 1, "n_threads must be at least 1");
            const BlasCall blas;
            nb::gil_scoped_release unlocked;
            decomposition::project(view(X), span(shift), view(axes), view(out), n_threads);
        },
        "X"_a.noconvert(), "shift"_a.noconvert(), "axes"_a.noconvert(), "out"_a.noconvert(),
        "n_threads"_a = 1, "Write (X - shift) axes' into out.");
    m.def(
        "class_means",
        [](InMatrix<T> X, InVector<std::int64_t> codes, InVector<double> weights,
           OutVector<double> total, OutMatrix<double> mean, int n_threads) {
            check_classes(X.shape(0), codes, weights, mean.shape(0), n_threads);
            require(mean.shape(1) == X.shape(1), "mean needs a column per column of X");
            require(total.shape(0) == mean.shape(0), "total needs one entry per class");
            require(all_classes_occur(codes, mean.shape(0)), "a class has no row");
            nb::gil_scoped_release unlocked;
            decomposition::class_means(view(X), span(codes), span(weights), span(total), view(mean),
                                       n_threads);
        },
        "X"_a.noconvert(), "codes"_a.noconvert(), "weights"_a.noconvert(), "total"_a.noconvert(),
        "mean"_a.noconvert(), "n_threads"_a = 1, "Write the weight and the mean of each class.");
    m.def(
        "class_scatter",
        [](InMatrix<T> X, InVector<std::int64_t> rows, InVector<std::int64_t> codes,
           InVector<double> weights, InMatrix<double> mean, OutMatrix<double> out, int n_threads) {
            check_classes(X.shape(0), codes, weights, mean.shape(0), n_threads);
            require(positions(rows, X.shape(0)), "a row number is out of range");
            require(mean.shape(1) == X.shape(1), "mean needs a column per column of X");
            require(out.shape(0) == X.shape(1) && out.shape(1) == X.shape(1),
                    "out needs a row and a column per column of X");
            const BlasCall blas;
            nb::gil_scoped_release unlocked;
            decomposition::class_scatter(view(X), span(rows), span(codes), span(weights),
                                         view(mean), view(out), n_threads);
        },
        "X"_a.noconvert(), "rows"_a.noconvert(), "codes"_a.noconvert(), "weights"_a.noconvert(),
        "mean"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a = 1,
        "Write the scatter of the listed rows (none listed: all) about their classes' means.");
}

}  // namespace

void bind_decomposition(nb::module_& m) {
    bind_functions<double>(m);
    bind_functions<float>(m);
}

}  // namespace assay::bindings

// Python border of least squares: check shapes, drop the GIL, call the kernel.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "arrays.hpp"
#include "assay/common/csr_view.hpp"
#include "assay/linear/correlate.hpp"
#include "assay/linear/design.hpp"
#include "assay/linear/moments.hpp"
#include "assay/linear/penalised_solve.hpp"
#include "assay/linear/predict_scores.hpp"
#include "assay/linear/sparse_design.hpp"
#include "assay/linear/working_set.hpp"
#include "blas.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

template <class T>
void bind_table_functions(nb::module_& m) {
    m.def(
        "moments",
        [](InMatrix<T> X, InMatrix<double> targets, InVector<double> weights, bool centre,
           OutVector<double> mean, OutMatrix<double> product, int n_threads) {
            const std::size_t width = X.shape(1) + targets.shape(1);
            require(X.shape(0) >= 1, "X has no rows");
            require(targets.shape(0) == X.shape(0), "targets needs one row per row of X");
            require(weights.shape(0) == 0 || weights.shape(0) == X.shape(0),
                    "weights needs no entry or one per row of X");
            require(mean.shape(0) == width, "mean needs one entry per column and target");
            require(product.shape(0) == width && product.shape(1) == width,
                    "product needs a row and a column per column and target");
            require(n_threads >= 1, "n_threads must be at least 1");
            const BlasCall blas;
            nb::gil_scoped_release unlocked;
            return linear::moments(view(X), view(targets), span(weights), centre, span(mean),
                                   view(product), n_threads);
        },
        "X"_a.noconvert(), "targets"_a.noconvert(), "weights"_a.noconvert(), "centre"_a,
        "mean"_a.noconvert(), "product"_a.noconvert(), "n_threads"_a = 1,
        "Write means and (centred) products of the columns of [X, targets]; return the sum of\n"
        "the weights.");
    m.def(
        "correlate",
        [](InMatrix<T> X, InVector<double> shift, InVector<double> u, OutVector<double> out,
           int n_threads) {
            require(shift.shape(0) == X.shape(1), "shift needs one entry per column of X");
            require(u.shape(0) == X.shape(0), "u needs one entry per row of X");
            require(out.shape(0) == X.shape(1), "out needs one entry per column of X");
            require(n_threads >= 1, "n_threads must be at least 1");
            nb::gil_scoped_release unlocked;
            linear::correlate(view(X), span(shift), span(u), span(out), n_threads);
        },
        "X"_a.noconvert(), "shift"_a.noconvert(), "u"_a.noconvert(), "out"_a.noconvert(),
        "n_threads"_a = 1, "Write (X - shift)' u into out.");
    m.def(
        "predict_scores",
        [](InMatrix<T> X, InMatrix<double> coef, InVector<double> offset, OutMatrix<double> out,
           int n_threads) {
            require(X.shape(1) == coef.shape(1), "X and coef differ in n_features");
            require(offset.shape(0) == coef.shape(0), "offset needs one entry per row of coef");
            require(out.shape(0) == X.shape(0) && out.shape(1) == coef.shape(0),
                    "out needs a row per row of X and a column per row of coef");
            require(n_threads >= 1, "n_threads must be at least 1");
            nb::gil_scoped_release unlocked;
            linear::predict_scores(view(X), view(coef), span(offset), view(out), n_threads);
        },
        "X"_a.noconvert(), "coef"_a.noconvert(), "offset"_a.noconvert(), "out"_a.noconvert(),
        "n_threads"_a = 1, "Write X coef' + offset into out.");
}

template <class Design>
void run_path(const Design& design, std::span<const double> y, std::span<const double> l1,
              std::span<const double> l2, bool positive, double tol, int max_sweeps,
              MatrixView<double> coef, std::span<double> gap, MatrixView<std::int32_t> counts) {
    linear::WorkingSet<Design> solver(design, y);
    for (std::size_t t = 0; t < l1.size(); ++t) {
        if (t > 0) {
            std::copy_n(coef.row(t - 1).data(), coef.cols, coef.row(t).data());
        }
        const auto found = solver.solve(coef.row(t), {l1[t], l2[t], positive}, tol, max_sweeps);
        gap[t] = found.gap;
        counts(t, 0) = found.n_sweeps;
        counts(t, 1) = found.n_passes;
        counts(t, 2) = found.converged ? 1 : 0;
        counts(t, 3) = found.exact ? 1 : 0;
    }
}

void check_path(std::size_t n, std::size_t p, std::size_t mean, std::size_t weights, std::size_t y,
                const InVector<double>& l1, const InVector<double>& l2, int max_sweeps,
                const OutMatrix<double>& coef, const OutVector<double>& gap,
                const OutMatrix<std::int32_t>& counts, int n_threads) {
    require(n >= 1, "X has no rows");
    require(mean == p, "mean needs one entry per column of X");
    require(weights == 0 || weights == n, "weights needs no entry or one per row of X");
    require(y == n, "y needs one entry per row of X");
    const std::size_t count = l1.shape(0);
    require(l2.shape(0) == count && gap.shape(0) == count, "l1, l2 and gap differ in length");
    require(coef.shape(0) == count && coef.shape(1) == p,
            "coef needs a row per penalty and a column per column of X");
    require(counts.shape(0) == count && counts.shape(1) == 4,
            "counts needs a row per penalty and 4 columns");
    for (std::size_t t = 0; t < count; ++t) {
        require(l1.data()[t] > 0 && l2.data()[t] >= 0, "l1 must be > 0 and l2 >= 0");
    }
    require(max_sweeps >= 1, "max_sweeps must be at least 1");
    require(n_threads >= 1, "n_threads must be at least 1");
}

template <class T>
void bind_dense_path(nb::module_& m) {
    m.def(
        "lasso_path",
        [](InMatrix<T> X, InVector<double> mean, InVector<double> weights, InVector<double> y,
           InVector<double> l1, InVector<double> l2, bool positive, double tol, int max_sweeps,
           OutMatrix<double> coef, OutVector<double> gap, OutMatrix<std::int32_t> counts,
           int n_threads) {
            check_path(X.shape(0), X.shape(1), mean.shape(0), weights.shape(0), y.shape(0), l1, l2,
                       max_sweeps, coef, gap, counts, n_threads);
            const BlasCall blas;
            nb::gil_scoped_release unlocked;
            const linear::DenseDesign<T> design(view(X), span(mean), span(weights), n_threads);
            run_path(design, span(y), span(l1), span(l2), positive, tol, max_sweeps, view(coef),
                     span(gap), view(counts));
        },
        "X"_a.noconvert(), "mean"_a.noconvert(), "weights"_a.noconvert(), "y"_a.noconvert(),
        "l1"_a.noconvert(), "l2"_a.noconvert(), "positive"_a, "tol"_a, "max_sweeps"_a,
        "coef"_a.noconvert(), "gap"_a.noconvert(), "counts"_a.noconvert(), "n_threads"_a = 1,
        "Write the weights for each penalty, from the start in the first row of coef; the gaps;\n"
        "and sweeps, passes over the table, whether converged, whether exact.");
}

template <class T, class Index>
void bind_sparse_path(nb::module_& m) {
    m.def(
        "sparse_lasso_path",
        [](InVector<T> values, InVector<Index> columns, InVector<Index> offsets,
           InVector<double> mean, InVector<double> weights, InVector<double> y, InVector<double> l1,
           InVector<double> l2, bool positive, double tol, int max_sweeps, OutMatrix<double> coef,
           OutVector<double> gap, OutMatrix<std::int32_t> counts, int n_threads) {
            require(offsets.shape(0) >= 1, "offsets is empty");
            const std::size_t n = offsets.shape(0) - 1;
            const std::size_t p = mean.shape(0);
            check_path(n, p, p, weights.shape(0), y.shape(0), l1, l2, max_sweeps, coef, gap, counts,
                       n_threads);
            require(columns.shape(0) == values.shape(0), "columns and values differ in length");
            const Index* first = offsets.data();
            require(first[0] == 0 && static_cast<std::size_t>(first[n]) == values.shape(0) &&
                        std::is_sorted(first, first + n + 1),
                    "offsets do not divide values");
            require(std::all_of(columns.data(), columns.data() + columns.shape(0),
                                [&](Index j) { return j >= 0 && static_cast<std::size_t>(j) < p; }),
                    "a column number is out of range");
            const BlasCall blas;
            nb::gil_scoped_release unlocked;
            const CsrView<const T, Index> X{span(values), span(columns), span(offsets), n, p};
            const linear::SparseDesign design(X, span(mean), span(weights), n_threads);
            run_path(design, span(y), span(l1), span(l2), positive, tol, max_sweeps, view(coef),
                     span(gap), view(counts));
        },
        "values"_a.noconvert(), "columns"_a.noconvert(), "offsets"_a.noconvert(),
        "mean"_a.noconvert(), "weights"_a.noconvert(), "y"_a.noconvert(), "l1"_a.noconvert(),
        "l2"_a.noconvert(), "positive"_a, "tol"_a, "max_sweeps"_a, "coef"_a.noconvert(),
        "gap"_a.noconvert(), "counts"_a.noconvert(), "n_threads"_a = 1,
        "As lasso_path, for a table in compressed rows.");
}

}  // namespace

void bind_linear_least(nb::module_& m) {
    bind_table_functions<double>(m);
    bind_table_functions<float>(m);
    bind_dense_path<double>(m);
    bind_dense_path<float>(m);
    bind_sparse_path<double, std::int32_t>(m);
    bind_sparse_path<double, std::int64_t>(m);
    bind_sparse_path<float, std::int32_t>(m);
    bind_sparse_path<float, std::int64_t>(m);
    m.def(
        "penalised_solve",
        [](InMatrix<double> gram, InMatrix<double> rhs, double penalty, OutMatrix<double> out) {
            require(gram.shape(0) == gram.shape(1), "gram is not square");
            require(rhs.shape(0) == gram.shape(0), "rhs needs one row per row of gram");
            require(out.shape(0) == rhs.shape(0) && out.shape(1) == rhs.shape(1),
                    "out and rhs differ in shape");
            require(penalty >= 0, "penalty must be at least 0");
            const BlasCall blas;
            nb::gil_scoped_release unlocked;
            return linear::penalised_solve(view(gram), view(rhs), penalty, view(out));
        },
        "gram"_a.noconvert(), "rhs"_a.noconvert(), "penalty"_a, "out"_a.noconvert(),
        "Write (gram + penalty I)^-1 rhs into out; return the reciprocal condition number, or 0\n"
        "where there is no such inverse.");
}

}  // namespace assay::bindings

// Python border of assay::svm: check shapes, drop the GIL, call the kernel.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "assay/svm/certificate.hpp"
#include "assay/svm/decide.hpp"
#include "assay/svm/machine.hpp"
#include "assay/svm/pairs.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

// A view of a table together with the arrays that it views.
struct HeldTable {
    svm::Table view;
    std::vector<nb::object> arrays;
};

template <class S>
HeldTable dense(InMatrix<S> X) {
    return {MatrixView<const S>{X.data(), X.shape(0), X.shape(1)}, {nb::cast(X)}};
}

template <class S>
HeldTable gram(InMatrix<S> K) {
    return {svm::GramView<S>{{K.data(), K.shape(0), K.shape(1)}}, {nb::cast(K)}};
}

HeldTable sparse(InVector<double> values, InVector<std::int64_t> columns,
                 InVector<std::int64_t> offsets, std::size_t n_columns) {
    require(offsets.shape(0) >= 1, "offsets needs one entry per row and one more");
    const svm::SparseView view{span(values), span(columns), span(offsets), offsets.shape(0) - 1,
                               n_columns};
    require(svm::is_sound(view), "the sparse rows are not sound");
    return {view, {nb::cast(values), nb::cast(columns), nb::cast(offsets)}};
}

svm::KernelFunction kernel(int kind, double gamma, double coef0, std::uint32_t degree) {
    require(kind >= 0 && kind <= 5, "kind must be 0 to 5");
    return {static_cast<svm::KernelKind>(kind), gamma, coef0, degree};
}

void require_problem(const HeldTable& table, std::size_t n, const svm::SmoProblem& problem) {
    require(problem.target.size() == n && problem.low.size() == n && problem.high.size() == n &&
                problem.row_of.size() == n,
            "target, low, high, row_of and weight need the same length");
    const std::size_t rows = svm::n_rows(table.view);
    for (const std::int32_t row : problem.row_of) {
        require(row >= 0 && static_cast<std::size_t>(row) < rows, "row_of is out of range");
    }
}

using Numbers = std::tuple<int, double, double, double, double, std::size_t, std::size_t,
                           std::size_t, bool, bool, double>;

Numbers numbers(const svm::MachineResult& result, const svm::Certificate& proof) {
    return {static_cast<int>(result.run.stop),
            proof.objective,
            proof.violation,
            proof.bias,
            proof.gap,
            result.run.steps,
            result.run.rounds,
            result.run.kernel_rows,
            result.used_float64,
            result.certified,
            result.kernel_error};
}

Numbers solve(const HeldTable& table, const svm::KernelFunction& k, InVector<double> target,
              InVector<double> low, InVector<double> high, InVector<std::int32_t> row_of,
              OutVector<double> weight, OutVector<double> f, double tol, std::size_t cache_bytes,
              bool shrinking, std::size_t max_steps, std::size_t block, int n_threads,
              InMatrix<float> values, InMatrix<double> exact) {
    const svm::SmoProblem problem{span(target), span(low), span(high), span(row_of)};
    require_problem(table, weight.shape(0), problem);
    require(f.shape(0) == svm::n_rows(table.view), "f needs one entry per row");
    require(n_threads >= 1, "n_threads must be at least 1");
    require(block >= 2, "block must be at least 2");
    nb::gil_scoped_release unlocked;
    const svm::Machine machine(table.view, k,
                               {tol, cache_bytes, shrinking, max_steps, block, n_threads},
                               view(values), view(exact));
    const auto result = machine.solve({}, problem, span(weight), span(f));
    return numbers(result, svm::certify(problem, span(weight), span(f)));
}

nb::typed<nb::list, Numbers> solve_pairs(const HeldTable& table, const svm::KernelFunction& k,
                                         InVector<std::int32_t> codes, std::size_t n_classes,
                                         InMatrix<double> upper, OutMatrix<double> coef, double tol,
                                         std::size_t cache_bytes, bool shrinking,
                                         std::size_t max_steps, std::size_t block, int n_threads,
                                         InMatrix<float> values, InMatrix<double> exact) {
    const std::size_t n = svm::n_rows(table.view);
    require(codes.shape(0) == n && upper.shape(1) == n && coef.shape(0) == n * upper.shape(0),
            "codes, upper and coef need one entry per row");
    require(n_classes >= 2 && coef.shape(1) == n_classes - 1, "coef needs n_classes - 1 columns");
    require(n_threads >= 1, "n_threads must be at least 1");
    require(block >= 2, "block must be at least 2");
    for (const std::int32_t code : span(codes)) {
        require(code >= 0 && static_cast<std::size_t>(code) < n_classes, "codes out of range");
    }
    std::vector<svm::PairResult> results;
    {
        nb::gil_scoped_release unlocked;
        const svm::Machine machine(table.view, k,
                                   {tol, cache_bytes / static_cast<std::size_t>(n_threads),
                                    shrinking, max_steps, block, n_threads, std::size_t{1} << 20},
                                   view(values), view(exact));
        results =
            svm::solve_pairs(machine, span(codes), n_classes, view(upper), view(coef), n_threads);
    }
    nb::list list;
    for (const svm::PairResult& result : results) {
        list.append(nb::cast(numbers(result.machine, result.proof)));
    }
    return nb::typed<nb::list, Numbers>(std::move(list));
}

template <class T>
void decide(const HeldTable& X, const HeldTable& vectors, const svm::KernelFunction& k,
            InMatrix<double> coef, InVector<double> bias, OutMatrix<double> out, int n_threads) {
    require(X.view.index() == vectors.view.index(), "X and vectors differ in kind");
    require(svm::n_columns(X.view) == svm::n_columns(vectors.view),
            "X and vectors differ in n_features");
    require(coef.shape(1) == svm::n_rows(vectors.view), "coef needs one column per vector");
    require(coef.shape(0) == out.shape(0) && bias.shape(0) == out.shape(0),
            "coef, bias and out differ in outputs");
    require(out.shape(1) == svm::n_rows(X.view), "out needs one column per row of X");
    require(n_threads >= 1, "n_threads must be at least 1");
    nb::gil_scoped_release unlocked;
    svm::decide<T>(k, *svm::make_rows<T>(X.view), *svm::make_rows<T>(vectors.view), view(coef),
                   span(bias), view(out), n_threads);
}

template <class T>
void matrix(const HeldTable& X, const HeldTable& Z, const svm::KernelFunction& k, OutMatrix<T> out,
            int n_threads) {
    require(X.view.index() == Z.view.index(), "X and Z differ in kind");
    require(svm::n_columns(X.view) == svm::n_columns(Z.view), "X and Z differ in n_features");
    require(out.shape(0) == svm::n_rows(X.view) && out.shape(1) == svm::n_rows(Z.view),
            "out needs the shape (rows of X, rows of Z)");
    require(n_threads >= 1, "n_threads must be at least 1");
    nb::gil_scoped_release unlocked;
    const auto left = svm::make_rows<T>(X.view);
    if (&X == &Z) {
        svm::kernel_matrix<T>(k, *left, *left, view(out), n_threads, true);
        return;
    }
    svm::kernel_matrix<T>(k, *left, *svm::make_rows<T>(Z.view), view(out), n_threads);
}

template <class T>
void shape(const svm::KernelFunction& k, InMatrix<T> from, OutMatrix<T> values, int n_threads) {
    require(n_threads >= 1, "n_threads must be at least 1");
    require(from.shape(0) == values.shape(0) && from.shape(1) == values.shape(1),
            "both matrices need the same shape");
    nb::gil_scoped_release unlocked;
    const std::size_t size = values.shape(0) * values.shape(1);
    svm::shape_values<T>(k, {from.data(), size}, {values.data(), size}, n_threads);
}

}  // namespace

void bind_svm(nb::module_& m) {
    nb::class_<HeldTable>(m, "Table", "Rows for the kernels; keeps its arrays alive.");
    m.def("dense", &dense<float>, "X"_a.noconvert(), "Dense rows.");
    m.def("dense", &dense<double>, "X"_a.noconvert(), "Dense rows.");
    m.def("gram", &gram<float>, "K"_a.noconvert(), "A kernel matrix.");
    m.def("gram", &gram<double>, "K"_a.noconvert(), "A kernel matrix.");
    m.def("sparse", &sparse, "values"_a.noconvert(), "columns"_a.noconvert(),
          "offsets"_a.noconvert(), "n_columns"_a, "Sparse rows (CSR, sorted).");
    nb::class_<svm::KernelFunction>(m, "KernelFunction", "A kernel and its constants.");
    m.def("kernel", &kernel, "kind"_a, "gamma"_a, "coef0"_a, "degree"_a,
          "linear 0, poly 1, rbf 2, sigmoid 3, precomputed 4, squared distance 5.");
    m.def("solve", &solve, "table"_a, "kernel"_a, "target"_a.noconvert(), "low"_a.noconvert(),
          "high"_a.noconvert(), "row_of"_a.noconvert(), "weight"_a.noconvert(), "f"_a.noconvert(),
          "tol"_a, "cache_bytes"_a, "shrinking"_a, "max_steps"_a, "block"_a, "n_threads"_a,
          "values"_a.noconvert(), "exact"_a.noconvert(),
          "Solve the program from weight, in place; f becomes K weight. Returns the numbers.");
    m.def("solve_pairs", &solve_pairs, "table"_a, "kernel"_a, "codes"_a.noconvert(), "n_classes"_a,
          "upper"_a.noconvert(), "coef"_a.noconvert(), "tol"_a, "cache_bytes"_a, "shrinking"_a,
          "max_steps"_a, "block"_a, "n_threads"_a, "values"_a.noconvert(), "exact"_a.noconvert(),
          "Solve one program per row of upper and pair of classes from coef, in place.");
    m.def("decide", &decide<double>, "X"_a, "vectors"_a, "kernel"_a, "coef"_a.noconvert(),
          "bias"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a = 1,
          "Write bias + coef k(vectors, X) into out, with float64 kernel values.");
    m.def("decide_float32", &decide<float>, "X"_a, "vectors"_a, "kernel"_a, "coef"_a.noconvert(),
          "bias"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a = 1,
          "Write bias + coef k(vectors, X) into out, with float32 kernel values.");
    m.def("matrix", &matrix<double>, "X"_a, "Z"_a, "kernel"_a, "out"_a.noconvert(),
          "n_threads"_a = 1, "Write the kernel matrix of X and Z into out.");
    m.def("matrix", &matrix<float>, "X"_a, "Z"_a, "kernel"_a, "out"_a.noconvert(),
          "n_threads"_a = 1, "Write the kernel matrix of X and Z into out.");
    m.def("shape", &shape<double>, "kernel"_a, "distances"_a.noconvert(), "values"_a.noconvert(),
          "n_threads"_a = 1, "Write the kernel values of squared distances (rbf) or products.");
    m.def("shape", &shape<float>, "kernel"_a, "distances"_a.noconvert(), "values"_a.noconvert(),
          "n_threads"_a = 1, "Write the kernel values of squared distances (rbf) or products.");
}
}  // namespace assay::bindings

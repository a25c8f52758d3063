// The linear support vector machine, for Python.
#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "assay/linear/svc_tasks.hpp"
#include "blas.hpp"
#include "linear_rows.hpp"

namespace assay::bindings {

using namespace nb::literals;

namespace {

using Real = InVector<double>;
using Ints = InVector<std::int32_t>;

struct SvcCall {
    Real targets;
    Real weight;
    Real positives;
    Real positive_weight;
    Real negative_weight;
    bool squared;
    bool sparse;
    double C;
    double constant;
    double tol;
    std::int64_t max_iter;
    std::uint64_t seed;
    int solver;
    OutMatrix<double> coef;
    OutVector<double> intercept;
    int n_threads;

    template <class Rows>
    Arrays run(Rows X) const {
        const std::size_t count = positives.shape(0);
        require(count >= 1, "there is no problem");
        require(targets.shape(0) == X.rows && weight.shape(0) == X.rows,
                "targets and weight need one value per row");
        require(positive_weight.shape(0) == count && negative_weight.shape(0) == count,
                "positive_weight and negative_weight need one value per problem");
        require(coef.shape(0) == count && coef.shape(1) == X.cols && intercept.shape(0) == count,
                "coef and intercept need one row per problem");
        require(n_threads >= 1, "n_threads must be at least 1");
        require(squared || !sparse, "the L1 penalty needs the squared hinge");
        require(X.rows >= 1 && X.cols >= 1, "X is empty");
        const linear::Targets problems{span(targets), span(weight), span(positives),
                                       span(positive_weight), span(negative_weight)};
        const linear::SvcOptions options{squared, sparse, C, constant, tol, max_iter, seed, solver};
        std::vector<linear::SvcResult> results;
        {
            const BlasCall blas;
            nb::gil_scoped_release unlocked;
            results =
                linear::solve_svc(X, problems, options, view(coef), span(intercept), n_threads);
        }
        std::vector<double> objective, gap;
        std::vector<std::int64_t> n_iter;
        std::vector<std::int32_t> stop;
        for (const linear::SvcResult& result : results) {
            objective.push_back(result.objective);
            gap.push_back(result.gap);
            n_iter.push_back(result.n_iter);
            stop.push_back(static_cast<std::int32_t>(result.stop));
        }
        Arrays out;
        out["objective"] = owned(std::move(objective));
        out["gap"] = owned(std::move(gap));
        out["n_iter"] = owned(std::move(n_iter));
        out["stop"] = owned(std::move(stop));
        return out;
    }
};

template <class T>
void bind_rows(nb::module_& m) {
    m.def(
        "solve_svc", [](InMatrix<T> X, const SvcCall& call) { return call.run(view(X)); },
        "X"_a.noconvert(), "call"_a, "Solve the linear SVMs that `call` describes.");
    m.def(
        "solve_svc",
        [](InVector<T> values, Ints columns, Ints offsets, std::size_t n_columns,
           const SvcCall& call) { return call.run(csr(values, columns, offsets, n_columns)); },
        "values"_a.noconvert(), "columns"_a.noconvert(), "offsets"_a.noconvert(), "n_columns"_a,
        "call"_a, "The same for a CSR matrix.");
}

}  // namespace

void bind_linear_svc(nb::module_& m) {
    nb::class_<SvcCall>(m, "SvcCall")
        .def(
            "__init__",
            [](SvcCall* self, Real targets, Real weight, Real positives, Real positive_weight,
               Real negative_weight, bool squared, bool sparse, double C, double constant,
               double tol, std::int64_t max_iter, std::uint64_t seed, int solver,
               OutMatrix<double> coef, OutVector<double> intercept, int n_threads) {
                new (self) SvcCall{targets,         weight,  positives, positive_weight,
                                   negative_weight, squared, sparse,    C,
                                   constant,        tol,     max_iter,  seed,
                                   solver,          coef,    intercept, n_threads};
            },
            nb::kw_only(), "targets"_a.noconvert(), "weight"_a.noconvert(),
            "positives"_a.noconvert(), "positive_weight"_a.noconvert(),
            "negative_weight"_a.noconvert(), "squared"_a, "sparse"_a, "C"_a, "constant"_a, "tol"_a,
            "max_iter"_a, "seed"_a, "solver"_a, "coef"_a.noconvert(), "intercept"_a.noconvert(),
            "n_threads"_a);
    bind_rows<double>(m);
    bind_rows<float>(m);
}

}  // namespace assay::bindings

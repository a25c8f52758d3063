// Python border of assay::linear, part "logistic": logistic regression.
#include <nanobind/nanobind.h>

#include <cmath>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "assay/linear/logistic.hpp"
#include "blas.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

struct LogisticCall {
    InVector<std::int32_t> codes;
    InVector<double> weight;
    std::size_t n_classes;
    InVector<double> l1;
    InVector<double> l2;
    InMatrix<double> start;  // n_outputs x (n_features + 1), or no rows
    bool intercept;
    int method;
    std::size_t max_iter;
    double tol;
    int n_threads;

    [[nodiscard]] std::size_t n_outputs() const { return n_classes == 2 ? 1 : n_classes; }

    void check(std::size_t rows, std::size_t cols) const {
        require(rows >= 1 && cols >= 1, "X is empty");
        require(codes.shape(0) == rows && weight.shape(0) == rows,
                "codes and weight need one entry per row");
        require(n_classes >= 2, "n_classes must be at least 2");
        for (std::size_t i = 0; i < rows; ++i) {
            require(codes.data()[i] >= 0 && static_cast<std::size_t>(codes.data()[i]) < n_classes,
                    "codes must be in [0, n_classes)");
        }
        require(l1.shape(0) == l2.shape(0), "l1 and l2 differ in length");
        require(
            start.shape(0) == 0 || (start.shape(0) == n_outputs() && start.shape(1) == cols + 1),
            "start needs the shape (n_outputs, n_features + 1)");
        require(method >= 0 && method <= 2, "no such method");
        require(n_threads >= 1, "n_threads must be at least 1");
    }

    template <class Solve>
    Arrays run(std::size_t cols, const Solve& solve) const {
        std::vector<linear::logit::LogisticPenalty> penalties;
        for (std::size_t i = 0; i < l1.shape(0); ++i) {
            penalties.push_back({l1.data()[i], l2.data()[i]});
        }
        linear::logit::LogisticFit first;
        for (std::size_t k = 0; k < start.shape(0); ++k) {
            const double* row = start.data() + k * (cols + 1);
            first.coef.insert(first.coef.end(), row, row + cols);
            first.intercept.push_back(row[cols]);
        }
        linear::logit::NewtonOptions options;
        options.method = static_cast<linear::logit::Method>(method);
        options.max_iter = max_iter;
        options.tol = tol;
        std::vector<linear::logit::LogisticFit> fits;
        const BlasCall blas;
        {
            const nb::gil_scoped_release unlocked;
            fits = solve(penalties, start.shape(0) == 0 ? nullptr : &first, options);
        }
        return packed(fits);
    }

  private:
    static Arrays packed(const std::vector<linear::logit::LogisticFit>& fits) {
        std::vector<double> coef;
        std::vector<double> bias;
        std::vector<double> gradient;
        std::vector<double> objective;
        std::vector<double> gap;
        std::vector<std::int64_t> n_iter;
        std::vector<std::int32_t> stop;
        for (const auto& fit : fits) {
            coef.insert(coef.end(), fit.coef.begin(), fit.coef.end());
            bias.insert(bias.end(), fit.intercept.begin(), fit.intercept.end());
            gradient.push_back(fit.outcome.gradient_norm);
            objective.push_back(fit.outcome.objective);
            gap.push_back(fit.outcome.gap);
            n_iter.push_back(static_cast<std::int64_t>(fit.outcome.n_iter));
            stop.push_back(static_cast<std::int32_t>(fit.outcome.stop));
        }
        Arrays out;
        out["coef"] = owned(std::move(coef));
        out["intercept"] = owned(std::move(bias));
        out["gradient_norm"] = owned(std::move(gradient));
        out["objective"] = owned(std::move(objective));
        out["gap"] = owned(std::move(gap));
        out["n_iter"] = owned(std::move(n_iter));
        out["stop"] = owned(std::move(stop));
        return out;
    }
};

Arrays dense(InMatrix<double> X, InVector<std::int32_t> codes, InVector<double> weight,
             std::size_t n_classes, InVector<double> l1, InVector<double> l2,
             InMatrix<double> start, bool intercept, int method, std::size_t max_iter, double tol,
             int n_threads) {
    const LogisticCall call{codes,     weight, n_classes, l1,  l2,       start,
                            intercept, method, max_iter,  tol, n_threads};
    call.check(X.shape(0), X.shape(1));
    return call.run(X.shape(1), [&](const auto& penalties, const auto* first, const auto& options) {
        return linear::logit::fit_logistic(view(X), intercept, span(codes), span(weight), n_classes,
                                           penalties, first, options, n_threads);
    });
}

template <class Index>
Arrays sparse(InVector<double> values, InVector<Index> columns, InVector<Index> offsets,
              std::size_t n_features, InVector<std::int32_t> codes, InVector<double> weight,
              std::size_t n_classes, InVector<double> l1, InVector<double> l2,
              InMatrix<double> start, bool intercept, int method, std::size_t max_iter, double tol,
              int n_threads) {
    const LogisticCall call{codes,     weight, n_classes, l1,  l2,       start,
                            intercept, method, max_iter,  tol, n_threads};
    require(offsets.shape(0) >= 1, "offsets is empty");
    const std::size_t rows = offsets.shape(0) - 1;
    call.check(rows, n_features);
    require(values.shape(0) == columns.shape(0), "values and columns differ in length");
    require(
        offsets.data()[0] == 0 && static_cast<std::size_t>(offsets.data()[rows]) == values.shape(0),
        "offsets must run from 0 to the number of values");
    for (std::size_t i = 0; i < rows; ++i) {
        require(offsets.data()[i] <= offsets.data()[i + 1], "offsets must not descend");
    }
    for (std::size_t t = 0; t < columns.shape(0); ++t) {
        require(columns.data()[t] >= 0 && static_cast<std::size_t>(columns.data()[t]) < n_features,
                "columns must be in [0, n_features)");
    }
    const CsrView<const double, Index> X{span(values), span(columns), span(offsets), rows,
                                         n_features};
    return call.run(n_features, [&](const auto& penalties, const auto* first, const auto& options) {
        return linear::logit::fit_logistic(X, intercept, span(codes), span(weight), n_classes,
                                           penalties, first, options, n_threads);
    });
}

template <class Index>
void bind_sparse(nb::module_& m) {
    m.def("logistic_sparse", &sparse<Index>, "values"_a.noconvert(), "columns"_a.noconvert(),
          "offsets"_a.noconvert(), "n_features"_a, "codes"_a.noconvert(), "weight"_a.noconvert(),
          "n_classes"_a, "l1"_a.noconvert(), "l2"_a.noconvert(), "start"_a.noconvert(),
          "intercept"_a, "method"_a, "max_iter"_a, "tol"_a, "n_threads"_a = 1,
          "Fit logistic regression on compressed rows, once per penalty; return its arrays.");
}

}  // namespace

void bind_linear_logistic(nb::module_& m) {
    m.def("logistic", &dense, "X"_a.noconvert(), "codes"_a.noconvert(), "weight"_a.noconvert(),
          "n_classes"_a, "l1"_a.noconvert(), "l2"_a.noconvert(), "start"_a.noconvert(),
          "intercept"_a, "method"_a, "max_iter"_a, "tol"_a, "n_threads"_a = 1,
          "Fit logistic regression, once per penalty; return coefficients and certificates.");
    bind_sparse<std::int32_t>(m);
    bind_sparse<std::int64_t>(m);
}

}  // namespace assay::bindings

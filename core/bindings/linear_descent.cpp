// Gradient descent and the perceptron, for Python.
#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "assay/linear/descent_tasks.hpp"
#include "linear_rows.hpp"

namespace assay::bindings {

using namespace nb::literals;

namespace {

using linear::AnyLoss;
using linear::AnyPenalty;
using Real = InVector<double>;
using Ints = InVector<std::int32_t>;

AnyLoss loss_of(int kind, double delta) {
    switch (kind) {
        case 0:
            return linear::Squared{};
        case 1:
            return linear::Absolute{};
        case 2:
            return linear::Huber{delta};
        case 3:
            return linear::Hinge{};
        case 4:
            return linear::SquaredHinge{};
        case 5:
            return linear::Exponential{};
        case 6:
            return linear::Logistic{};
        case 7:
            return linear::SquaredLogistic{};
        default:
            throw nb::value_error("there are losses 0 to 7");
    }
}

// `shape` is the ratio of an elastic net or the exponent of Power and Norm.
AnyPenalty penalty_of(int kind, double lambda, double shape) {
    switch (kind) {
        case 0:
            return linear::None{};
        case 1:
            return linear::L1{lambda};
        case 2:
            return linear::L2{lambda};
        case 3:
            return linear::ElasticNet{lambda, shape};
        case 4:
            return linear::Power{lambda, shape};
        case 5:
            return linear::Norm{lambda, shape};
        default:
            throw nb::value_error("there are penalties 0 to 5");
    }
}

linear::Schedule schedule_of(int kind, double eta0, double power) {
    require(kind >= 0 && kind <= 4, "there are schedules 0 to 4");
    return {static_cast<linear::ScheduleKind>(kind), eta0, power};
}

linear::Targets targets_of(std::size_t n_rows, const Real& targets, const Real& weight,
                           const Real& positives, const Real& positive_weight,
                           const Real& negative_weight) {
    require(targets.shape(0) == n_rows, "targets needs one value per row");
    require(weight.shape(0) == n_rows, "weight needs one value per row");
    require(positive_weight.shape(0) == positives.shape(0) &&
                negative_weight.shape(0) == positives.shape(0),
            "positive_weight and negative_weight need one value per problem");
    return {span(targets), span(weight), span(positives), span(positive_weight),
            span(negative_weight)};
}

template <class Result, class Get>
nb::object column(const std::vector<Result>& results, Get get) {
    std::vector<decltype(get(results[0]))> values;
    for (const Result& result : results) {
        values.push_back(get(result));
    }
    return owned(std::move(values));
}

template <class Result>
nb::object joined(const std::vector<Result>& results, std::vector<double> Result::* get) {
    std::vector<double> values;
    for (const Result& result : results) {
        const std::vector<double>& part = result.*get;
        values.insert(values.end(), part.begin(), part.end());
    }
    return owned(std::move(values));
}

template <class Rows>
Arrays descend(Rows X, int method, const linear::Targets& targets,
               const linear::DescentOptions& options, const linear::Coefficients& at,
               int n_threads) {
    require(method >= 0 && method <= 2, "there are methods 0 to 2");
    require(n_threads >= 1, "n_threads must be at least 1");
    require(options.batch_size >= 1, "batch_size must be at least 1");
    const std::size_t n_columns = method == 1 ? X.rows : X.cols;
    for (const auto& coef : {at.coef, at.mean_coef}) {
        require(coef.rows == targets.count() && coef.cols == n_columns,
                "coef needs one row per problem and one column per feature");
    }
    require(at.intercept.size() == targets.count() && at.mean_intercept.size() == targets.count(),
            "intercept needs one value per problem");
    std::vector<linear::DescentResult> results;
    {
        nb::gil_scoped_release unlocked;
        results = linear::descend_all(X, targets, static_cast<linear::DescentMethod>(method),
                                      options, at, n_threads);
    }
    using Result = linear::DescentResult;
    Arrays out;
    out["loss_history"] = joined(results, &Result::loss_history);
    out["zero_one_history"] = joined(results, &Result::zero_one_history);
    out["n_iter"] = column(results, [](const Result& r) { return r.n_iter; });
    out["n_steps"] = column(results, [](const Result& r) { return r.n_steps; });
    out["gradient_norm"] = column(results, [](const Result& r) { return r.gradient_norm; });
    out["stop"] =
        column(results, [](const Result& r) { return static_cast<std::int32_t>(r.stop); });
    return out;
}

template <class Rows>
Arrays learn(Rows X, const linear::Targets& targets, const Real& mean,
             const linear::PerceptronOptions& options, const OutMatrix<double>& coef,
             const OutVector<double>& intercept, int n_threads) {
    require(mean.shape(0) == 0 || mean.shape(0) == X.cols, "mean needs one value per column");
    require(coef.shape(0) == targets.count() && coef.shape(1) == X.cols &&
                intercept.shape(0) == targets.count(),
            "coef and intercept need one row per problem");
    require(n_threads >= 1, "n_threads must be at least 1");
    std::vector<linear::PerceptronResult> results;
    {
        nb::gil_scoped_release unlocked;
        results = linear::learn_all(X, targets, span(mean), options, view(coef), span(intercept),
                                    n_threads);
    }
    using Result = linear::PerceptronResult;
    Arrays out;
    out["mistakes"] = joined(results, &Result::mistakes);
    out["n_mistakes"] = column(results, [](const Result& r) { return r.n_mistakes; });
    out["n_iter"] = column(results, [](const Result& r) { return r.n_iter; });
    out["n_steps"] = column(results, [](const Result& r) { return r.n_steps; });
    out["separated"] =
        column(results, [](const Result& r) { return static_cast<std::uint8_t>(r.separated); });
    return out;
}

linear::DescentOptions options_of(int loss, double delta, int penalty, double lambda, double shape,
                                  int schedule, double eta0, double power, bool fit_intercept,
                                  bool proximal, std::int64_t max_iter, double tol,
                                  double min_decrease, std::int64_t patience,
                                  std::size_t batch_size, bool shuffle, bool average,
                                  std::uint64_t seed, std::int64_t first_step) {
    return {loss_of(loss, delta),
            penalty_of(penalty, lambda, shape),
            schedule_of(schedule, eta0, power),
            fit_intercept,
            proximal,
            max_iter,
            tol,
            min_decrease,
            patience,
            batch_size,
            shuffle,
            average,
            seed,
            0,
            first_step};
}

template <class T>
void bind_rows(nb::module_& m) {
    m.def(
        "descend",
        [](InMatrix<T> X, int method, Real targets, Real weight, Real positives,
           Real positive_weight, Real negative_weight, const linear::DescentOptions& options,
           OutMatrix<double> coef, OutVector<double> intercept, OutMatrix<double> mean_coef,
           OutVector<double> mean_intercept, int n_threads) {
            return descend(view(X), method,
                           targets_of(X.shape(method == 1 ? 1 : 0), targets, weight, positives,
                                      positive_weight, negative_weight),
                           options,
                           {view(coef), span(intercept), view(mean_coef), span(mean_intercept)},
                           n_threads);
        },
        "X"_a.noconvert(), "method"_a, "targets"_a.noconvert(), "weight"_a.noconvert(),
        "positives"_a.noconvert(), "positive_weight"_a.noconvert(), "negative_weight"_a.noconvert(),
        "options"_a, "coef"_a.noconvert(), "intercept"_a.noconvert(), "mean_coef"_a.noconvert(),
        "mean_intercept"_a.noconvert(), "n_threads"_a = 1,
        "Descend from (coef, intercept) in place. Method 1 takes the transpose of X.");
    m.def(
        "descend",
        [](InVector<T> values, Ints columns, Ints offsets, std::size_t n_columns, int method,
           Real targets, Real weight, Real positives, Real positive_weight, Real negative_weight,
           const linear::DescentOptions& options, OutMatrix<double> coef,
           OutVector<double> intercept, OutMatrix<double> mean_coef,
           OutVector<double> mean_intercept, int n_threads) {
            const auto X = csr(values, columns, offsets, n_columns);
            return descend(X, method,
                           targets_of(method == 1 ? X.cols : X.rows, targets, weight, positives,
                                      positive_weight, negative_weight),
                           options,
                           {view(coef), span(intercept), view(mean_coef), span(mean_intercept)},
                           n_threads);
        },
        "values"_a.noconvert(), "columns"_a.noconvert(), "offsets"_a.noconvert(), "n_columns"_a,
        "method"_a, "targets"_a.noconvert(), "weight"_a.noconvert(), "positives"_a.noconvert(),
        "positive_weight"_a.noconvert(), "negative_weight"_a.noconvert(), "options"_a,
        "coef"_a.noconvert(), "intercept"_a.noconvert(), "mean_coef"_a.noconvert(),
        "mean_intercept"_a.noconvert(), "n_threads"_a = 1, "The same for a CSR matrix.");
    m.def(
        "learn_from_mistakes",
        [](InMatrix<T> X, Real targets, Real weight, Real positives, Real positive_weight,
           Real negative_weight, Real mean, const linear::PerceptronOptions& options,
           OutMatrix<double> coef, OutVector<double> intercept, int n_threads) {
            return learn(view(X),
                         targets_of(X.shape(0), targets, weight, positives, positive_weight,
                                    negative_weight),
                         mean, options, coef, intercept, n_threads);
        },
        "X"_a.noconvert(), "targets"_a.noconvert(), "weight"_a.noconvert(),
        "positives"_a.noconvert(), "positive_weight"_a.noconvert(), "negative_weight"_a.noconvert(),
        "mean"_a.noconvert(), "options"_a, "coef"_a.noconvert(), "intercept"_a.noconvert(),
        "n_threads"_a = 1, "Run perceptrons from (coef, intercept).");
    m.def(
        "learn_from_mistakes",
        [](InVector<T> values, Ints columns, Ints offsets, std::size_t n_columns, Real targets,
           Real weight, Real positives, Real positive_weight, Real negative_weight, Real mean,
           const linear::PerceptronOptions& options, OutMatrix<double> coef,
           OutVector<double> intercept, int n_threads) {
            const auto X = csr(values, columns, offsets, n_columns);
            return learn(
                X, targets_of(X.rows, targets, weight, positives, positive_weight, negative_weight),
                mean, options, coef, intercept, n_threads);
        },
        "values"_a.noconvert(), "columns"_a.noconvert(), "offsets"_a.noconvert(), "n_columns"_a,
        "targets"_a.noconvert(), "weight"_a.noconvert(), "positives"_a.noconvert(),
        "positive_weight"_a.noconvert(), "negative_weight"_a.noconvert(), "mean"_a.noconvert(),
        "options"_a, "coef"_a.noconvert(), "intercept"_a.noconvert(), "n_threads"_a = 1,
        "The same for a CSR matrix.");
}

}  // namespace

void bind_linear_descent(nb::module_& m) {
    nb::class_<linear::DescentOptions>(m, "DescentOptions")
        .def(
            "__init__",
            [](linear::DescentOptions* self, int loss, double delta, int penalty, double lambda,
               double shape, int schedule, double eta0, double power, bool fit_intercept,
               bool proximal, std::int64_t max_iter, double tol, double min_decrease,
               std::int64_t patience, std::size_t batch_size, bool shuffle, bool average,
               std::uint64_t seed, std::int64_t first_step) {
                new (self) linear::DescentOptions(
                    options_of(loss, delta, penalty, lambda, shape, schedule, eta0, power,
                               fit_intercept, proximal, max_iter, tol, min_decrease, patience,
                               batch_size, shuffle, average, seed, first_step));
            },
            nb::kw_only(), "loss"_a, "delta"_a, "penalty"_a, "strength"_a, "shape"_a, "schedule"_a,
            "eta0"_a, "power"_a, "fit_intercept"_a, "proximal"_a, "max_iter"_a, "tol"_a,
            "min_decrease"_a, "patience"_a, "batch_size"_a, "shuffle"_a, "average"_a, "seed"_a,
            "first_step"_a);
    nb::class_<linear::PerceptronOptions>(m, "PerceptronOptions")
        .def(
            "__init__",
            [](linear::PerceptronOptions* self, int schedule, double eta0, double power,
               bool fit_intercept, bool normalize, bool shuffle, std::int64_t max_iter,
               std::int64_t patience, std::uint64_t seed, std::int64_t first_step) {
                new (self) linear::PerceptronOptions{schedule_of(schedule, eta0, power),
                                                     fit_intercept,
                                                     normalize,
                                                     shuffle,
                                                     max_iter,
                                                     patience,
                                                     seed,
                                                     0,
                                                     first_step};
            },
            nb::kw_only(), "schedule"_a, "eta0"_a, "power"_a, "fit_intercept"_a, "normalize"_a,
            "shuffle"_a, "max_iter"_a, "patience"_a, "seed"_a, "first_step"_a);
    m.def(
        "schedule_step",
        [](int kind, double eta0, double power, std::int64_t t) {
            return schedule_of(kind, eta0, power).step(t);
        },
        "kind"_a, "eta0"_a, "power"_a, "t"_a, "Size of step t of a schedule.");
    m.def(
        "loss_terms",
        [](int loss, double delta, Real y, Real f, OutVector<double> value,
           OutVector<double> gradient, OutVector<double> curvature) {
            const std::size_t n = y.shape(0);
            require(f.shape(0) == n && value.shape(0) == n && gradient.shape(0) == n &&
                        curvature.shape(0) == n,
                    "all arrays need the same length");
            linear::loss_terms(loss_of(loss, delta), span(y), span(f), span(value), span(gradient),
                               span(curvature));
        },
        "loss"_a, "delta"_a, "y"_a.noconvert(), "f"_a.noconvert(), "value"_a.noconvert(),
        "gradient"_a.noconvert(), "curvature"_a.noconvert(),
        "Value, derivative and second derivative of a loss, row by row.");
    m.def(
        "penalty_value",
        [](int penalty, double lambda, double shape, Real w) {
            return linear::value(penalty_of(penalty, lambda, shape), span(w));
        },
        "penalty"_a, "strength"_a, "shape"_a, "w"_a.noconvert(), "Penalty of the weights.");
    bind_rows<double>(m);
    bind_rows<float>(m);
}

}  // namespace assay::bindings

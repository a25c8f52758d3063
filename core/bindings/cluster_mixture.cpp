// Python border of assay::cluster, mixtures: check shapes, drop the GIL, call the kernel.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "assay/cluster/gaussian_factor.hpp"
#include "assay/cluster/mixture_classes.hpp"
#include "assay/cluster/mixture_pass.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

// Groups of rows as the kernels may trust them.
template <class T>
cluster::MixtureTable<T> checked_table(const InMatrix<T>& X, const InVector<std::int64_t>& order,
                                       const InVector<std::int64_t>& ends,
                                       const InMatrix<std::uint8_t>& observed) {
    require(X.shape(0) >= 1 && X.shape(1) >= 1, "X is empty");
    const std::size_t n = X.shape(0);
    if (order.shape(0) == 0) {
        require(ends.shape(0) == 0 && observed.shape(0) == 0, "groups need an order of the rows");
        return {view(X), {}, {}, {}};
    }
    require(order.shape(0) == n, "order needs one entry per row of X");
    require(std::all_of(order.data(), order.data() + n,
                        [&](std::int64_t i) { return i >= 0 && static_cast<std::size_t>(i) < n; }),
            "order has a row that is out of range");
    const std::size_t groups = ends.shape(0);
    require(groups >= 1 && ends.data()[0] >= 0 &&
                std::is_sorted(ends.data(), ends.data() + groups) &&
                static_cast<std::size_t>(ends.data()[groups - 1]) == n,
            "ends do not divide the rows");
    require(observed.shape(0) == groups && observed.shape(1) == X.shape(1),
            "observed needs a row per group and a column per column of X");
    return {view(X), span(order), span(ends), view(observed)};
}

// `covariance` and `factor`: one row per component, or one row that all share.
cluster::Mixture checked_mixture(std::size_t d, const InVector<double>& log_weights,
                                 const InMatrix<double>& means, const InMatrix<double>& covariance,
                                 const InMatrix<double>& factor, bool dense) {
    const std::size_t k = means.shape(0);
    require(k >= 1 && means.shape(1) == d, "means needs a row per component and the columns of X");
    require(log_weights.shape(0) == k, "log_weights needs one entry per component");
    const std::size_t size = dense ? d * d : d;
    const std::size_t rows = covariance.shape(0);
    require((rows == k || rows == 1) && covariance.shape(1) == size,
            "covariance needs one row, or one per component");
    require(factor.shape(0) == rows && factor.shape(1) == size,
            "factor and covariance differ in shape");
    return {dense,
            k,
            d,
            log_weights.data(),
            means.data(),
            covariance.data(),
            factor.data(),
            rows == 1 ? 0 : size};
}

// Both triangles, because NumPy knows no symmetric matrices.
void write_sums(const cluster::MixtureSums& sums, const OutVector<double>& count,
                const OutMatrix<double>& first, const OutMatrix<double>& second) {
    std::copy(sums.count.begin(), sums.count.end(), count.data());
    std::copy(sums.first.begin(), sums.first.end(), first.data());
    std::copy(sums.second.begin(), sums.second.end(), second.data());
    for (std::size_t c = 0; c < sums.k && sums.dense; ++c) {
        double* part = second.data() + c * sums.d * sums.d;
        for (std::size_t a = 0; a < sums.d; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                part[b * sums.d + a] = part[a * sums.d + b];
            }
        }
    }
}

void check_sums(std::size_t k, std::size_t d, bool dense, const OutVector<double>& count,
                const OutMatrix<double>& first, const OutMatrix<double>& second) {
    require(count.shape(0) == k, "count needs one entry per component");
    require(first.shape(0) == k && first.shape(1) == d, "first needs components x columns");
    require(second.shape(0) == k && second.shape(1) == (dense ? d * d : d),
            "second needs a row per component");
}

template <class T>
void bind_passes(nb::module_& m) {
    m.def(
        "mixture_pass",
        [](InMatrix<T> X, InVector<std::int64_t> order, InVector<std::int64_t> ends,
           InMatrix<std::uint8_t> observed, InVector<double> log_weights, InMatrix<double> means,
           InMatrix<double> covariance, InMatrix<double> factor, bool dense,
           OutVector<double> count, OutMatrix<double> first, OutMatrix<double> second,
           int n_threads) {
            const auto table = checked_table(X, order, ends, observed);
            const auto mixture =
                checked_mixture(X.shape(1), log_weights, means, covariance, factor, dense);
            check_sums(mixture.k, mixture.d, dense, count, first, second);
            require(n_threads >= 1, "n_threads must be at least 1");
            nb::gil_scoped_release unlocked;
            const auto sums = cluster::mixture_pass(table, mixture, n_threads);
            write_sums(sums, count, first, second);
            return sums.log_likelihood;
        },
        "X"_a.noconvert(), "order"_a.noconvert(), "ends"_a.noconvert(), "observed"_a.noconvert(),
        "log_weights"_a.noconvert(), "means"_a.noconvert(), "covariance"_a.noconvert(),
        "factor"_a.noconvert(), "dense"_a, "count"_a.noconvert(), "first"_a.noconvert(),
        "second"_a.noconvert(), "n_threads"_a = 1,
        "Return the log-likelihood; write sums of responsibilities and of moments about the "
        "means.");
    m.def(
        "mixture_assign",
        [](InMatrix<T> X, InVector<std::int64_t> order, InVector<std::int64_t> ends,
           InMatrix<std::uint8_t> observed, InVector<double> log_weights, InMatrix<double> means,
           InMatrix<double> covariance, InMatrix<double> factor, bool dense,
           OutVector<std::int32_t> labels, OutVector<double> norms, OutMatrix<double> shares,
           int n_threads) {
            const auto table = checked_table(X, order, ends, observed);
            const auto mixture =
                checked_mixture(X.shape(1), log_weights, means, covariance, factor, dense);
            const std::size_t n = X.shape(0);
            require(labels.shape(0) == 0 || labels.shape(0) == n, "labels: none, or one per row");
            require(norms.shape(0) == 0 || norms.shape(0) == n, "norms: none, or one per row");
            require(shares.shape(0) == 0 || (shares.shape(0) == n && shares.shape(1) == mixture.k),
                    "shares: none, or rows x components");
            require(n_threads >= 1, "n_threads must be at least 1");
            nb::gil_scoped_release unlocked;
            cluster::mixture_assign(
                table, mixture,
                {span(labels), span(norms), {shares.data(), shares.shape(0) * shares.shape(1)}},
                n_threads);
        },
        "X"_a.noconvert(), "order"_a.noconvert(), "ends"_a.noconvert(), "observed"_a.noconvert(),
        "log_weights"_a.noconvert(), "means"_a.noconvert(), "covariance"_a.noconvert(),
        "factor"_a.noconvert(), "dense"_a, "labels"_a.noconvert(), "norms"_a.noconvert(),
        "shares"_a.noconvert(), "n_threads"_a = 1,
        "Write the likeliest component, the log-density and the responsibilities of each row, as\n"
        "far as their arrays are not empty.");
    m.def(
        "mixture_soft",
        [](InMatrix<T> X, InMatrix<double> shares, bool dense, InMatrix<double> centres,
           OutVector<double> count, OutMatrix<double> first, OutMatrix<double> second,
           int n_threads) {
            require(X.shape(0) >= 1 && X.shape(1) >= 1, "X is empty");
            require(shares.shape(0) == X.shape(0) && shares.shape(1) >= 1,
                    "shares needs a row per row of X");
            require(centres.shape(0) == shares.shape(1) && centres.shape(1) == X.shape(1),
                    "centres needs components x columns");
            check_sums(shares.shape(1), X.shape(1), dense, count, first, second);
            require(n_threads >= 1, "n_threads must be at least 1");
            nb::gil_scoped_release unlocked;
            const auto sums =
                cluster::mixture_soft(view(X), view(shares), dense, view(centres), n_threads);
            write_sums(sums, count, first, second);
        },
        "X"_a.noconvert(), "shares"_a.noconvert(), "dense"_a, "centres"_a.noconvert(),
        "count"_a.noconvert(), "first"_a.noconvert(), "second"_a.noconvert(), "n_threads"_a = 1,
        "Write sums of given responsibilities and of moments about given centres.");
}

template <class T>
void bind_classes(nb::module_& m) {
    m.def(
        "class_sums",
        [](InMatrix<T> X, InVector<std::int32_t> codes, InVector<double> weights,
           std::size_t n_classes, OutMatrix<double> sums, int n_threads) {
            const std::size_t n = X.shape(0);
            require(n >= 1 && X.shape(1) >= 1, "X is empty");
            require(codes.shape(0) == n, "codes needs one entry per row of X");
            require(std::all_of(codes.data(), codes.data() + n,
                                [&](std::int32_t c) {
                                    return c >= 0 && static_cast<std::size_t>(c) < n_classes;
                                }),
                    "a code is out of range");
            require(weights.shape(0) == 0 || weights.shape(0) == n,
                    "weights needs no entry or one per row of X");
            require(sums.shape(0) == cluster::ClassSums::parts &&
                        sums.shape(1) == n_classes * X.shape(1),
                    "sums needs 5 rows of classes x columns");
            require(n_threads >= 1, "n_threads must be at least 1");
            nb::gil_scoped_release unlocked;
            cluster::class_sums(view(X), span(codes), span(weights), view(sums), n_threads);
        },
        "X"_a.noconvert(), "codes"_a.noconvert(), "weights"_a.noconvert(), "n_classes"_a,
        "sums"_a.noconvert(), "n_threads"_a = 1,
        "Write, for each class and column, the weight of the values, and the sums of values and "
        "of\n"
        "squares, each as a high and a low part.");
    m.def(
        "class_joint",
        [](InMatrix<T> X, InVector<std::int64_t> columns, InVector<double> base,
           InMatrix<double> mean, InMatrix<double> curve, InMatrix<double> constant,
           OutMatrix<double> out, int n_threads) {
            const std::size_t d = columns.shape(0);
            const std::size_t k = base.shape(0);
            require(std::all_of(columns.data(), columns.data() + d,
                                [&](std::int64_t j) {
                                    return j >= 0 && static_cast<std::size_t>(j) < X.shape(1);
                                }),
                    "a column is out of range");
            require(mean.shape(0) == k && mean.shape(1) == d, "mean needs classes x columns");
            require(curve.shape(0) == k && curve.shape(1) == d, "curve needs classes x columns");
            require(constant.shape(0) == k && constant.shape(1) == d,
                    "constant needs classes x columns");
            require(out.shape(0) == X.shape(0) && out.shape(1) == k, "out needs rows x classes");
            require(n_threads >= 1, "n_threads must be at least 1");
            nb::gil_scoped_release unlocked;
            cluster::class_joint(view(X), span(columns), span(base), view(mean), view(curve),
                                 view(constant), view(out), n_threads);
        },
        "X"_a.noconvert(), "columns"_a.noconvert(), "base"_a.noconvert(), "mean"_a.noconvert(),
        "curve"_a.noconvert(), "constant"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a = 1,
        "Write base + sum over columns of constant - curve (x - mean)^2; a missing x adds "
        "nothing.");
}

}  // namespace

void bind_cluster_mixture(nb::module_& m) {
    bind_passes<double>(m);
    bind_passes<float>(m);
    bind_classes<double>(m);
    bind_classes<float>(m);
    m.def(
        "kernel_sums",
        [](InVector<double> values, InVector<double> points, InVector<double> weights, double width,
           OutVector<double> out, int n_threads) {
            require(points.shape(0) >= 1, "points is empty");
            require(weights.shape(0) == points.shape(0), "weights needs one entry per point");
            require(out.shape(0) == values.shape(0), "out needs one entry per value");
            require(width > 0, "width must be positive");
            require(n_threads >= 1, "n_threads must be at least 1");
            nb::gil_scoped_release unlocked;
            cluster::kernel_sums(span(values), span(points), span(weights), width, span(out),
                                 n_threads);
        },
        "values"_a.noconvert(), "points"_a.noconvert(), "weights"_a.noconvert(), "width"_a,
        "out"_a.noconvert(), "n_threads"_a = 1,
        "Write log sum w e^(-((x - p) / width)^2 / 2) over the points, for each value.");
    m.def(
        "precision_factors",
        [](InMatrix<double> covariance, std::size_t d, OutMatrix<double> factor) {
            require(d >= 1 && covariance.shape(1) == d * d, "covariance needs d * d columns");
            require(factor.shape(0) == covariance.shape(0) && factor.shape(1) == d * d,
                    "factor and covariance differ in shape");
            nb::gil_scoped_release unlocked;
            std::vector<double> scratch;
            for (std::size_t c = 0; c < covariance.shape(0); ++c) {
                if (!cluster::precision_factor(covariance.data() + c * d * d, d,
                                               factor.data() + c * d * d, scratch)) {
                    return static_cast<std::int64_t>(c);
                }
            }
            return std::int64_t{-1};
        },
        "covariance"_a.noconvert(), "d"_a, "factor"_a.noconvert(),
        "Write U with U U' = inverse, upper triangular, for each row; return the first row that "
        "is\n"
        "singular, or -1.");
}
}  // namespace assay::bindings

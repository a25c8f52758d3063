// Python border of assay::features: check shapes, drop the GIL, call the kernel.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "arrays.hpp"
#include "assay/features/relief.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

features::ReliefTable relief_table(const InMatrix<float>& complete, std::size_t n_numeric,
                                   const InMatrix<float>& gaps, std::size_t n_numeric_gaps,
                                   const InMatrix<float>& expected,
                                   const InVector<std::int64_t>& class_start) {
    const auto starts = span(class_start);
    const std::size_t n_rows = complete.shape(0);
    require(n_rows >= 2, "complete needs 2 rows at least");
    require(gaps.shape(1) == n_rows, "gaps needs one column per row of complete");
    require(n_numeric <= complete.shape(1), "n_numeric exceeds the columns of complete");
    require(n_numeric_gaps <= gaps.shape(0), "n_numeric_gaps exceeds the rows of gaps");
    require(starts.size() >= 2 && starts.front() == 0 &&
                starts.back() == static_cast<std::int64_t>(n_rows) &&
                std::is_sorted(starts.begin(), starts.end()),
            "class_start must ascend from 0 to the rows of complete");
    require(expected.shape(0) == (starts.size() - 1) * gaps.shape(0) && expected.shape(1) == n_rows,
            "expected needs one row per class and column with gaps");
    return {view(complete), n_numeric, view(gaps), n_numeric_gaps, view(expected), starts};
}

void check_query(const features::ReliefTable& table, std::span<const std::int64_t> queries,
                 std::span<const double> row_weight, double sigma, std::span<const double> scores,
                 int n_threads) {
    const auto n_rows = static_cast<std::int64_t>(table.n_rows());
    require(std::all_of(queries.begin(), queries.end(),
                        [&](std::int64_t row) { return row >= 0 && row < n_rows; }),
            "queries must be rows of complete");
    require(row_weight.size() == table.n_rows(), "row_weight needs one entry per row");
    require(sigma >= 0, "sigma must not be negative");
    require(scores.size() == table.n_columns(), "scores needs one entry per column");
    require(n_threads >= 1, "n_threads must be at least 1");
}

}  // namespace

void bind_features(nb::module_& m) {
    m.def(
        "relief_classes",
        [](InMatrix<float> complete, std::size_t n_numeric, InMatrix<float> gaps,
           std::size_t n_numeric_gaps, InMatrix<float> expected, InVector<std::int64_t> class_start,
           InVector<double> row_weight, InVector<std::int64_t> queries, std::size_t k, double sigma,
           OutVector<double> scores, int n_threads) {
            const auto table =
                relief_table(complete, n_numeric, gaps, n_numeric_gaps, expected, class_start);
            check_query(table, span(queries), span(row_weight), sigma, span(scores), n_threads);
            nb::gil_scoped_release unlocked;
            features::relief_classes(table, span(row_weight), span(queries), {k, sigma},
                                     span(scores), n_threads);
        },
        "complete"_a.noconvert(), "n_numeric"_a, "gaps"_a.noconvert(), "n_numeric_gaps"_a,
        "expected"_a.noconvert(), "class_start"_a.noconvert(), "row_weight"_a.noconvert(),
        "queries"_a.noconvert(), "k"_a, "sigma"_a, "scores"_a.noconvert(), "n_threads"_a = 1,
        "Write the Relief score of each column for rows in order of class.");
    m.def(
        "relief_numbers",
        [](InMatrix<float> complete, std::size_t n_numeric, InMatrix<float> gaps,
           std::size_t n_numeric_gaps, InMatrix<float> expected, InVector<std::int64_t> class_start,
           InVector<double> target, InVector<double> row_weight, InVector<std::int64_t> queries,
           std::size_t k, double sigma, OutVector<double> scores, int n_threads) {
            const auto table =
                relief_table(complete, n_numeric, gaps, n_numeric_gaps, expected, class_start);
            check_query(table, span(queries), span(row_weight), sigma, span(scores), n_threads);
            require(table.n_classes() == 1, "rows with numbers as targets form one class");
            require(target.shape(0) == table.n_rows(), "target needs one entry per row");
            nb::gil_scoped_release unlocked;
            features::relief_numbers(table, span(target), span(row_weight), span(queries),
                                     {k, sigma}, span(scores), n_threads);
        },
        "complete"_a.noconvert(), "n_numeric"_a, "gaps"_a.noconvert(), "n_numeric_gaps"_a,
        "expected"_a.noconvert(), "class_start"_a.noconvert(), "target"_a.noconvert(),
        "row_weight"_a.noconvert(), "queries"_a.noconvert(), "k"_a, "sigma"_a,
        "scores"_a.noconvert(), "n_threads"_a = 1,
        "Write the Relief score of each column for targets between 0 and 1.");
}
}  // namespace assay::bindings

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "assay/common/csr_view.hpp"
#include "assay/common/matrix_view.hpp"

namespace {

// [[5, 0, 6], [0, 0, 0], [0, 7, 0]]
struct Example {
    std::vector<double> values = {5, 6, 7};
    std::vector<std::int32_t> columns = {0, 2, 1};
    std::vector<std::int32_t> offsets = {0, 2, 2, 3};
    assay::CsrView<double, std::int32_t> view{values, columns, offsets, 3, 3};
};

// The pattern for kernels: one template over dense and sparse rows.
template <class Matrix>
double row_sum(const Matrix& matrix, std::size_t i) {
    double sum = 0;
    matrix.for_each_nonzero(i, [&](std::size_t, double value) { sum += value; });
    return sum;
}

}  // namespace

TEST_CASE("csr view gives the stored entries of each row") {
    const Example example;
    CHECK(example.view.row_size(0) == 2);
    CHECK(example.view.row_size(1) == 0);
    CHECK(example.view.row_columns(2)[0] == 1);
    CHECK(example.view.row_values(2)[0] == 7);
}

TEST_CASE("csr view agrees with the dense matrix in one template") {
    const Example example;
    std::vector<double> dense = {5, 0, 6, 0, 0, 0, 0, 7, 0};
    const assay::MatrixView<const double> matrix{dense.data(), 3, 3};
    const assay::CsrView<const double, std::int32_t> sparse = example.view;
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(row_sum(sparse, i) == row_sum(matrix, i));
    }
}

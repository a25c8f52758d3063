#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "assay/common/blas.hpp"
#include "assay/common/random.hpp"
#include "reference_blas.hpp"

using assay::MatrixView;
using assay::Op;

namespace {

template <class T>
struct Matrix {
    std::vector<T> values;
    MatrixView<T> view;

    Matrix(std::size_t rows, std::size_t cols, std::uint64_t seed)
        : values(rows * cols), view{values.data(), rows, cols} {
        assay::RandomStream stream(seed, 0);
        for (T& value : values) {
            value = static_cast<T>(stream.normal());
        }
    }
    [[nodiscard]] MatrixView<const T> in() const { return {values.data(), view.rows, view.cols}; }
    [[nodiscard]] T op(Op how, std::size_t i, std::size_t j) const {
        return how == Op::none ? view(i, j) : view(j, i);
    }
};

}  // namespace

TEST_CASE_TEMPLATE("gemm multiplies row-major matrices", T, float, double) {
    reference::provide();
    for (const Op op_a : {Op::none, Op::transpose}) {
        for (const Op op_b : {Op::none, Op::transpose}) {
            for (const std::size_t m : {1U, 5U, 1100U}) {  // more than one block of rows
                constexpr std::size_t k = 3;
                constexpr std::size_t n = 4;
                const Matrix<T> a(op_a == Op::none ? m : k, op_a == Op::none ? k : m, 1);
                const Matrix<T> b(op_b == Op::none ? k : n, op_b == Op::none ? n : k, 2);
                const Matrix<T> before(m, n, 3);
                Matrix<T> c = Matrix<T>(m, n, 3);
                assay::gemm<T>(op_a, op_b, T{2}, a.in(), b.in(), T{3}, c.view, 2);
                for (std::size_t i = 0; i < m; ++i) {
                    for (std::size_t j = 0; j < n; ++j) {
                        T sum = 0;
                        for (std::size_t l = 0; l < k; ++l) {
                            sum += a.op(op_a, i, l) * b.op(op_b, l, j);
                        }
                        CHECK(c.view(i, j) == doctest::Approx(2 * sum + 3 * before.view(i, j)));
                    }
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("gemv multiplies a matrix and a vector", T, float, double) {
    reference::provide();
    const Matrix<T> a(3, 2, 1);
    std::vector<T> x = {1, 2};
    std::vector<T> y = {1, 1, 1};
    assay::gemv<T>(Op::none, T{1}, a.in(), std::span<const T>(x), T{2}, std::span<T>(y));
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(y[i] == doctest::Approx(a.view(i, 0) + 2 * a.view(i, 1) + 2));
    }
    assay::gemv<T>(Op::transpose, T{1}, a.in(), std::span<const T>(y), T{0}, std::span<T>(x));
    for (std::size_t j = 0; j < 2; ++j) {
        CHECK(x[j] ==
              doctest::Approx(a.view(0, j) * y[0] + a.view(1, j) * y[1] + a.view(2, j) * y[2]));
    }
}

TEST_CASE("gemv of an empty matrix scales the result") {
    reference::provide();
    std::vector<double> y = {3, 4};
    assay::gemv<double>(Op::none, 1, {nullptr, 2, 0}, {}, 0.5, y);
    CHECK(y == std::vector{1.5, 2.0});
}

TEST_CASE_TEMPLATE("syrk fills the lower triangle of the Gram matrix", T, float, double) {
    reference::provide();
    for (const Op op : {Op::none, Op::transpose}) {
        const Matrix<T> a(3, 4, 1);
        const std::size_t side = op == Op::none ? 3 : 4;
        const std::size_t inner = op == Op::none ? 4 : 3;
        Matrix<T> c(side, side, 2);
        const Matrix<T> before = Matrix<T>(side, side, 2);
        assay::syrk<T>(op, T{1}, a.in(), T{0}, c.view);
        for (std::size_t i = 0; i < side; ++i) {
            for (std::size_t j = 0; j < side; ++j) {
                T sum = 0;
                for (std::size_t l = 0; l < inner; ++l) {
                    sum += a.op(op, i, l) * a.op(op, j, l);
                }
                CHECK(c.view(i, j) == doctest::Approx(j <= i ? sum : before.view(i, j)));
            }
        }
    }
}

TEST_CASE_TEMPLATE("potrf and trsm solve a positive definite system", T, float, double) {
    reference::provide();
    constexpr std::size_t n = 5;
    const Matrix<T> root(n, n, 1);
    Matrix<T> a(n, n, 2);
    assay::syrk<T>(Op::none, T{1}, root.in(), T{0}, a.view);
    std::vector<T> system(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        a.view(i, i) += 1;
        for (std::size_t j = 0; j < n; ++j) {
            system[i * n + j] = j <= i ? a.view(i, j) : a.view(j, i);
        }
    }
    REQUIRE(assay::potrf(a.view));
    const Matrix<T> b(n, 2, 3);
    Matrix<T> x = Matrix<T>(n, 2, 3);
    const MatrixView<const T> lower{a.values.data(), n, n};
    assay::trsm<T>(Op::none, lower, x.view);
    assay::trsm<T>(Op::transpose, lower, x.view);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
            T sum = 0;
            for (std::size_t l = 0; l < n; ++l) {
                sum += system[i * n + l] * x.view(l, j);
            }
            CHECK(sum == doctest::Approx(b.view(i, j)).epsilon(1e-4));
        }
    }
    std::vector<T> alone(n);
    for (std::size_t i = 0; i < n; ++i) {
        alone[i] = b.view(i, 1);
    }
    assay::trsv<T>(Op::none, lower, alone);
    assay::trsv<T>(Op::transpose, lower, alone);
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(alone[i] == doctest::Approx(x.view(i, 1)).epsilon(1e-4));
    }
}

TEST_CASE("potrf reports a matrix that is not positive definite") {
    reference::provide();
    std::vector<double> a = {1, 0, 0, -1};
    CHECK_FALSE(assay::potrf(MatrixView<double>{a.data(), 2, 2}));
}

TEST_CASE("operands that do not fit are refused") {
    reference::provide();
    const Matrix<double> a(2, 3, 1);
    Matrix<double> c(2, 2, 1);
    CHECK_THROWS_AS(assay::gemm<double>(Op::none, Op::none, 1, a.in(), a.in(), 0, c.view),
                    std::invalid_argument);
    CHECK_THROWS_AS(assay::syrk<double>(Op::transpose, 1, a.in(), 0, c.view),
                    std::invalid_argument);
}

TEST_CASE("without a provider a call says so") {
    assay::Blas::provide({});
    std::vector<double> a = {1};
    CHECK_THROWS_AS(static_cast<void>(assay::potrf(MatrixView<double>{a.data(), 1, 1})),
                    std::logic_error);
}

TEST_CASE("a scope keeps BLAS single-threaded and gives the threads back") {
    reference::provide();
    reference::threads = 4;
    {
        const assay::BlasScope outer;
        CHECK(reference::threads == 1);
        {
            const assay::BlasScope inner;
            CHECK(reference::threads == 1);
        }
        CHECK(reference::threads == 1);
    }
    CHECK(reference::threads == 4);
}

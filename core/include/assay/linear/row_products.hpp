// Products of a table with a vector, for dense rows and for CSR by one name.
//
//     dot(X, i, w)              x_i . w
//     add_row(X, i, c, g)       g += c x_i
//     scores(X, w, b, f)        f_i = x_i . w + b
//     add_products(X, u, g)     g += sum_i u_i x_i
//
// Sums are in float64, in one fixed order: dense rows in eight lanes that are added
// pairwise at the end, whatever the vectors of the machine; CSR rows from left to
// right. So the bits depend neither on the CPU level nor on threads.
//
// Needs   w.size() == g.size() == X.cols, f.size() == u.size() == X.rows.
// Cost    one pass over the stored values; the dense ones run at the CPU's level.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>

#include "assay/common/csr_view.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"

namespace assay::linear {

template <class Level, class T>
struct DenseProducts {
    static double dot(const T* x, const double* w, std::size_t d) noexcept;
    static void add(const T* x, double c, double* g, std::size_t d) noexcept;
    static void scores(const T* X, std::size_t n, std::size_t d, const double* w, double b,
                       double* f) noexcept;
    static void add_all(const T* X, std::size_t n, std::size_t d, const double* u,
                        double* g) noexcept;
};

template <class T>
[[nodiscard]] double dot(MatrixView<const T> X, std::size_t i, std::span<const double> w) noexcept {
    assert(w.size() >= X.cols);
    return dispatch([&](auto level) {
        return DenseProducts<decltype(level), T>::dot(X.row(i).data(), w.data(), X.cols);
    });
}

template <class T>
void add_row(MatrixView<const T> X, std::size_t i, double c, std::span<double> g) noexcept {
    assert(g.size() >= X.cols);
    dispatch([&](auto level) {
        DenseProducts<decltype(level), T>::add(X.row(i).data(), c, g.data(), X.cols);
    });
}

template <class T>
void scores(MatrixView<const T> X, std::span<const double> w, double b,
            std::span<double> f) noexcept {
    dispatch([&](auto level) {
        DenseProducts<decltype(level), T>::scores(X.data, X.rows, X.cols, w.data(), b, f.data());
    });
}

template <class T>
void add_products(MatrixView<const T> X, std::span<const double> u, std::span<double> g) noexcept {
    dispatch([&](auto level) {
        DenseProducts<decltype(level), T>::add_all(X.data, X.rows, X.cols, u.data(), g.data());
    });
}

template <class T, class Index>
[[nodiscard]] double dot(CsrView<const T, Index> X, std::size_t i,
                         std::span<const double> w) noexcept {
    double sum = 0;
    X.for_each_nonzero(i, [&](std::size_t j, T x) { sum += static_cast<double>(x) * w[j]; });
    return sum;
}

template <class T, class Index>
void add_row(CsrView<const T, Index> X, std::size_t i, double c, std::span<double> g) noexcept {
    X.for_each_nonzero(i, [&](std::size_t j, T x) { g[j] += c * static_cast<double>(x); });
}

template <class T, class Index>
void scores(CsrView<const T, Index> X, std::span<const double> w, double b,
            std::span<double> f) noexcept {
    for (std::size_t i = 0; i < X.rows; ++i) {
        f[i] = dot(X, i, w) + b;
    }
}

template <class T, class Index>
void add_products(CsrView<const T, Index> X, std::span<const double> u,
                  std::span<double> g) noexcept {
    for (std::size_t i = 0; i < X.rows; ++i) {
        if (u[i] != 0) {
            add_row(X, i, u[i], g);
        }
    }
}

}  // namespace assay::linear

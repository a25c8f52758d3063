// BLAS and LAPACK through function pointers that somebody else provides.
//
//     gemm    C = alpha op(A) op(B) + beta C
//     gemv    y = alpha op(A) x + beta y
//     syrk    C = alpha op(A) op(A)' + beta C        lower triangle of C only
//     trsm    B = op(L)^-1 B                         L lower triangular
//     trsv    b = op(L)^-1 b                         the same for one vector
//     potrf   A = L, where L L' = A                  lower triangle only
//
// All matrices are row-major. Nothing is linked: the Python border fills `Blas` with
// the pointers that SciPy exports (core/bindings/blas.cpp), the C++ tests with plain
// loops.
//
// Threads. While a BlasScope lives, BLAS runs on the calling thread alone. Parallel
// work comes from our pool over fixed blocks of the result, so that BLAS never
// starts threads under our threads and the bits do not depend on n_threads.
//
// Needs   Blas::provide was called; sizes fit and are below 2^31; a BlasScope lives.
// Cost    that of BLAS; a few comparisons per call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <mutex>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"

namespace assay {

// Fortran's calling convention with 32-bit integers, as in scipy.linalg.cython_blas.
template <class T>
struct BlasFunctions {
    void (*gemm)(char* trans_a, char* trans_b, int* m, int* n, int* k, T* alpha, T* a, int* lda,
                 T* b, int* ldb, T* beta, T* c, int* ldc) = nullptr;
    void (*gemv)(char* trans, int* m, int* n, T* alpha, T* a, int* lda, T* x, int* incx, T* beta,
                 T* y, int* incy) = nullptr;
    void (*syrk)(char* uplo, char* trans, int* n, int* k, T* alpha, T* a, int* lda, T* beta, T* c,
                 int* ldc) = nullptr;
    void (*trsm)(char* side, char* uplo, char* trans_a, char* diag, int* m, int* n, T* alpha, T* a,
                 int* lda, T* b, int* ldb) = nullptr;
    void (*trsv)(char* uplo, char* trans, char* diag, int* n, T* a, int* lda, T* x,
                 int* incx) = nullptr;
    void (*potrf)(char* uplo, int* n, T* a, int* lda, int* info) = nullptr;
};

struct Blas {
    BlasFunctions<float> float32;
    BlasFunctions<double> float64;
    // Both or none: without them the library is taken to be single-threaded.
    int (*get_threads)() = nullptr;
    void (*set_threads)(int) = nullptr;

    // The table in use. Provided once, before the first kernel that needs it.
    static Blas& table() noexcept {
        static Blas blas;
        return blas;
    }
    static void provide(const Blas& blas) noexcept { table() = blas; }

    template <class T>
    [[nodiscard]] static const BlasFunctions<T>& functions() {
        const BlasFunctions<T>* found = nullptr;
        if constexpr (std::is_same_v<T, float>) {
            found = &table().float32;
        } else {
            found = &table().float64;
        }
        if (found->gemm == nullptr) {
            throw std::logic_error("no BLAS was provided");
        }
        return *found;
    }
};

// Keeps BLAS single-threaded; scopes of several threads may overlap.
class BlasScope {
  public:
    BlasScope() {
        const std::lock_guard lock(state().mutex);
        if (state().scopes++ == 0 && Blas::table().get_threads != nullptr) {
            state().threads_before = Blas::table().get_threads();
            Blas::table().set_threads(1);
        }
    }
    ~BlasScope() {
        const std::lock_guard lock(state().mutex);
        if (--state().scopes == 0 && Blas::table().set_threads != nullptr) {
            Blas::table().set_threads(state().threads_before);
        }
    }
    BlasScope(const BlasScope&) = delete;
    BlasScope& operator=(const BlasScope&) = delete;

  private:
    struct State {
        std::mutex mutex;
        std::size_t scopes = 0;
        int threads_before = 1;
    };
    static State& state() noexcept {
        static State shared;
        return shared;
    }
};

enum class Op : char { none = 'N', transpose = 'T' };

namespace detail {

[[nodiscard]] inline int blas_int(std::size_t size) {
    if (size > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
        throw std::length_error("a matrix side is too long for BLAS");
    }
    return static_cast<int>(size);
}

// BLAS wants leading dimensions of at least 1, also for empty matrices.
[[nodiscard]] inline int blas_stride(std::size_t cols) { return std::max(blas_int(cols), 1); }

// Fortran takes everything by non-const pointer, and writes to none of its inputs.
template <class T>
[[nodiscard]] T* fortran(const T* data) noexcept {
    return const_cast<T*>(data);
}

[[nodiscard]] constexpr char letter(Op op) noexcept { return static_cast<char>(op); }

inline void require_shape(bool fits) {
    if (!fits) {
        throw std::invalid_argument("the shapes of the BLAS operands do not fit");
    }
}

}  // namespace detail

// A row-major matrix is its transpose in column-major order; hence B before A, and
// 'U' for lower, in all that follows.

template <class T>
void gemm(Op op_a, Op op_b, T alpha, MatrixView<const T> a, MatrixView<const T> b, T beta,
          MatrixView<T> c, int n_threads = 1) {
    const std::size_t inner = op_a == Op::none ? a.cols : a.rows;
    detail::require_shape((op_a == Op::none ? a.rows : a.cols) == c.rows &&
                          (op_b == Op::none ? b.cols : b.rows) == c.cols &&
                          (op_b == Op::none ? b.rows : b.cols) == inner);
    const auto call = Blas::functions<T>().gemm;
    constexpr std::size_t block = 512;
    parallel_chunks(c.rows, block, n_threads, [&](Range range) {
        char trans_a = detail::letter(op_a);
        char trans_b = detail::letter(op_b);
        int m = detail::blas_int(c.cols);
        int n = detail::blas_int(range.end - range.begin);
        int k = detail::blas_int(inner);
        int stride_a = detail::blas_stride(a.cols);
        int stride_b = detail::blas_stride(b.cols);
        int stride_c = detail::blas_stride(c.cols);
        T scale = alpha;
        T keep = beta;
        const T* first = a.data + (op_a == Op::none ? range.begin * a.cols : range.begin);
        call(&trans_b, &trans_a, &m, &n, &k, &scale, detail::fortran(b.data), &stride_b,
             detail::fortran(first), &stride_a, &keep, c.data + range.begin * c.cols, &stride_c);
    });
}

template <class T>
void gemv(Op op_a, T alpha, MatrixView<const T> a, std::span<const T> x, T beta, std::span<T> y) {
    detail::require_shape((op_a == Op::none ? a.cols : a.rows) == x.size() &&
                          (op_a == Op::none ? a.rows : a.cols) == y.size());
    char trans = op_a == Op::none ? 'T' : 'N';
    int m = detail::blas_int(a.cols);
    int n = detail::blas_int(a.rows);
    int stride = detail::blas_stride(a.cols);
    int one = 1;
    if (x.empty()) {  // BLAS returns early and would leave y unscaled
        std::transform(y.begin(), y.end(), y.begin(),
                       [&](T v) { return beta == 0 ? 0 : beta * v; });
        return;
    }
    Blas::functions<T>().gemv(&trans, &m, &n, &alpha, detail::fortran(a.data), &stride,
                              detail::fortran(x.data()), &one, &beta, y.data(), &one);
}

// op = none: A A'; op = transpose: A' A, the Gram matrix of the columns.
template <class T>
void syrk(Op op_a, T alpha, MatrixView<const T> a, T beta, MatrixView<T> c) {
    const std::size_t side = op_a == Op::none ? a.rows : a.cols;
    detail::require_shape(c.rows == side && c.cols == side);
    char uplo = 'U';
    char trans = op_a == Op::none ? 'T' : 'N';
    int n = detail::blas_int(side);
    int k = detail::blas_int(op_a == Op::none ? a.cols : a.rows);
    int stride_a = detail::blas_stride(a.cols);
    int stride_c = detail::blas_stride(c.cols);
    Blas::functions<T>().syrk(&uplo, &trans, &n, &k, &alpha, detail::fortran(a.data), &stride_a,
                              &beta, c.data, &stride_c);
}

template <class T>
void trsm(Op op_l, MatrixView<const T> lower, MatrixView<T> b) {
    detail::require_shape(lower.rows == lower.cols && lower.rows == b.rows);
    char side = 'R';
    char uplo = 'U';
    char trans = detail::letter(op_l);
    char diag = 'N';
    int m = detail::blas_int(b.cols);
    int n = detail::blas_int(b.rows);
    int stride_l = detail::blas_stride(lower.cols);
    int stride_b = detail::blas_stride(b.cols);
    T one = 1;
    Blas::functions<T>().trsm(&side, &uplo, &trans, &diag, &m, &n, &one,
                              detail::fortran(lower.data), &stride_l, b.data, &stride_b);
}

// Not trsm with one column: that copies all of L first.
template <class T>
void trsv(Op op_l, MatrixView<const T> lower, std::span<T> b) {
    detail::require_shape(lower.rows == lower.cols && lower.rows == b.size());
    char uplo = 'U';
    char trans = op_l == Op::none ? 'T' : 'N';
    char diag = 'N';
    int n = detail::blas_int(b.size());
    int stride = detail::blas_stride(lower.cols);
    int one = 1;
    Blas::functions<T>().trsv(&uplo, &trans, &diag, &n, detail::fortran(lower.data), &stride,
                              b.data(), &one);
}

// Returns true on success, false when A is not positive definite.
template <class T>
[[nodiscard]] bool potrf(MatrixView<T> a) {
    detail::require_shape(a.rows == a.cols);
    char uplo = 'U';
    int n = detail::blas_int(a.rows);
    int stride = detail::blas_stride(a.cols);
    int info = 0;
    Blas::functions<T>().potrf(&uplo, &n, a.data, &stride, &info);
    return info == 0;
}

}  // namespace assay

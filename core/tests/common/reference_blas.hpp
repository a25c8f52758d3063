// BLAS as plain loops, in Fortran's convention: the pointers for the C++ tests.
#pragma once

#include <cmath>
#include <cstddef>

#include "assay/common/blas.hpp"

namespace reference {

// Element (i, j) of op(A), A in column-major order.
template <class T>
T at(char trans, const T* a, int lda, int i, int j) {
    return trans == 'N' ? a[i + static_cast<std::ptrdiff_t>(j) * lda]
                        : a[j + static_cast<std::ptrdiff_t>(i) * lda];
}

template <class T>
void gemm(char* trans_a, char* trans_b, int* m, int* n, int* k, T* alpha, T* a, int* lda, T* b,
          int* ldb, T* beta, T* c, int* ldc) {
    for (int j = 0; j < *n; ++j) {
        for (int i = 0; i < *m; ++i) {
            T sum = 0;
            for (int l = 0; l < *k; ++l) {
                sum += at(*trans_a, a, *lda, i, l) * at(*trans_b, b, *ldb, l, j);
            }
            T& to = c[i + static_cast<std::ptrdiff_t>(j) * *ldc];
            to = *alpha * sum + (*beta == 0 ? 0 : *beta * to);
        }
    }
}

template <class T>
void gemv(char* trans, int* m, int* n, T* alpha, T* a, int* lda, T* x, int*, T* beta, T* y, int*) {
    const int rows = *trans == 'N' ? *m : *n;
    const int cols = *trans == 'N' ? *n : *m;
    for (int i = 0; i < rows; ++i) {
        T sum = 0;
        for (int j = 0; j < cols; ++j) {
            sum += at(*trans, a, *lda, i, j) * x[j];
        }
        y[i] = *alpha * sum + (*beta == 0 ? 0 : *beta * y[i]);
    }
}

template <class T>
void syrk(char* uplo, char* trans, int* n, int* k, T* alpha, T* a, int* lda, T* beta, T* c,
          int* ldc) {
    for (int j = 0; j < *n; ++j) {
        for (int i = 0; i < *n; ++i) {
            if (*uplo == 'U' ? i > j : i < j) {
                continue;
            }
            T sum = 0;
            for (int l = 0; l < *k; ++l) {
                sum += at(*trans, a, *lda, i, l) * at(*trans, a, *lda, j, l);
            }
            T& to = c[i + static_cast<std::ptrdiff_t>(j) * *ldc];
            to = *alpha * sum + (*beta == 0 ? 0 : *beta * to);
        }
    }
}

// Only what the wrapper uses: B = alpha B op(A)^-1, A upper triangular.
template <class T>
void trsm(char*, char*, char* trans, char*, int* m, int* n, T* alpha, T* a, int* lda, T* b,
          int* ldb) {
    for (int i = 0; i < *m; ++i) {
        for (int step = 0; step < *n; ++step) {
            const int j = *trans == 'N' ? step : *n - 1 - step;
            T& x = b[i + static_cast<std::ptrdiff_t>(j) * *ldb];
            x *= *alpha;
            for (int before = 0; before < step; ++before) {
                const int l = *trans == 'N' ? before : *n - 1 - before;
                x -= b[i + static_cast<std::ptrdiff_t>(l) * *ldb] * at(*trans, a, *lda, l, j);
            }
            x /= at('N', a, *lda, j, j);
        }
    }
}

// Only what the wrapper uses: b = op(A)^-1 b, A upper triangular.
template <class T>
void trsv(char*, char* trans, char*, int* n, T* a, int* lda, T* x, int*) {
    for (int step = 0; step < *n; ++step) {
        const int j = *trans == 'T' ? step : *n - 1 - step;
        for (int before = 0; before < step; ++before) {
            const int l = *trans == 'T' ? before : *n - 1 - before;
            x[j] -= x[l] * at(*trans, a, *lda, j, l);
        }
        x[j] /= at('N', a, *lda, j, j);
    }
}

template <class T>
void potrf(char*, int* n, T* a, int* lda, int* info) {
    const auto entry = [&](int i, int j) -> T& {
        return a[i + static_cast<std::ptrdiff_t>(j) * *lda];
    };
    for (int j = 0; j < *n; ++j) {  // A = U' U, U upper
        for (int i = 0; i <= j; ++i) {
            T sum = entry(i, j);
            for (int l = 0; l < i; ++l) {
                sum -= entry(l, i) * entry(l, j);
            }
            if (i < j) {
                entry(i, j) = sum / entry(i, i);
            } else if (sum > 0) {
                entry(j, j) = std::sqrt(sum);
            } else {
                *info = j + 1;
                return;
            }
        }
    }
    *info = 0;
}

template <class T>
assay::BlasFunctions<T> functions() {
    return {gemm<T>, gemv<T>, syrk<T>, trsm<T>, trsv<T>, potrf<T>};
}

inline int threads = 4;

inline void provide() {
    assay::Blas::provide({functions<float>(), functions<double>(), [] { return threads; },
                          [](int n) { threads = n; }});
}

}  // namespace reference

// assay/linear/row_products.hpp, once per CPU level.
#include "assay/linear/row_products.hpp"

namespace assay::linear {
namespace {

// Eight lanes at every level: one, two or four registers, but always the same sums.
typedef double Lanes __attribute__((vector_size(64)));
typedef double Unaligned __attribute__((vector_size(64), aligned(8), may_alias));
typedef float Narrow __attribute__((vector_size(32), aligned(4), may_alias));

// Not by value: to return 64 bytes would depend on the level's calling convention.
template <class T>
[[gnu::always_inline]] inline void load(const T* from, Lanes& to) noexcept {
    if constexpr (sizeof(T) == 8) {
        to = *reinterpret_cast<const Unaligned*>(from);
    } else {
        to = __builtin_convertvector(*reinterpret_cast<const Narrow*>(from), Lanes);
    }
}

[[gnu::always_inline]] inline double total(const Lanes& v) noexcept {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

template <class T>
[[gnu::always_inline]] inline double product(const T* x, const double* w, std::size_t d) noexcept {
    Lanes sum{};
    std::size_t j = 0;
    for (; j + 8 <= d; j += 8) {
        Lanes a, b;
        load(x + j, a);
        load(w + j, b);
        sum += a * b;
    }
    double rest = 0;
    for (; j < d; ++j) {
        rest += static_cast<double>(x[j]) * w[j];
    }
    return total(sum) + rest;
}

template <class T>
[[gnu::always_inline]] inline void add_scaled(const T* x, double c, double* g,
                                              std::size_t d) noexcept {
    std::size_t j = 0;
    for (; j + 8 <= d; j += 8) {
        Lanes a, b;
        load(g + j, a);
        load(x + j, b);
        *reinterpret_cast<Unaligned*>(g + j) = a + c * b;
    }
    for (; j < d; ++j) {
        g[j] += c * static_cast<double>(x[j]);
    }
}

}  // namespace

template <class Level, class T>
double DenseProducts<Level, T>::dot(const T* x, const double* w, std::size_t d) noexcept {
    return product(x, w, d);
}

template <class Level, class T>
void DenseProducts<Level, T>::add(const T* x, double c, double* g, std::size_t d) noexcept {
    add_scaled(x, c, g, d);
}

template <class Level, class T>
void DenseProducts<Level, T>::scores(const T* X, std::size_t n, std::size_t d, const double* w,
                                     double b, double* f) noexcept {
    for (std::size_t i = 0; i < n; ++i) {
        f[i] = product(X + i * d, w, d) + b;
    }
}

template <class Level, class T>
void DenseProducts<Level, T>::add_all(const T* X, std::size_t n, std::size_t d, const double* u,
                                      double* g) noexcept {
    for (std::size_t i = 0; i < n; ++i) {
        if (u[i] != 0) {
            add_scaled(X + i * d, u[i], g, d);
        }
    }
}

template struct DenseProducts<ASSAY_LEVEL, float>;
template struct DenseProducts<ASSAY_LEVEL, double>;

}  // namespace assay::linear

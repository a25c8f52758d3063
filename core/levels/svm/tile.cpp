// assay/svm/tile.hpp, once per CPU level.
#include "assay/svm/tile.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "assay/common/dispatch.hpp"
#include "assay/common/simd.hpp"

namespace assay::svm {
namespace {

constexpr std::size_t together = 4;  // queries that share the loads of a panel

template <class Level, class T>
using Vector = typename Simd<T, Level>::Register;

template <class Level, class T>
using Shape = KernelShape<T, Vector<Level, T>, typename Simd<T, Level>::Bits>;

// What the rows give: squared distances or dot products of `count` queries with 2 vectors of rows.
template <class Level, class T, bool distance, std::size_t count>
[[gnu::always_inline]] inline void products(const T* const* queries, std::size_t d, const T* panel,
                                            Vector<Level, T> (&total)[count][2]) noexcept {
    using V = Simd<T, Level>;
    for (std::size_t q = 0; q < count; ++q) {
        total[q][0] = total[q][1] = Vector<Level, T>{};
    }
    for (std::size_t first = 0; first < d; first += section) {
        const std::size_t last = first + section < d ? first + section : d;
        Vector<Level, T> sum[count][2] = {};
        for (std::size_t c = first; c < last; ++c) {
            const auto a = V::load(panel + c * panel_rows).value;
            const auto b = V::load(panel + c * panel_rows + V::size).value;
            for (std::size_t q = 0; q < count; ++q) {
                const auto x = V::all(queries[q][c]).value;
                if constexpr (distance) {
                    const auto to_a = x - a;
                    const auto to_b = x - b;
                    sum[q][0] = sum[q][0] + to_a * to_a;
                    sum[q][1] = sum[q][1] + to_b * to_b;
                } else {
                    sum[q][0] = sum[q][0] + x * a;
                    sum[q][1] = sum[q][1] + x * b;
                }
            }
        }
        for (std::size_t q = 0; q < count; ++q) {
            total[q][0] = total[q][0] + sum[q][0];
            total[q][1] = total[q][1] + sum[q][1];
        }
    }
}

template <class Level, class T, bool distance, std::size_t count, class Function>
[[gnu::always_inline]] inline void tile(Function&& function, const T* const* queries, std::size_t d,
                                        const T* panel, T* const* out, std::size_t at) noexcept {
    using V = Simd<T, Level>;
    for (std::size_t lane = 0; lane < panel_rows; lane += 2 * V::size) {
        Vector<Level, T> total[count][2];
        products<Level, T, distance, count>(queries, d, panel + lane, total);
        for (std::size_t q = 0; q < count; ++q) {
            V{function(total[q][0])}.store(out[q] + at + lane);
            V{function(total[q][1])}.store(out[q] + at + lane + V::size);
        }
    }
}

template <class Level, class T, bool distance, class Function>
[[gnu::always_inline]] inline void tiles(Function&& function, const T* const* queries,
                                         std::size_t n_queries, std::size_t d, const T* panels,
                                         std::size_t n_panels, T* const* out,
                                         std::size_t begin) noexcept {
    for (std::size_t p = 0; p < n_panels; ++p) {
        const T* panel = panels + p * d * panel_rows;
        const std::size_t at = begin + p * panel_rows;
        std::size_t q = 0;
        for (; q + together <= n_queries; q += together) {
            tile<Level, T, distance, together>(function, queries + q, d, panel, out + q, at);
        }
        for (; q < n_queries; ++q) {
            tile<Level, T, distance, 1>(function, queries + q, d, panel, out + q, at);
        }
    }
}

// Calls use(function, whether it wants distances) with the kernel function on vectors.
template <class Level, class T, class Use>
[[gnu::always_inline]] inline void with_function(const KernelFunction& k, Use&& use) noexcept {
    using Real = Vector<Level, T>;
    const T gamma = static_cast<T>(k.gamma);
    const T coef0 = static_cast<T>(k.coef0);
    switch (k.kind) {
        case KernelKind::rbf: {
            const T rate = rbf_rate<T>(k);
            use([=](Real from) { return Shape<Level, T>::rbf(from, rate); }, std::true_type{});
            break;
        }
        case KernelKind::poly: {
            const std::uint32_t degree = k.degree;
            if (degree == 3) {  // the default, without the loop over bits but in its order
                use(
                    [=](Real from) {
                        const Real base = from * gamma + coef0;
                        return base * (base * base);
                    },
                    std::false_type{});
            } else {
                use([=](Real from) { return Shape<Level, T>::poly(from, gamma, coef0, degree); },
                    std::false_type{});
            }
            break;
        }
        case KernelKind::sigmoid:
            use([=](Real from) { return Shape<Level, T>::sigmoid(from, gamma, coef0); },
                std::false_type{});
            break;
        case KernelKind::linear:
            use([=](Real from) { return from * gamma; }, std::false_type{});
            break;
        case KernelKind::precomputed:
            use([](Real from) { return from; }, std::false_type{});
            break;
        case KernelKind::distance:
            use([](Real from) { return from; }, std::true_type{});
            break;
    }
}

}  // namespace

template <class Level, class T>
void Tile<Level, T>::run(const KernelFunction& k, const T* const* queries, std::size_t n_queries,
                         std::size_t d, const T* panels, std::size_t n_panels, T* const* out,
                         std::size_t begin) noexcept {
    with_function<Level, T>(k, [&](auto function, auto distance) {
        tiles<Level, T, distance>(function, queries, n_queries, d, panels, n_panels, out, begin);
    });
}

template <class Level, class T>
void ShapeAll<Level, T>::run(const KernelFunction& k, T* values, std::size_t n) noexcept {
    using V = Simd<T, Level>;
    with_function<Level, T>(k, [&](auto function, auto) {
        std::size_t j = 0;
        for (; j + V::size <= n; j += V::size) {
            V{function(V::load(values + j).value)}.store(values + j);
        }
        if (j < n) {
            T rest[V::size] = {};
            for (std::size_t l = 0; j + l < n; ++l) {
                rest[l] = values[j + l];
            }
            V{function(V::load(rest).value)}.store(rest);
            for (std::size_t l = 0; j + l < n; ++l) {
                values[j + l] = rest[l];
            }
        }
    });
}

template <class Level, class T>
void AddRows<Level, T>::run(const T* const* rows, const double* coef, std::size_t n_rows,
                            std::size_t begin, std::size_t end, double* __restrict sum) noexcept {
    for (std::size_t r = 0; r + 4 <= n_rows; r += 4) {
        const T* a = rows[r];
        const T* b = rows[r + 1];
        const T* c = rows[r + 2];
        const T* d = rows[r + 3];
        for (std::size_t j = begin; j < end; ++j) {
            double total = sum[j] + coef[r] * static_cast<double>(a[j]);
            total = total + coef[r + 1] * static_cast<double>(b[j]);
            total = total + coef[r + 2] * static_cast<double>(c[j]);
            sum[j] = total + coef[r + 3] * static_cast<double>(d[j]);
        }
    }
    for (std::size_t r = n_rows - n_rows % 4; r < n_rows; ++r) {
        const T* a = rows[r];
        for (std::size_t j = begin; j < end; ++j) {
            sum[j] = sum[j] + coef[r] * static_cast<double>(a[j]);
        }
    }
}

template struct Tile<ASSAY_LEVEL, float>;
template struct Tile<ASSAY_LEVEL, double>;
template struct ShapeAll<ASSAY_LEVEL, float>;
template struct ShapeAll<ASSAY_LEVEL, double>;
template struct AddRows<ASSAY_LEVEL, float>;
template struct AddRows<ASSAY_LEVEL, double>;

}  // namespace assay::svm

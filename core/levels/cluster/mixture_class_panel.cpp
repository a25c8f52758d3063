// assay/cluster/mixture_class_panel.hpp, once per CPU level.
#include "assay/cluster/mixture_class_panel.hpp"

#include "assay/cluster/mixture_panel.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/exp_log.hpp"
#include "assay/common/simd.hpp"

namespace assay::cluster {
namespace {

template <class Level>
using Real = typename Simd<double, Level>::Register;

template <class R>
[[gnu::always_inline]] inline R load(const double* from) noexcept {
    R value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

template <class R>
[[gnu::always_inline]] inline void store(double* to, const R& value) noexcept {
    __builtin_memcpy(to, &value, sizeof value);
}

// high + low += value + error, the error of the sum kept.
template <class R>
[[gnu::always_inline]] inline void add_exactly(double* high_at, double* low_at, const R& value,
                                               const R& error) noexcept {
    const R high = load<R>(high_at);
    const R sum = high + value;
    const R part = sum - high;
    const R lost = (high - (sum - part)) + (value - part);
    const R low = load<R>(low_at) + (lost + error);
    const R whole = sum + low;
    store(low_at, R(low - (whole - sum)));
    store(high_at, whole);
}

// a b = product + the returned error, by Dekker's halves of 26 bits.
template <class R>
[[gnu::always_inline]] inline R product_error(const R& a, const R& b, const R& product) noexcept {
    constexpr double splitter = 134217729.0;  // 2^27 + 1
    const R a_wide = a * splitter;
    const R a_high = a_wide - (a_wide - a);
    const R a_low = a - a_high;
    const R b_wide = b * splitter;
    const R b_high = b_wide - (b_wide - b);
    const R b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

// One vector of columns (or one column: R = double) of a row.
template <class R, bool weighted>
[[gnu::always_inline]] inline void add_values(const R& given, const R& weight, double* sums,
                                              std::size_t size) noexcept {
    const R zero{};
    const auto known = given == given;
    const R x = known ? given : zero;
    R one = x;
    R one_error = zero;
    if constexpr (weighted) {
        one = weight * x;
        one_error = product_error(weight, x, one);
        store(sums, R(load<R>(sums) + (known ? weight : zero)));
    } else {
        store(sums, R(load<R>(sums) + (known ? zero + 1.0 : zero)));
    }
    const R two = one * x;
    R two_error = product_error(one, x, two);
    if constexpr (weighted) {
        two_error = two_error + one_error * x;
    }
    add_exactly(sums + size, sums + 2 * size, one, one_error);
    add_exactly(sums + 3 * size, sums + 4 * size, two, two_error);
}

template <class Level, class T, bool weighted>
[[gnu::always_inline]] inline void add_rows(const T* x, std::size_t stride, std::size_t d,
                                            std::size_t rows, const std::int32_t* codes,
                                            const double* weights, double* sums,
                                            std::size_t size) noexcept {
    using R = Real<Level>;
    constexpr std::size_t width = Level::vector_bytes / sizeof(double);
    for (std::size_t i = 0; i < rows; ++i) {
        const T* row = x + i * stride;
        double* own = sums + static_cast<std::size_t>(codes[i]) * d;
        const double weight = weighted ? weights[i] : 1.0;
        std::size_t j = 0;
        for (; j + width <= d; j += width) {
            double value[width];
            for (std::size_t lane = 0; lane < width; ++lane) {
                value[lane] = static_cast<double>(row[j + lane]);
            }
            add_values<R, weighted>(load<R>(value), weight - R{}, own + j, size);
        }
        for (; j < d; ++j) {
            add_values<double, weighted>(static_cast<double>(row[j]), weight, own + j, size);
        }
    }
}

}  // namespace

template <class Level, class T>
void ClassKernels<Level, T>::add(const T* x, std::size_t stride, std::size_t d, std::size_t rows,
                                 const std::int32_t* codes, const double* weights, double* sums,
                                 std::size_t part_size) noexcept {
    if (weights == nullptr) {
        add_rows<Level, T, false>(x, stride, d, rows, codes, weights, sums, part_size);
    } else {
        add_rows<Level, T, true>(x, stride, d, rows, codes, weights, sums, part_size);
    }
}

template <class Level, class T>
void ClassKernels<Level, T>::joint(const double* x, std::size_t d, const double* mean,
                                   const double* curve, const double* constant,
                                   double* out) noexcept {
    using R = Real<Level>;
    constexpr std::size_t width = Level::vector_bytes / sizeof(double);
    constexpr std::size_t vectors = 4;
    for (std::size_t i = 0; i < panel_rows; i += vectors * width) {
        R sum[vectors];
        for (std::size_t v = 0; v < vectors; ++v) {
            sum[v] = load<R>(out + i + v * width);
        }
        for (std::size_t j = 0; j < d; ++j) {
            for (std::size_t v = 0; v < vectors; ++v) {
                const R value = load<R>(x + j * panel_rows + i + v * width);
                const R gap = value - mean[j];
                const R said = constant[j] - gap * gap * curve[j];
                sum[v] += value == value ? said : R{};
            }
        }
        for (std::size_t v = 0; v < vectors; ++v) {
            store(out + i + v * width, sum[v]);
        }
    }
}

template <class Level>
double KernelSum<Level>::run(const double* points, const double* weights, std::size_t count,
                             double x, double scale) noexcept {
    using R = Real<Level>;
    using B = typename Simd<double, Level>::Bits;
    constexpr std::size_t width = Level::vector_bytes / sizeof(double);
    constexpr std::size_t parts = panel_lanes / width;
    R least[parts];
    for (std::size_t p = 0; p < parts; ++p) {
        least[p] = R{} + 1e308;
    }
    for (std::size_t i = 0; i < count; i += panel_lanes) {
        for (std::size_t p = 0; p < parts; ++p) {
            const R gap = (x - load<R>(points + i + p * width)) * scale;
            const R square = gap * gap;
            least[p] = square < least[p] ? square : least[p];
        }
    }
    double lanes[panel_lanes];
    __builtin_memcpy(lanes, least, sizeof lanes);
    double nearest = lanes[0];
    for (const double lane : lanes) {
        nearest = lane < nearest ? lane : nearest;
    }
    R sum[parts] = {};
    for (std::size_t i = 0; i < count; i += panel_lanes) {
        for (std::size_t p = 0; p < parts; ++p) {
            const R gap = (x - load<R>(points + i + p * width)) * scale;
            const R below = (nearest - gap * gap) * 0.5;
            sum[p] += load<R>(weights + i + p * width) * exp_of<R, B>(below);
        }
    }
    __builtin_memcpy(lanes, sum, sizeof lanes);
    const double total = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
                         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
    return log_of<double, std::uint64_t>(total) - 0.5 * nearest;
}

template struct ClassKernels<ASSAY_LEVEL, double>;
template struct ClassKernels<ASSAY_LEVEL, float>;
template struct KernelSum<ASSAY_LEVEL>;

}  // namespace assay::cluster

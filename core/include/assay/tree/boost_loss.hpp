// Losses of gradient boosting: value, gradient and curvature, packed into one word per row.
//
// With f the score (before the inverse link), y the target and w the weight of a row:
//
//     squared       (f - y)^2 / 2                     g = f - y                  h = 1
//     absolute      |f - y|                           g = sign(f - y)            h = 1
//     huber(d)      squared up to |f - y| = d, then linear                       h = 1
//     quantile(q)   q (y - f)+ + (1 - q) (f - y)+     g = -q or 1 - q            h = 1
//     poisson       e^f - y f                         g = e^f - y                h = e^f
//     gamma         f + y e^-f                        g = 1 - y e^-f             h = y e^-f
//     logistic      ln(1 + e^f) - y f, y in {0, 1}    g = p - y                  h = p (1 - p)
//     exponential   e^(-f) or e^f, y in {0, 1}        g = -e^-f or e^f           h = e^(-+f)
//     softmax       ln sum_k e^f_k - f_y              g_k = p_k - [y = k]        h_k = p_k (1 -
//     p_k)
//
// The word of a row is G 2^shift + H with integers G = round(w g / unit of g) and H =
// round(w h / unit of h). Units are powers of two, chosen so that no sum over rows can
// overflow; then sums of words are exact, in any order and with any number of threads.
//
// Cost    O(n) per call; vectors of the processor's level (core/levels/tree/boost_loss.cpp).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace assay::tree {

enum class Loss : std::int32_t {
    squared,
    absolute,
    huber,
    quantile,
    poisson,
    gamma,
    logistic,
    exponential,
    softmax
};

[[nodiscard]] constexpr bool has_unit_hessian(Loss loss) noexcept { return loss <= Loss::quantile; }

// How gradients are written as integers.
struct GradientUnits {
    int shift = 32;
    bool unit_hessian = false;  // H = 1 for every row
    double g_scale = 1;         // integers per unit of w g: a power of two
    double h_scale = 1;

    // The largest sums that fit beside each other, less what rounding may add.
    [[nodiscard]] double g_room(std::size_t rows) const noexcept {
        const int bits = 63 - shift < 51 ? 63 - shift : 51;
        return std::ldexp(1.0, bits) - static_cast<double>(rows) - 1;
    }
    [[nodiscard]] double h_room(std::size_t rows) const noexcept {
        return std::ldexp(1.0, shift < 31 ? shift : 31) - static_cast<double>(rows) - 1;
    }
    [[nodiscard]] std::int64_t gradient(std::int64_t word) const noexcept { return word >> shift; }
    [[nodiscard]] std::int64_t hessian(std::int64_t word) const noexcept {
        return word & ((std::int64_t{1} << shift) - 1);
    }
};

// The largest power of two s with sum * s <= room; 1 for a sum of zero.
[[nodiscard]] inline double power_scale(double sum, double room) noexcept {
    if (!(sum > 0)) {
        return 1;
    }
    int exponent = 0;
    std::frexp(room / sum, &exponent);
    exponent = exponent - 1 < 900 ? exponent - 1 : 900;
    return std::ldexp(1.0, exponent > -900 ? exponent : -900);
}

struct GradientSums {
    double abs_gradient = 0;
    double hessian = 0;
    double loss = 0;
};

// One output, or one class of softmax. Arrays have one entry per row.
struct GradientRows {
    Loss loss = Loss::squared;
    double param = 0;                // of huber and quantile
    const double* target = nullptr;  // class codes for softmax
    const double* weight = nullptr;  // none: all 1
    const double* score = nullptr;   // softmax: class k begins at score + k * rows
    std::size_t rows = 0;            // of the whole table
    std::size_t n_classes = 1;       // softmax only
    std::int64_t* word = nullptr;    // none: sums only; softmax: class-major, as score
    double* gradient = nullptr;      // exact w g and w h where wanted
    double* hessian = nullptr;
};

template <class Level>
struct BoostLoss {
    // Rows begin .. end - 1 of one output; adds to `sums`.
    static void run(const GradientRows& rows, const GradientUnits& units, std::size_t begin,
                    std::size_t end, GradientSums& sums) noexcept;
    // The same for all classes at once; units and sums per class (the loss is in sums[0]);
    // scratch holds 8 * n_classes numbers.
    static void softmax(const GradientRows& rows, const GradientUnits* units, std::size_t begin,
                        std::size_t end, GradientSums* sums, double* scratch) noexcept;
};

}  // namespace assay::tree

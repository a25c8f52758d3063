// The hot loops of logistic regression over a tile of rows, once per CPU level.
//
// A tile is `rows` rows of `stride` numbers (stride a multiple of 8, what is beyond the last
// column is zero). Arrays per row are class-major: class k of a tile begins at k * rows.
//
//     centred       out_ij = (x_ij - centre_j) factor_j          the tile from the user's rows
//     dots          f_i  = x_i . w
//     add_gradient  g   += sum_i r_i x_i
//     add_gram      H   += sum_i d_i x_i x_i'       lower triangle (what is above it is undefined)
//     logistic      z = y f:  r = -s y sigma(-z),  d = s sigma(z) sigma(-z),  loss = s ln(1 + e^-z)
//     softmax       p_k = e^f_k / sum_l e^f_l,  r_k = s (p_k - [y = k]),  loss = -s ln p_y
//     softmax_turn  v_k = s p_k (a_k - sum_l p_l a_l)       the curvature of softmax times a
//
// Residuals are made from the small side (1 - p is never a difference), so that they keep their
// digits when the classes are nearly separated.
//
// Cost    O(rows * stride), add_gram O(rows * stride^2 / 2); no allocation. Sums over rows run
//         in the order of the rows, sums over a row in eight lanes: the same bits at every level.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::linear::logit {

inline constexpr std::size_t lane_count = 8;

// What the rows of a tile say.
struct TileSums {
    double loss = 0;
    double least_margin =
        1e300;         // the smallest y f, or f_y - max of the others; rows of weight > 0
    double moved = 0;  // the largest change of a score against `before`
};

template <class Level>
struct LogisticKernels {
    // x: rows of `cols` numbers without gaps; what is beyond them in `out` is left alone.
    static void centred(const double* x, std::size_t cols, std::size_t rows, const double* centre,
                        const double* factor, double* out, std::size_t stride) noexcept;
    // `ahead` numbers from `next` on are needed soon: they are fetched meanwhile.
    static void dots(const double* x, std::size_t stride, std::size_t rows, const double* w,
                     double* f, const double* next = nullptr, std::size_t ahead = 0) noexcept;
    static void add_gradient(const double* x, std::size_t stride, std::size_t rows, const double* r,
                             double* g) noexcept;
    // `scratch` holds rows * stride numbers.
    static void add_gram(const double* x, std::size_t stride, std::size_t rows, const double* d,
                         double* gram, double* scratch) noexcept;
    // y is -1 or 1; `before` may be null.
    static void logistic(const double* f, const double* before, const double* y, const double* s,
                         std::size_t rows, double* r, double* d, TileSums& sums) noexcept;
    // Scores f and results p, r: n_classes * rows numbers.
    static void softmax(const double* f, const double* before, const std::int32_t* y,
                        const double* s, std::size_t rows, std::size_t n_classes, double* p,
                        double* r, TileSums& sums) noexcept;
    static void softmax_turn(const double* p, const double* s, const double* a, std::size_t rows,
                             std::size_t n_classes, double* v) noexcept;
};

}  // namespace assay::linear::logit

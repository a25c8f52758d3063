// The linear SVM with hinge loss and few columns, by an interior point method.
//
//     min_w 1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i w . z_i)
//
// The conditions of the minimum, with t = 0 at the end,
//
//     w = sum_i a_i y_i z_i,   y_i w . z_i - 1 + x_i - l_i = 0,
//     a_i l_i = t,   (C_i - a_i) x_i = t,   0 < a_i < C_i,   l_i, x_i > 0
//
// are followed by Newton steps (predictor and corrector). Everything but w is eliminated
// row by row, so that a step solves (I + sum_i z_i z_i' / D_i) dw = rhs, as large as there
// are columns: about 20 steps of one pass over the rows each, whatever the data. Dual
// coordinate descent takes hundreds of passes to the same precision.
//
// Needs   y in {-1, +1}, C_i > 0 (leave other rows out); w of rows.stride() entries; a
//         BlasScope lives.
// Cost    per step n stride^2 / 2 + stride^3 / 3.
// Source  Mehrotra, SIAM J. Optimization 2 (1992); Ferris and Munson, SIAM J. Optimization
//         13 (2002), section 2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "assay/common/blas.hpp"
#include "assay/linear/svc_certificate.hpp"
#include "assay/linear/svc_rows.hpp"

namespace assay::linear {

namespace detail {

// Factors I + H (lower triangle) and solves for right sides, after scaling to a unit
// diagonal: columns of any size.
class ShiftedFactor {
  public:
    ShiftedFactor(std::size_t n, std::size_t stride) : n_(n), stride_(stride) {}

    [[nodiscard]] bool factor(std::span<const double> h) {
        scale_.resize(n_);
        lower_.assign(n_ * n_, 0.0);
        for (std::size_t i = 0; i < n_; ++i) {
            scale_[i] = 1 / std::sqrt(1 + h[i * stride_ + i]);
        }
        for (std::size_t i = 0; i < n_; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                lower_[i * n_ + j] = h[i * stride_ + j] * scale_[i] * scale_[j];
            }
            lower_[i * n_ + i] = 1 + 1e-15;
        }
        return potrf(MatrixView<double>{lower_.data(), n_, n_});
    }

    void solve(std::span<double> b) const {
        std::vector<double> x(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            x[i] = b[i] * scale_[i];
        }
        const MatrixView<const double> lower{lower_.data(), n_, n_};
        const MatrixView<double> right{x.data(), n_, 1};
        trsm(Op::none, lower, right);
        trsm(Op::transpose, lower, right);
        for (std::size_t i = 0; i < n_; ++i) {
            b[i] = x[i] * scale_[i];
        }
    }

  private:
    std::size_t n_;
    std::size_t stride_;
    std::vector<double> scale_;
    std::vector<double> lower_;
};

[[nodiscard]] inline double square_length(std::span<const double> v) noexcept {
    double sum = 0;
    for (const double x : v) {
        sum += x * x;
    }
    return sum;
}

}  // namespace detail

// tol: of the duality gap, relative to the objective.
[[nodiscard]] inline SvcResult solve_interior(const SvcRows& rows, std::span<const double> y,
                                              std::span<const double> C, double tol,
                                              std::int64_t max_iter, std::span<double> w,
                                              int n_threads) {
    const std::size_t n = rows.rows();
    const std::size_t width = rows.stride();
    SvcResult result;
    // a: multipliers; low, high: slacks of a >= 0 and of a <= C (the hinge slack).
    std::vector<double> a(n), low(n, 1.0), high(n, 2.0), margin(n), inverse(n), q(n), r(n), turn(n);
    std::vector<double> da(n), dlow(n), dhigh(n);
    std::vector<double> h(width * width), dw(width), v(width), best(width);
    for (std::size_t i = 0; i < n; ++i) {
        a[i] = 0.5 * C[i];
    }
    std::fill(w.begin(), w.end(), 0.0);
    detail::ShiftedFactor factor(rows.cols(), width);
    double best_objective = 0;
    for (std::size_t i = 0; i < n; ++i) {
        best_objective += C[i];  // P(0)
    }
    double best_dual = 0;
    const auto count = static_cast<double>(2 * n);
    // P at w, whose margins are known, and D at a; keeps the best of both. (P at
    // sum_i a_i y_i z_i would suffer from rounding where a column is large.)
    const auto judge = [&] {
        double dual = 0;
        double primal = 0.5 * detail::square_length(w);
        for (std::size_t i = 0; i < n; ++i) {
            r[i] = y[i] * a[i];
            dual += a[i];
            primal += C[i] * std::max(0.0, 1 - margin[i]);
        }
        rows.combine(r, v, n_threads);
        best_dual = std::max(best_dual, dual - 0.5 * detail::square_length(v));
        if (primal < best_objective) {
            best_objective = primal;
            std::copy(w.begin(), w.end(), best.begin());
        }
    };
    const auto set_margins = [&] {
        rows.dots(w, margin, n_threads);
        for (std::size_t i = 0; i < n; ++i) {
            margin[i] *= y[i];
        }
    };
    const auto direction = [&] {
        for (std::size_t i = 0; i < n; ++i) {
            r[i] = y[i] * (q[i] * inverse[i] + a[i]);
        }
        rows.combine(r, dw, n_threads);
        for (std::size_t j = 0; j < width; ++j) {
            dw[j] -= w[j];
        }
        factor.solve(std::span<double>(dw).first(rows.cols()));
        std::fill(dw.begin() + static_cast<std::ptrdiff_t>(rows.cols()), dw.end(), 0.0);
        rows.dots(dw, turn, n_threads);
    };
    for (result.n_iter = 0; result.n_iter < max_iter; ++result.n_iter) {
        set_margins();
        double total = 0;
        for (std::size_t i = 0; i < n; ++i) {
            total += a[i] * low[i] + (C[i] - a[i]) * high[i];
        }
        const double mu = total / count;
        if (total <= std::max(tol, 1e-3) * std::max(best_objective, 1e-300) ||
            result.n_iter % 8 == 7) {
            judge();
            if (best_objective - best_dual <= tol * best_objective) {
                result.stop = SvcStop::converged;
                break;
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            inverse[i] = 1 / (high[i] / (C[i] - a[i]) + low[i] / a[i]);
            q[i] = 1 - margin[i];  // -residual + high - low: the aim t = 0
        }
        rows.gram(inverse, h, n_threads);
        if (!factor.factor(h)) {
            result.stop = SvcStop::stalled;
            break;
        }
        direction();
        double step = 1;
        for (std::size_t i = 0; i < n; ++i) {
            const double room = C[i] - a[i];
            da[i] = (q[i] - y[i] * turn[i]) * inverse[i];
            dlow[i] = -low[i] - low[i] / a[i] * da[i];
            dhigh[i] = -high[i] + high[i] / room * da[i];
            step = std::min({step, da[i] < 0 ? -a[i] / da[i] : 1, da[i] > 0 ? room / da[i] : 1,
                             dlow[i] < 0 ? -low[i] / dlow[i] : 1,
                             dhigh[i] < 0 ? -high[i] / dhigh[i] : 1});
        }
        double aimed = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double room = C[i] - a[i] - step * da[i];
            aimed += (a[i] + step * da[i]) * (low[i] + step * dlow[i]) +
                     room * (high[i] + step * dhigh[i]);
        }
        const double ratio = aimed / total;
        const double aim = mu * ratio * ratio * ratio;
        for (std::size_t i = 0; i < n; ++i) {
            // The complementarities to reach, with the second-order terms of the predictor.
            dlow[i] = aim - a[i] * low[i] - da[i] * dlow[i];
            dhigh[i] = aim - (C[i] - a[i]) * high[i] + da[i] * dhigh[i];
            const double residual = margin[i] - 1 + high[i] - low[i];
            q[i] = -residual - dhigh[i] / (C[i] - a[i]) + dlow[i] / a[i];
        }
        direction();
        double longest = 1e300;
        for (std::size_t i = 0; i < n; ++i) {
            const double room = C[i] - a[i];
            da[i] = (q[i] - y[i] * turn[i]) * inverse[i];
            dlow[i] = (dlow[i] - low[i] * da[i]) / a[i];
            dhigh[i] = (dhigh[i] + high[i] * da[i]) / room;
            longest =
                std::min({longest, da[i] < 0 ? -a[i] / da[i] : 1e300,
                          da[i] > 0 ? room / da[i] : 1e300, dlow[i] < 0 ? -low[i] / dlow[i] : 1e300,
                          dhigh[i] < 0 ? -high[i] / dhigh[i] : 1e300});
        }
        step = std::min(1.0, 0.995 * longest);
        if (!(step > 1e-10)) {
            result.stop = SvcStop::stalled;
            break;
        }
        for (std::size_t j = 0; j < width; ++j) {
            w[j] += step * dw[j];
        }
        for (std::size_t i = 0; i < n; ++i) {
            a[i] += step * da[i];
            low[i] += step * dlow[i];
            high[i] += step * dhigh[i];
            // Rounding must not put a number on its bound.
            a[i] = std::clamp(a[i], 1e-300, C[i] * (1 - 1e-15));
            low[i] = std::max(low[i], 1e-300);
            high[i] = std::max(high[i], 1e-300);
        }
    }
    if (result.stop != SvcStop::converged) {
        set_margins();
        judge();
        if (best_objective - best_dual <= tol * best_objective) {
            result.stop = SvcStop::converged;
        }
    }
    std::copy(best.begin(), best.end(), w.begin());
    result.objective = best_objective;
    result.gap = best_objective - best_dual;
    return result;
}

}  // namespace assay::linear

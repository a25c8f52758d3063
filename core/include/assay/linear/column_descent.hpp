// Sweeps of coordinate descent over columns and residual, accelerated.
//
//     min_w  sum_i v_i (y_i - x_i'w)^2 / 2 + l1 |w|_1 + l2 |w|^2 / 2        w >= 0 if `positive`
//
// For more columns than a matrix of their products may have. After every five sweeps the
// iterates are combined (Anderson): the weights, of sum 1, that make the combined steps
// shortest; the combination is taken only if it lowers the objective.
//
// Needs   Columns has dot, add, square and half_square (design.hpp); w has one value per column and
//         `kept` is the residual at w; l1, l2 >= 0.
// Cost    n a column and sweep; 6 (n + k) numbers of memory.
// Source  Bertrand and Massias: Anderson acceleration of coordinate descent, 2021.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "assay/linear/active_set.hpp"

namespace assay::linear {

template <class Columns>
class ColumnDescent {
  public:
    ColumnDescent(const Columns& columns, std::size_t k, LassoPenalty penalty)
        : columns_(columns), penalty_(penalty), square_(k) {
        for (std::size_t c = 0; c < k; ++c) {
            square_[c] = columns.square(c);
        }
    }

    // Improves w and kept; returns the sweeps done.
    int solve(std::span<double> w, std::span<double> kept, int max_sweeps, double still) {
        assert(w.size() == square_.size());
        std::vector<Point> past;
        int sweeps = 0;
        while (sweeps < max_sweeps) {
            past.push_back({{w.begin(), w.end()}, {kept.begin(), kept.end()}});
            if (past.size() == n_past) {
                extrapolate(past, w, kept);
                past.clear();
                past.push_back({{w.begin(), w.end()}, {kept.begin(), kept.end()}});
            }
            ++sweeps;
            if (sweep(w, kept) <= still) {
                break;
            }
        }
        return sweeps;
    }

  private:
    static constexpr std::size_t n_past = 6;

    struct Point {
        std::vector<double> w;
        std::vector<double> kept;
    };

    double sweep(std::span<double> w, std::span<double> kept) {
        double largest = 0;
        for (std::size_t c = 0; c < w.size(); ++c) {
            const double bend = square_[c] + penalty_.l2;
            if (!(bend > 0)) {
                continue;
            }
            const double z = columns_.dot(c, kept) + square_[c] * w[c];
            double goal = 0;
            if (z > penalty_.l1) {
                goal = (z - penalty_.l1) / bend;
            } else if (z < -penalty_.l1 && !penalty_.positive) {
                goal = (z + penalty_.l1) / bend;
            }
            const double step = goal - w[c];
            if (step != 0) {
                columns_.add(c, -step, kept);
                w[c] = goal;
                largest = std::max(largest, std::abs(step) * std::sqrt(bend));
            }
        }
        return largest;
    }

    // A mixture of points has the mixture of their residuals: no pass over the table.
    void extrapolate(const std::vector<Point>& past, std::span<double> w, std::span<double> kept) {
        constexpr std::size_t m = n_past - 1;
        const auto weights = mixture(past);
        if (!weights) {
            return;
        }
        std::vector<double> w_mixed(w.size(), 0.0);
        std::vector<double> kept_mixed(kept.size(), 0.0);
        for (std::size_t q = 0; q < m; ++q) {
            for (std::size_t c = 0; c < w.size(); ++c) {
                w_mixed[c] += (*weights)[q] * past[q + 1].w[c];
            }
            for (std::size_t i = 0; i < kept.size(); ++i) {
                kept_mixed[i] += (*weights)[q] * past[q + 1].kept[i];
            }
        }
        if (penalty_.positive) {
            for (const double value : w_mixed) {
                if (value < 0) {
                    return;
                }
            }
        }
        if (objective(w_mixed, kept_mixed, kept) < objective(w, kept, kept)) {
            std::copy(w_mixed.begin(), w_mixed.end(), w.begin());
            std::copy(kept_mixed.begin(), kept_mixed.end(), kept.begin());
        }
    }

    // Up to a constant: the squared error counts from that at `from`.
    double objective(std::span<const double> w, std::span<const double> kept,
                     std::span<const double> from) const {
        double sum = columns_.half_square(kept) - columns_.half_square(from);
        for (const double value : w) {
            sum += penalty_.l1 * std::abs(value) + penalty_.l2 * value * value / 2;
        }
        return sum;
    }

    // Solves (D D') x = 1, D the differences of successive points; x / sum(x).
    [[nodiscard]] static std::optional<std::array<double, n_past - 1>> mixture(
        const std::vector<Point>& past) {
        constexpr std::size_t m = n_past - 1;
        std::array<std::array<double, m + 1>, m> a{};
        double trace = 0;
        for (std::size_t q = 0; q < m; ++q) {
            for (std::size_t r = 0; r <= q; ++r) {
                double sum = 0;
                for (std::size_t c = 0; c < past[0].w.size(); ++c) {
                    sum += (past[q + 1].w[c] - past[q].w[c]) * (past[r + 1].w[c] - past[r].w[c]);
                }
                a[q][r] = a[r][q] = sum;
            }
            a[q][m] = 1;
            trace += a[q][q];
        }
        if (!(trace > 0)) {
            return std::nullopt;
        }
        for (std::size_t q = 0; q < m; ++q) {
            a[q][q] += 1e-12 * trace;
        }
        for (std::size_t q = 0; q < m; ++q) {  // positive definite: no pivots needed
            if (!(a[q][q] > 0)) {
                return std::nullopt;
            }
            for (std::size_t r = q + 1; r < m; ++r) {
                const double factor = a[r][q] / a[q][q];
                for (std::size_t t = q; t <= m; ++t) {
                    a[r][t] -= factor * a[q][t];
                }
            }
        }
        std::array<double, m> x{};
        double total = 0;
        for (std::size_t q = m; q-- > 0;) {
            x[q] = a[q][m];
            for (std::size_t t = q + 1; t < m; ++t) {
                x[q] -= a[q][t] * x[t];
            }
            x[q] /= a[q][q];
            total += x[q];
        }
        if (!(std::abs(total) > 0) || !std::isfinite(total)) {
            return std::nullopt;
        }
        for (double& value : x) {
            value /= total;
        }
        return x;
    }

    const Columns& columns_;
    LassoPenalty penalty_;
    std::vector<double> square_;
};

}  // namespace assay::linear

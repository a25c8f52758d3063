// The lasso on few columns, to the last digit: sweeps, then equations.
//
//     min_w  w'Gw / 2 - c'w + l1 |w|_1 + l2 |w|^2 / 2        w >= 0 if `positive`
//
// Sweeps of coordinate descent find coordinates S that are not zero, and their signs s. The
// minimum for these signs solves (G_SS + l2 I) v = c_S - l1 s. Where v has the signs s it is
// taken. Else the objective along the way from w to v, a parabola with kinks where a
// coordinate passes zero, is followed to its own minimum, and the equations are made anew.
// Columns of S that are combinations of others are first left out: along such a combination
// the fit stays the same, and its weights can be moved, with |w|_1 falling or staying, until
// one of them is zero. All steps lower the objective. Done when no coordinate outside S has
// |c - G w|_j > l1: that is the solution, whatever the start.
//
// Needs   a BlasScope lives; gram symmetric k x k; c and w of k values; l1 > 0, l2 >= 0.
// Cost    k |S| a sweep, |S|^3 / 6 for equations.
// Source  Lee, Battle, Raina, Ng: Efficient sparse coding algorithms, 2006 (feature-sign search).
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/linear/growing_cholesky.hpp"
#include "assay/linear/least_sweep.hpp"
#include "assay/linear/penalised_solve.hpp"

namespace assay::linear {

struct LassoPenalty {
    double l1 = 0;
    double l2 = 0;
    bool positive = false;
};

class ActiveSet {
  public:
    ActiveSet(MatrixView<const double> gram, std::span<const double> c, LassoPenalty penalty)
        : gram_(gram), c_(c), penalty_(penalty), g_(c.size()) {
        double largest = 0;
        for (const double value : c) {
            largest = std::max(largest, std::abs(value));
        }
        slack_ = 1e-12 * penalty.l1 + 1e-15 * largest;
    }

    // Improves w; returns the sweeps and equations done. `still`: a sweep whose largest change
    // is not above it ends the work where equations cannot.
    int solve(std::span<double> w, int max_steps, double still) {
        assert(w.size() == c_.size() && gram_.rows == c_.size() && gram_.cols == c_.size());
        refresh(w);
        int steps = 0;
        solved_ = false;
        for (int batch = 5;;) {
            double change = 0;
            for (int sweep = 0; sweep < batch && (sweep == 0 || steps < max_steps); ++sweep) {
                ++steps;
                change = dispatch([&](auto level) {
                    return LeastSweep<decltype(level)>::run(gram_.data, c_.size(), penalty_.l1,
                                                            penalty_.l2, penalty_.positive,
                                                            w.data(), g_.data());
                });
                if (change <= still) {
                    break;
                }
            }
            Step step = Step::turned;
            for (int turn = 0; step == Step::turned && (turn == 0 || steps < max_steps); ++turn) {
                step = solve_face(w);
                steps += turn > 0 ? 1 : 0;
            }
            solved_ = step == Step::arrived && optimal_outside(w);
            if (solved_ || steps >= max_steps || (step == Step::blocked && change <= still)) {
                return steps;
            }
            batch = step == Step::blocked ? std::min(2 * batch, 80) : 2;
        }
    }

    // Whether the last w solves its equations, and no other coordinate should join.
    [[nodiscard]] bool solved() const noexcept { return solved_; }

    // Coordinates that are not zero, ascending, and the factor of their equations.
    [[nodiscard]] std::span<const std::size_t> face() const noexcept { return face_; }
    [[nodiscard]] const ScaledCholesky& equations() const noexcept { return cholesky_; }

  private:
    enum class Step { arrived, turned, blocked };

    // Goes to the minimum for the signs of w, or as far towards it as the objective falls.
    Step solve_face(std::span<double> w) {
        find_face(w);
        if (!factor()) {
            leave_out_combinations(w);
            find_face(w);
            if (!factor()) {
                refresh(w);
                return Step::blocked;
            }
        }
        const std::size_t s = face_.size();
        std::vector<double> goal(s);
        for (std::size_t a = 0; a < s; ++a) {
            goal[a] = c_[face_[a]] - std::copysign(penalty_.l1, w[face_[a]]);
        }
        cholesky_.solve(MatrixView<double>{goal.data(), s, 1});
        bool keeps_signs = true;
        for (std::size_t a = 0; a < s; ++a) {
            keeps_signs =
                keeps_signs && goal[a] != 0 && std::signbit(goal[a]) == std::signbit(w[face_[a]]);
        }
        if (!keeps_signs) {
            walk(w, goal);
            return Step::turned;
        }
        for (std::size_t a = 0; a < s; ++a) {
            w[face_[a]] = goal[a];
        }
        refresh(w);
        return Step::arrived;
    }

    // Follows the objective from w towards the goal,
    //     f'(t) = q (t - 1) + 2 l1 (|d_j| of all that have passed zero),   q = d'(G + l2 I) d,
    // to its minimum. No coordinate may pass zero if it must not be negative.
    void walk(std::span<double> w, std::span<const double> goal) {
        struct Kink {
            double at;
            std::size_t coordinate;
            double jump;
        };
        const std::size_t s = face_.size();
        std::vector<double> d(s);
        std::vector<Kink> kinks;
        for (std::size_t a = 0; a < s; ++a) {
            const double from = w[face_[a]];
            d[a] = goal[a] - from;
            if (goal[a] == 0 || std::signbit(goal[a]) != std::signbit(from)) {
                kinks.push_back({from / (from - goal[a]), a, 2 * penalty_.l1 * std::abs(d[a])});
            }
        }
        double q = 0;
        for (std::size_t a = 0; a < s; ++a) {
            const double* row = gram_.data + face_[a] * gram_.cols;
            double sum = penalty_.l2 * d[a];
            for (std::size_t b = 0; b < s; ++b) {
                sum += row[face_[b]] * d[b];
            }
            q += d[a] * sum;
        }
        std::sort(kinks.begin(), kinks.end(), [](const Kink& x, const Kink& y) {
            return x.at != y.at ? x.at < y.at : x.coordinate < y.coordinate;
        });
        double t = 1;
        double passed = 0;
        std::size_t stop = s;  // the coordinate that ends at zero
        for (const Kink& kink : kinks) {
            if (passed > 0 && q * (kink.at - 1) + passed >= 0) {
                t = 1 - passed / q;
                break;
            }
            passed += kink.jump;
            if (penalty_.positive || q * (kink.at - 1) + passed >= 0) {
                t = kink.at;
                stop = kink.coordinate;
                break;
            }
            t = std::min(1.0, 1 - passed / q);
        }
        for (std::size_t a = 0; a < s; ++a) {
            double& value = w[face_[a]];
            value = a == stop ? 0.0 : value + t * d[a];
            if (penalty_.positive) {
                value = std::max(value, 0.0);
            }
        }
        refresh(w);
    }

    // Moves weights along combinations of columns that fit the same, until none is left.
    void leave_out_combinations(std::span<double> w) {
        GrowingCholesky basis(gram_);
        for (const std::size_t j : face_) {
            while (w[j] != 0 && !basis.add(j)) {
                std::vector<double> along = basis.combination(j);
                // One more of j, and less of what it is made of.
                double slope = std::copysign(1.0, w[j]);
                for (std::size_t a = 0; a < along.size(); ++a) {
                    slope -= along[a] * std::copysign(1.0, w[basis.columns()[a]]);
                }
                const double sign = slope > 0 ? -1 : 1;
                double step = w[j] * sign < 0 ? std::abs(w[j]) : inf;
                for (std::size_t a = 0; a < along.size(); ++a) {
                    along[a] *= -sign;
                    const double from = w[basis.columns()[a]];
                    if (from * along[a] < 0) {
                        step = std::min(step, std::abs(from / along[a]));
                    }
                }
                if (!std::isfinite(step)) {  // an empty column
                    w[j] = 0;
                    break;
                }
                w[j] = w[j] * sign < 0 && std::abs(w[j]) <= step ? 0.0 : w[j] + sign * step;
                for (std::size_t a = along.size(); a-- > 0;) {
                    double& weight = w[basis.columns()[a]];
                    const bool ends = weight * along[a] < 0 && std::abs(weight / along[a]) <= step;
                    weight = ends ? 0.0 : weight + step * along[a];
                    if (weight == 0) {
                        basis.remove(a);
                    }
                }
            }
        }
    }

    void find_face(std::span<const double> w) {
        face_.clear();
        for (std::size_t j = 0; j < w.size(); ++j) {
            if (w[j] != 0) {
                face_.push_back(j);
            }
        }
    }

    [[nodiscard]] bool factor() {
        const std::size_t s = face_.size();
        std::vector<double> gram(s * s);
        for (std::size_t a = 0; a < s; ++a) {
            const double* row = gram_.data + face_[a] * gram_.cols;
            for (std::size_t b = 0; b < s; ++b) {
                gram[a * s + b] = row[face_[b]];
            }
        }
        return cholesky_.factor(MatrixView<const double>{gram.data(), s, s}, penalty_.l2) &&
               cholesky_.reciprocal_condition() > 1e-14;
    }

    [[nodiscard]] bool optimal_outside(std::span<const double> w) const noexcept {
        for (std::size_t j = 0; j < w.size(); ++j) {
            const double size = penalty_.positive ? g_[j] : std::abs(g_[j]);
            if (w[j] == 0 && size > penalty_.l1 + slack_) {
                return false;
            }
        }
        return true;
    }

    void refresh(std::span<const double> w) {
        std::copy(c_.begin(), c_.end(), g_.begin());
        for (std::size_t j = 0; j < w.size(); ++j) {
            if (w[j] != 0) {
                const double* row = gram_.data + j * gram_.cols;
                for (std::size_t t = 0; t < g_.size(); ++t) {
                    g_[t] -= w[j] * row[t];
                }
            }
        }
    }

    static constexpr double inf = std::numeric_limits<double>::infinity();

    MatrixView<const double> gram_;
    std::span<const double> c_;
    LassoPenalty penalty_;
    double slack_ = 0;
    std::vector<double> g_;
    std::vector<std::size_t> face_;
    ScaledCholesky cholesky_;
    bool solved_ = false;
};

}  // namespace assay::linear

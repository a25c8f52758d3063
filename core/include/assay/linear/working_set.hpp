// The lasso and the elastic net, for one penalty after the other.
//
//     min_w  sum_i v_i (y_i - x_i'w)^2 / 2 + l1 |w|_1 + l2 |w|^2 / 2        w >= 0 if `positive`
//
// Few columns have a weight. So the problem is solved on a working set of columns
// (active_set.hpp), then one pass over the table tells all correlations with the residual;
// columns with one above l1 join the set, and so on. The first set is that of the columns
// most correlated with the target, or the strong rule's from the solution before
// (Tibshirani et al. 2012). Sets at most double, so a handful of passes is enough.
//
// The pass also gives the duality gap
//
//     gap = (1 + s^2) |R|^2 / 2 + l1 |w|_1 - s R'y + (1 + s^2) l2 |w|^2 / 2,
//     s = min(1, l1 / max_j |X'R - l2 w|_j)
//
// and a last correction of w from residuals that were computed from the table itself. A
// solution is `exact` when it solves the equations of its face, no column should join, and
// none could (|X'R|_j = l1 without a weight): then it is the only one, whatever the start.
//
// Needs   a BlasScope lives; y centred if the design is; l1 > 0, l2 >= 0; w of design.cols()
//         values, the start and the result.
// Cost    a handful of passes, n p each, and n k^2 for the k columns met.
// Source  Massias, Gramfort, Salmon: Celer, 2018 (working sets and gap).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "assay/common/matrix_view.hpp"
#include "assay/linear/active_set.hpp"
#include "assay/linear/column_descent.hpp"
#include "assay/linear/product_cache.hpp"

namespace assay::linear {

struct LassoResult {
    double gap = 0;    // of the objective above
    int n_sweeps = 0;  // of coordinate descent, over all working sets
    int n_passes = 0;  // over the table
    bool converged = false;
    bool exact = false;
};

template <class Design>
class WorkingSet {
  public:
    // Working sets of more than `most_products` columns are solved without their products.
    WorkingSet(const Design& design, std::span<const double> y, std::size_t most_products)
        : design_(design),
          y_(y),
          most_products_(std::min(most_products, ProductCache<Design>::capacity)),
          cache_(design),
          residual_(y.begin(), y.end()),
          target_corr_(design.cols()),
          corr_(design.cols()),
          inside_(design.cols(), 0) {
        design_.correlate(y_, target_corr_);
        corr_ = target_corr_;
        for (const double c : corr_) {
            last_l1_ = std::max(last_l1_, std::abs(c));
        }
        y_square_ = weighted_dot(y_, y_);
    }

    // A set of more columns than rows is only met where the squares of weights make it so: its
    // equations would cost more than they save.
    WorkingSet(const Design& design, std::span<const double> y)
        : WorkingSet(design, y, std::max<std::size_t>(1024, design.rows())) {}

    // `tol`: relative to |y|^2, for the gap of a solution that is not exact.
    LassoResult solve(std::span<double> w, LassoPenalty penalty, double tol, int max_sweeps) {
        LassoResult result;
        start(w, penalty);
        const double size = std::sqrt(y_square_);
        for (double still = 1e-2 * tol;;) {
            ++result.n_passes;
            if (set_.size() <= most_products_) {
                solve_products(w, penalty, 1e-15 * size, max_sweeps, result);
            } else {
                solve_columns(w, penalty, std::max(still, 1e-15) * size, max_sweeps, result);
            }
            const bool complete = grow(w, penalty);
            result.gap = gap(w, penalty);
            result.converged = (solved_ && complete) || result.gap <= tol * y_square_;
            result.exact = solved_ && complete && alone(w, penalty);
            const bool patient = !result.converged && set_.size() > most_products_ && still > 1e-15;
            if ((complete && !patient) || result.n_sweeps >= max_sweeps) {
                break;
            }
            still = complete ? still / 100 : still;
        }
        last_l1_ = penalty.l1;
        return result;
    }

    // max_j |X'y|_j: from this l1 on, all weights are zero.
    [[nodiscard]] double largest_correlation() const noexcept {
        double largest = 0;
        for (const double c : target_corr_) {
            largest = std::max(largest, std::abs(c));
        }
        return largest;
    }

  private:
    static constexpr std::size_t first_size = 128;

    // The first working set: columns with a weight, and the most correlated others.
    void start(std::span<const double> w, LassoPenalty penalty) {
        std::fill(inside_.begin(), inside_.end(), char{0});
        set_.clear();
        std::vector<double> weights;
        for (std::size_t j = 0; j < w.size(); ++j) {
            if (w[j] != 0) {
                insert(j);
                weights.push_back(w[j]);
            }
        }
        if (!weights.empty() && !warm_) {  // a start from outside
            look(set_, weights);
        }
        const double strong = 2 * penalty.l1 - last_l1_;
        std::vector<std::size_t> next;
        for (std::size_t j = 0; j < w.size(); ++j) {
            if (inside_[j] == 0 && size_of(j, penalty) >= strong && usable(j)) {
                next.push_back(j);
            }
        }
        insert_largest(next, std::max(first_size, set_.size()), penalty);
    }

    void solve_products(std::span<double> w, LassoPenalty penalty, double still, int max_sweeps,
                        LassoResult& result) {
        const std::size_t k = set_.size();
        cache_.products(set_, gram_);
        std::vector<double> c(k);
        std::vector<double> local(k);
        for (std::size_t a = 0; a < k; ++a) {
            c[a] = target_corr_[set_[a]];
            local[a] = w[set_[a]];
        }
        ActiveSet active(MatrixView<const double>{gram_.data(), k, k}, c, penalty);
        result.n_sweeps += active.solve(local, std::max(1, max_sweeps - result.n_sweeps), still);
        solved_ = active.solved();
        measure(local);
        if (solved_ && !active.face().empty()) {
            correct(active, penalty, local);
        }
        store(local, w);
    }

    void solve_columns(std::span<double> w, LassoPenalty penalty, double still, int max_sweeps,
                       LassoResult& result) {
        const typename Design::Columns columns(design_, set_);
        std::vector<double> local(set_.size());
        for (std::size_t a = 0; a < set_.size(); ++a) {
            local[a] = w[set_[a]];
        }
        measure_residual(local);
        auto kept = columns.kept(design_, residual_);
        ColumnDescent<typename Design::Columns> descent(columns, set_.size(), penalty);
        result.n_sweeps +=
            descent.solve(local, kept, std::max(1, max_sweeps - result.n_sweeps), still);
        solved_ = false;
        measure(local);
        store(local, w);
    }

    // One Newton step from correlations of the table itself: what the products had lost.
    void correct(const ActiveSet& active, LassoPenalty penalty, std::vector<double>& local) {
        const auto face = active.face();
        std::vector<double> step(face.size());
        for (std::size_t a = 0; a < face.size(); ++a) {
            const double weight = local[face[a]];
            step[a] =
                corr_[set_[face[a]]] - penalty.l2 * weight - std::copysign(penalty.l1, weight);
        }
        active.equations().solve(MatrixView<double>{step.data(), step.size(), 1});
        for (std::size_t a = 0; a < face.size(); ++a) {
            if (std::abs(step[a]) >= 1e-3 * std::abs(local[face[a]])) {
                return;  // no correction of rounding errors
            }
        }
        for (std::size_t a = 0; a < face.size(); ++a) {
            local[face[a]] += step[a];
        }
    }

    // Adds columns that would lower the objective. True when there is none.
    bool grow(std::span<const double> w, LassoPenalty penalty) {
        std::vector<std::size_t> next;
        const double slack = 1e-11 * penalty.l1 + 1e-15 * largest_correlation();
        bool complete = true;
        for (std::size_t j = 0; j < w.size(); ++j) {
            if (inside_[j] == 0 && usable(j)) {
                const double size = size_of(j, penalty);
                complete = complete && size <= penalty.l1 + slack;
                if (size > 0.9 * penalty.l1) {
                    next.push_back(j);
                }
            }
        }
        if (!complete) {
            insert_largest(next, std::max(first_size, set_.size()), penalty);
        }
        return complete || next.empty();  // the latter for numbers that are not finite
    }

    // Whether no column without a weight could have one in another solution.
    [[nodiscard]] bool alone(std::span<const double> w, LassoPenalty penalty) const noexcept {
        if (penalty.l2 > 0) {
            return true;
        }
        for (std::size_t j = 0; j < w.size(); ++j) {
            if (w[j] == 0 && size_of(j, penalty) > penalty.l1 * (1 - 1e-9)) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] double gap(std::span<const double> w, LassoPenalty penalty) const {
        double largest = 0;
        double l1_norm = 0;
        double square = 0;
        for (std::size_t j = 0; j < w.size(); ++j) {
            const double c = corr_[j] - penalty.l2 * w[j];
            largest = std::max(largest, penalty.positive ? c : std::abs(c));
            l1_norm += std::abs(w[j]);
            square += w[j] * w[j];
        }
        const double s = largest > penalty.l1 ? penalty.l1 / largest : 1.0;
        const double r_square = weighted_dot(residual_, residual_);
        const double value = (1 + s * s) * r_square / 2 + penalty.l1 * l1_norm -
                             s * weighted_dot(residual_, y_) +
                             (1 + s * s) * penalty.l2 * square / 2;
        return std::max(value, 0.0);
    }

    void measure_residual(std::span<const double> local) {
        std::vector<std::size_t> columns;
        std::vector<double> weights;
        for (std::size_t a = 0; a < local.size(); ++a) {
            if (local[a] != 0) {
                columns.push_back(set_[a]);
                weights.push_back(local[a]);
            }
        }
        design_.residual(y_, columns, weights, residual_);
    }

    void measure(std::span<const double> local) {
        measure_residual(local);
        design_.correlate(residual_, corr_);
        warm_ = true;
    }

    void look(std::span<const std::size_t> columns, std::span<const double> weights) {
        design_.residual(y_, columns, weights, residual_);
        design_.correlate(residual_, corr_);
    }

    void store(std::span<const double> local, std::span<double> w) const noexcept {
        for (std::size_t a = 0; a < local.size(); ++a) {
            w[set_[a]] = local[a];
        }
    }

    [[nodiscard]] double size_of(std::size_t j, LassoPenalty penalty) const noexcept {
        return penalty.positive ? corr_[j] : std::abs(corr_[j]);
    }

    // A column that never correlates with anything: constant, or empty.
    [[nodiscard]] bool usable(std::size_t j) const noexcept {
        return corr_[j] != 0 || target_corr_[j] != 0;
    }

    void insert(std::size_t j) {
        inside_[j] = 1;
        set_.push_back(j);
    }

    void insert_largest(std::vector<std::size_t>& next, std::size_t count, LassoPenalty penalty) {
        if (next.size() > count) {
            std::nth_element(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(count),
                             next.end(), [&](std::size_t a, std::size_t b) {
                                 const double left = size_of(a, penalty);
                                 const double right = size_of(b, penalty);
                                 return left != right ? left > right : a < b;
                             });
            next.resize(count);
            std::sort(next.begin(), next.end());
        }
        for (const std::size_t j : next) {
            insert(j);
        }
    }

    [[nodiscard]] double weighted_dot(std::span<const double> a,
                                      std::span<const double> b) const noexcept {
        const auto v = design_.weights();
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            sum += (v.empty() ? 1.0 : v[i]) * a[i] * b[i];
        }
        return sum;
    }

    const Design& design_;
    std::span<const double> y_;
    std::size_t most_products_;
    ProductCache<Design> cache_;
    std::vector<double> residual_;
    std::vector<double> target_corr_;
    std::vector<double> corr_;
    std::vector<char> inside_;
    std::vector<std::size_t> set_;
    std::vector<double> gram_;
    double y_square_ = 0;
    double last_l1_ = 0;
    bool warm_ = false;
    bool solved_ = false;
};

}  // namespace assay::linear

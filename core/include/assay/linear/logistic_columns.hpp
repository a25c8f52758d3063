// Proximal Newton on a working set of columns, for an L1 penalty and many columns.
//
//     repeat   gradient of all columns; stop when no zero coefficient wants to leave zero
//              W = columns in use and those that want most, at most doubling
//              proximal Newton on the columns W alone
//
// The end is the same as that of prox_newton on all columns: the condition of optimality is
// checked on every column.
//
// Needs   as prox_newton.hpp; Design has gather(columns).
// Cost    O(n p) per round, plus the rounds' problems of few columns.
// Source  the working sets of Massias, Gramfort and Salmon, Celer (2018), without extrapolation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "assay/linear/logistic_problem.hpp"
#include "assay/linear/newton.hpp"
#include "assay/linear/prox_newton.hpp"

namespace assay::linear::logit {

template <class Design>
class LogisticColumns {
  public:
    using Problem = LogisticProblem<Design>;

    LogisticColumns(Problem& problem, bool intercept, std::span<const std::int32_t> codes,
                    std::span<const double> weight, std::size_t n_classes)
        : all_(problem),
          intercept_(intercept),
          codes_(codes),
          weight_(weight),
          n_classes_(n_classes) {}

    Outcome solve(std::span<const double> l1, std::span<const double> l2, std::span<double> theta,
                  const NewtonOptions& options) {
        Outcome out;
        std::size_t spent = 0;
        std::vector<double> gradient(all_.size());
        std::vector<std::size_t> before;
        for (std::size_t round = 0; round < max_rounds; ++round) {
            all_.evaluate(theta, false);
            full_gradient(all_, theta, l2, gradient);
            out.gradient_norm = largest_violation(gradient, theta, l1, outputs(), all_.stride());
            const auto columns = choose(gradient, theta, l1);
            if (round > 0 && (out.stop != Stop::converged || columns == before)) {
                break;
            }
            before = columns;
            NewtonOptions rest = options;
            rest.max_iter = options.max_iter - std::min(spent, options.max_iter - 1);
            const Outcome part = solve_columns(columns, l1, l2, theta, rest);
            spent += part.n_iter;
            out = part;
            out.n_iter = spent;
        }
        return out;
    }

  private:
    static constexpr std::size_t max_rounds = 100;
    static constexpr std::size_t smallest = 48;

    [[nodiscard]] std::size_t outputs() const { return all_.n_outputs(); }
    [[nodiscard]] std::size_t n_columns() const { return all_.cols() - (intercept_ ? 1 : 0); }

    // The columns in use and the worst of the others; ascending.
    [[nodiscard]] std::vector<std::size_t> choose(std::span<const double> gradient,
                                                  std::span<const double> theta,
                                                  std::span<const double> l1) const {
        std::vector<std::size_t> chosen;
        std::vector<std::pair<double, std::size_t>> wanting;
        for (std::size_t j = 0; j < n_columns(); ++j) {
            bool used = false;
            double worst = 0;
            for (std::size_t k = 0; k < outputs(); ++k) {
                used = used || theta[k * all_.stride() + j] != 0;
                worst = std::max(worst, std::abs(gradient[k * all_.cols() + j]) - l1[j]);
            }
            if (used) {
                chosen.push_back(j);
            } else if (worst > 1e-11 * l1[j] + 1e-15) {
                wanting.emplace_back(-worst / l1[j], j);
            }
        }
        std::sort(wanting.begin(), wanting.end());
        const std::size_t room = std::max(smallest, chosen.size());
        for (std::size_t i = 0; i < std::min(room, wanting.size()); ++i) {
            chosen.push_back(wanting[i].second);
        }
        std::sort(chosen.begin(), chosen.end());
        return chosen;
    }

    Outcome solve_columns(const std::vector<std::size_t>& columns, std::span<const double> l1,
                          std::span<const double> l2, std::span<double> theta,
                          const NewtonOptions& options) {
        std::vector<std::size_t> with(columns);
        if (intercept_) {
            with.push_back(all_.cols() - 1);
        }
        const Design part = all_.design().gather(columns, intercept_);
        Problem problem(part, codes_, weight_, n_classes_, all_.n_threads());
        std::vector<double> small(outputs() * part.stride);
        std::vector<double> small_l1;
        std::vector<double> small_l2;
        for (std::size_t c = 0; c < with.size(); ++c) {
            small_l1.push_back(l1[with[c]]);
            small_l2.push_back(l2[with[c]]);
            for (std::size_t k = 0; k < outputs(); ++k) {
                small[k * part.stride + c] = theta[k * all_.stride() + with[c]];
            }
        }
        const Outcome outcome = prox_newton(problem, small_l1, small_l2, small, options);
        for (std::size_t c = 0; c < with.size(); ++c) {
            for (std::size_t k = 0; k < outputs(); ++k) {
                theta[k * all_.stride() + with[c]] = small[k * part.stride + c];
            }
        }
        return outcome;
    }

    Problem& all_;
    bool intercept_;
    std::span<const std::int32_t> codes_;
    std::span<const double> weight_;
    std::size_t n_classes_;
};

}  // namespace assay::linear::logit

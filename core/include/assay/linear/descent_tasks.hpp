// One descent per binary problem of a classifier, or one for a regressor.
//
//     problem k of a classifier:  y_i = +1 where targets_i = positive_k, else -1
//                                 s_i ~ weight_i * (positive_weight_k if y_i = +1 else
//                                 negative_weight_k)
//     a regressor:                one problem, y = targets
//
// Problems are independent tasks of the pool, each with its own random stream (seed, k):
// the result does not depend on n_threads.
//
// Needs   coef of n_problems rows and X.cols columns (X.rows when transposed), intercept of
//         n_problems values; targets and weight of one value per row; weight not all 0.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/common/matrix_view.hpp"
#include "assay/common/thread_pool.hpp"
#include "assay/linear/descent_batch.hpp"
#include "assay/linear/descent_coordinate.hpp"
#include "assay/linear/descent_stochastic.hpp"
#include "assay/linear/perceptron.hpp"

namespace assay::linear {

enum class DescentMethod : int { batch, coordinate, stochastic };

// The targets of several binary problems over the same rows; no positives: regression.
struct Targets {
    std::span<const double> values;
    std::span<const double> weight;
    std::span<const double> positives;
    std::span<const double> positive_weight;
    std::span<const double> negative_weight;

    [[nodiscard]] std::size_t count() const noexcept {
        return positives.empty() ? 1 : positives.size();
    }

    // y and row weights of problem k; the weights sum to 1 if `normalised`.
    void fill(std::size_t k, bool normalised, std::vector<double>& y,
              std::vector<double>& s) const {
        y.assign(values.begin(), values.end());
        s.assign(weight.begin(), weight.end());
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            if (!positives.empty()) {
                const bool positive = values[i] == positives[k];
                y[i] = positive ? 1 : -1;
                s[i] *= positive ? positive_weight[k] : negative_weight[k];
            }
            sum += s[i];
        }
        for (std::size_t i = 0; normalised && sum > 0 && i < y.size(); ++i) {
            s[i] /= sum;
        }
    }
};

// A model being fitted: the points, and their averages (not used without averaging).
struct Coefficients {
    MatrixView<double> coef;
    std::span<double> intercept;
    MatrixView<double> mean_coef;
    std::span<double> mean_intercept;
};

template <class Rows>
[[nodiscard]] std::vector<DescentResult> descend_all(Rows X, const Targets& targets,
                                                     DescentMethod method,
                                                     const DescentOptions& options,
                                                     const Coefficients& at, int n_threads) {
    std::vector<DescentResult> results(targets.count());
    run_tasks(targets.count(), n_threads, [&](std::size_t k) {
        std::vector<double> y, s;
        targets.fill(k, true, y, s);
        DescentOptions own = options;
        own.key = k;
        const auto w = at.coef.row(k);
        double& b = at.intercept[k];
        switch (method) {
            case DescentMethod::batch:
                results[k] = descend_batch(X, y, s, own, w, b);
                break;
            case DescentMethod::coordinate:
                results[k] = descend_coordinates(X, y, s, own, w, b);
                break;
            case DescentMethod::stochastic:
                results[k] = descend_stochastic(X, y, s, own, w, b, at.mean_coef.row(k),
                                                at.mean_intercept[k]);
                break;
        }
    });
    return results;
}

template <class Rows>
[[nodiscard]] std::vector<PerceptronResult> learn_all(Rows X, const Targets& targets,
                                                      std::span<const double> mean,
                                                      const PerceptronOptions& options,
                                                      MatrixView<double> coef,
                                                      std::span<double> intercept, int n_threads) {
    std::vector<PerceptronResult> results(targets.count());
    run_tasks(targets.count(), n_threads, [&](std::size_t k) {
        std::vector<double> y, s;
        targets.fill(k, false, y, s);
        PerceptronOptions own = options;
        own.key = k;
        results[k] = learn_from_mistakes(X, y, s, mean, own, coef.row(k), intercept[k]);
    });
    return results;
}

}  // namespace assay::linear

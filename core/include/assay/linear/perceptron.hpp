// The perceptron: learn from mistakes only.
//
//     visit the rows; if row i is on the wrong side:  w~ += eta_t y_i x~_i   (then w~ /= ||w~||)
//
// x~ = (1, x) with an intercept, x - mean when centred (then w0 = 0 while learning). A
// score >= 0 means the positive class. If some unit w* has y_i w*.x~_i >= gamma > 0 and
// ||x~_i|| <= R for all rows, then, from w = 0 with a constant rate and without
// normalising, at most R^2 / gamma^2 mistakes are made in total.
//
// Needs   y in {-1, +1}; mean empty or of X.cols values.
// Cost    one pass over the stored values per epoch; a mistake costs its row (and
//         O(columns) when centred or normalised).
// Source  Rosenblatt (1958); Novikoff (1962).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/linear/row_products.hpp"
#include "assay/linear/schedule.hpp"

namespace assay::linear {

struct PerceptronOptions {
    Schedule schedule;
    bool fit_intercept = true;
    bool normalize = false;
    bool shuffle = true;
    std::int64_t max_iter = 1000;
    std::int64_t patience = 0;  // passes without fewer mistakes than ever; 0 = no limit
    std::uint64_t seed = 0;
    std::uint64_t key = 0;
    std::int64_t first_step = 0;
};

struct PerceptronResult {
    std::int64_t n_mistakes = 0;  // while learning
    std::int64_t n_iter = 0;
    std::int64_t n_steps = 0;      // updates, for the schedule of a run that goes on
    bool separated = false;        // a whole pass without a mistake
    std::vector<double> mistakes;  // of each pass
};

[[nodiscard]] constexpr bool is_mistake(double y, double f) noexcept { return (f >= 0) != (y > 0); }

// w and b belong to centred rows if there is a mean; the caller moves b to plain rows.
template <class Rows>
[[nodiscard]] PerceptronResult learn_from_mistakes(Rows X, std::span<const double> y,
                                                   std::span<const double> weight,
                                                   std::span<const double> mean,
                                                   const PerceptronOptions& options,
                                                   std::span<double> w, double& b) {
    PerceptronResult result;
    RandomStream stream(options.seed, options.key);
    std::vector<std::size_t> order(X.rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto offset = [&] {
        double sum = 0;
        for (std::size_t j = 0; j < mean.size(); ++j) {
            sum += mean[j] * w[j];
        }
        return sum;
    };
    double shift = offset();
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    std::int64_t waited = 0;
    result.n_steps = options.first_step;
    while (result.n_iter < options.max_iter && !result.separated) {
        if (options.shuffle) {
            stream.shuffle(std::span<std::size_t>(order));
        }
        std::int64_t wrong = 0;
        for (const std::size_t i : order) {
            if (weight[i] == 0) {
                continue;
            }
            const double f = dot(X, i, std::span<const double>(w)) + b - shift;
            if (!is_mistake(y[i], f)) {
                continue;
            }
            ++wrong;
            const double c = options.schedule.step(result.n_steps++) * weight[i] * y[i];
            add_row(X, i, c, w);
            for (std::size_t j = 0; j < mean.size(); ++j) {
                w[j] -= c * mean[j];
            }
            b += options.fit_intercept ? c : 0;
            if (options.normalize) {
                double square = b * b;
                for (const double x : w) {
                    square += x * x;
                }
                const double length = std::sqrt(square);
                if (length > 0) {
                    for (double& x : w) {
                        x /= length;
                    }
                    b /= length;
                }
            }
            if (!mean.empty()) {
                shift = offset();
            }
        }
        ++result.n_iter;
        result.n_mistakes += wrong;
        result.mistakes.push_back(static_cast<double>(wrong));
        result.separated = wrong == 0;
        waited = wrong < fewest ? 0 : waited + 1;
        fewest = std::min(fewest, wrong);
        if (options.patience > 0 && waited >= options.patience) {
            break;
        }
    }
    return result;
}

}  // namespace assay::linear

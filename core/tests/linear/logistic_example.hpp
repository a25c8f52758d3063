// Small tables for the tests of logistic regression, and the loss by its definition.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "assay/common/matrix_view.hpp"
#include "assay/common/random.hpp"

namespace example {

struct LogisticTable {
    std::size_t rows;
    std::size_t cols;
    std::size_t n_classes;
    std::vector<double> values;
    std::vector<std::int32_t> codes;
    std::vector<double> weight;  // sums to 1

    LogisticTable(std::size_t rows_, std::size_t cols_, std::size_t n_classes_,
                  std::uint64_t seed = 1)
        : rows(rows_), cols(cols_), n_classes(n_classes_), values(rows * cols) {
        assay::RandomStream stream(seed, 0);
        double total = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            double best = -1e300;
            std::int32_t code = 0;
            for (std::size_t j = 0; j < cols; ++j) {
                values[i * cols + j] = stream.normal() * (j == 0 ? 5 : 1) + (j == 1 ? 3 : 0);
            }
            for (std::size_t k = 0; k < n_classes; ++k) {
                const double pull =
                    2 * stream.normal() + values[i * cols + k % cols] * (k % 2 == 0 ? 1 : -1);
                if (pull > best) {
                    best = pull;
                    code = static_cast<std::int32_t>(k);
                }
            }
            codes.push_back(code);
            weight.push_back(0.5 + static_cast<double>(i % 3));
            total += weight.back();
        }
        for (double& each : weight) {
            each /= total;
        }
    }

    [[nodiscard]] assay::MatrixView<const double> view() const {
        return {values.data(), rows, cols};
    }
    [[nodiscard]] std::size_t n_outputs() const { return n_classes == 2 ? 1 : n_classes; }

    // sum_i s_i loss(y_i, X w + b), coefficients and intercepts one row per output.
    [[nodiscard]] double loss(const std::vector<double>& coef,
                              const std::vector<double>& intercept) const {
        double sum = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            std::vector<double> f(n_outputs());
            for (std::size_t k = 0; k < f.size(); ++k) {
                f[k] = intercept[k];
                for (std::size_t j = 0; j < cols; ++j) {
                    f[k] += coef[k * cols + j] * values[i * cols + j];
                }
            }
            if (f.size() == 1) {
                f = {0.0, f[0]};
            }
            double shares = 0;
            for (const double each : f) {
                shares += std::exp(each - f[static_cast<std::size_t>(codes[i])]);
            }
            sum += weight[i] * std::log(shares);
        }
        return sum;
    }
};

}  // namespace example

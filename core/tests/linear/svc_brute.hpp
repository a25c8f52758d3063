// Small problems of the linear SVM and a slow, sure way to their minimum.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "../common/reference_blas.hpp"
#include "descent_table.hpp"

namespace assay::linear::testing {

// The constant that stands for the intercept in these tests.
inline constexpr double constant = 1.5;

struct SvcTable : Table {
    std::vector<double> C;

    explicit SvcTable(std::size_t rows = 90, std::size_t cols = 7, double price = 0.8)
        : Table(rows, cols, 7), C(rows) {
        reference::provide();
        for (std::size_t i = 0; i < n; ++i) {
            C[i] = price * (0.5 + s[i] * static_cast<double>(n));
        }
    }

    [[nodiscard]] double score(std::size_t i, std::span<const double> w) const {
        double sum = constant * w[d];
        for (std::size_t j = 0; j < d; ++j) {
            sum += X[i * d + j] * w[j];
        }
        return sum;
    }
    [[nodiscard]] double slack(std::size_t i, std::span<const double> w) const {
        return std::max(0.0, 1 - labels[i] * score(i, w));
    }
    // 1/2 ||w||^2 (or ||w||_1) + sum_i C_i slack^power
    [[nodiscard]] double objective(std::span<const double> w, bool squared, bool sparse) const {
        double sum = 0;
        for (std::size_t j = 0; j <= d; ++j) {
            sum += sparse ? std::abs(w[j]) : 0.5 * w[j] * w[j];
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double x = slack(i, w);
            sum += C[i] * (squared ? x * x : x);
        }
        return sum;
    }

    // The minimum of the dual for L2 by many exact steps over single multipliers.
    [[nodiscard]] std::vector<double> minimum(bool squared) const {
        std::vector<double> a(n), w(d + 1);
        for (int pass = 0; pass < 20000; ++pass) {
            for (std::size_t i = 0; i < n; ++i) {
                double square = constant * constant + (squared ? 0.5 / C[i] : 0);
                for (std::size_t j = 0; j < d; ++j) {
                    square += X[i * d + j] * X[i * d + j];
                }
                const double slope =
                    labels[i] * score(i, w) - 1 + (squared ? 0.5 * a[i] / C[i] : 0);
                const double next = std::clamp(a[i] - slope / square, 0.0, squared ? 1e300 : C[i]);
                const double by = (next - a[i]) * labels[i];
                a[i] = next;
                for (std::size_t j = 0; j < d; ++j) {
                    w[j] += by * X[i * d + j];
                }
                w[d] += by * constant;
            }
        }
        return w;
    }
};

}  // namespace assay::linear::testing

// A two-class problem for the solvers' tests.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "assay/svm/smo.hpp"
#include "samples.hpp"

namespace samples {

struct TwoClasses {
    std::size_t n, d;
    std::vector<double> X, target, low, high, b, f;
    std::vector<std::int32_t> row_of;

    TwoClasses(std::size_t rows, std::size_t cols, double C, std::uint64_t seed)
        : n(rows), d(cols), X(normal<double>(rows * cols, seed)), b(rows), f(rows), row_of(rows) {
        const auto noise = normal<double>(n, seed + 1);
        for (std::size_t i = 0; i < n; ++i) {
            const bool positive = X[i * d] + 0.7 * noise[i] > 0;
            target.push_back(positive ? 1 : -1);
            low.push_back(positive ? 0 : -C);
            high.push_back(positive ? C : 0);
        }
        std::iota(row_of.begin(), row_of.end(), 0);
    }

    [[nodiscard]] assay::svm::SmoProblem problem() const { return {target, low, high, row_of}; }
    [[nodiscard]] assay::MatrixView<const double> view() const { return {X.data(), n, d}; }
};

}  // namespace samples

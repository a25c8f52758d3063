// A small table for the tests of descent, dense and as CSR.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/csr_view.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/random.hpp"

namespace assay::linear::testing {

struct Table {
    std::size_t n;
    std::size_t d;
    std::vector<double> X;   // row-major, about a third zeros
    std::vector<double> Xt;  // its transpose
    std::vector<double> labels;
    std::vector<double> values;
    std::vector<double> s;
    std::vector<double> data;
    std::vector<std::int32_t> columns;
    std::vector<std::int32_t> offsets{0};

    explicit Table(std::size_t rows = 60, std::size_t cols = 11, std::uint64_t seed = 1)
        : n(rows), d(cols), X(n * d), Xt(n * d) {
        RandomStream stream(seed, 0);
        double total = 0;
        for (std::size_t i = 0; i < n; ++i) {
            double score = 0.3;
            for (std::size_t j = 0; j < d; ++j) {
                const double x = stream.uniform() < 0.33 ? 0 : stream.normal() + 0.5;
                X[i * d + j] = Xt[j * n + i] = x;
                score += x * (j % 3 == 0 ? 1 : -0.4);
                if (x != 0) {
                    data.push_back(x);
                    columns.push_back(static_cast<std::int32_t>(j));
                }
            }
            offsets.push_back(static_cast<std::int32_t>(data.size()));
            values.push_back(score + stream.normal());
            labels.push_back(values.back() > 0 ? 1 : -1);
            s.push_back(0.5 + stream.uniform());
            total += s.back();
        }
        for (double& x : s) {
            x /= total;
        }
    }

    [[nodiscard]] MatrixView<const double> dense() const { return {X.data(), n, d}; }
    [[nodiscard]] MatrixView<const double> transpose() const { return {Xt.data(), d, n}; }
    [[nodiscard]] CsrView<const double, std::int32_t> sparse() const {
        return {data, columns, offsets, n, d};
    }
};

}  // namespace assay::linear::testing

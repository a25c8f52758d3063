// A small table for the tests of Relief: numeric and nominal columns, some with gaps.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/features/relief_table.hpp"

namespace assay::features::testing {

struct Example {
    std::size_t n_numeric, n_nominal, n_numeric_gaps, n_nominal_gaps;
    std::vector<std::int64_t> class_start;
    std::vector<float> complete, gaps, expected;

    // Values are multiples of 1/64, so that sums are exact in any order.
    Example(std::vector<std::int64_t> starts, std::size_t numeric, std::size_t nominal,
            std::size_t numeric_gaps = 0, std::size_t nominal_gaps = 0, std::uint64_t seed = 1)
        : n_numeric(numeric),
          n_nominal(nominal),
          n_numeric_gaps(numeric_gaps),
          n_nominal_gaps(nominal_gaps),
          class_start(std::move(starts)) {
        RandomStream stream(seed, 0);
        const auto fraction = [&] {
            return static_cast<float>(stream.below(std::uint32_t{65})) / 64;
        };
        const auto level = [&] { return static_cast<float>(stream.below(std::uint32_t{3})); };
        for (std::size_t i = 0; i < rows(); ++i) {
            for (std::size_t a = 0; a < numeric + nominal; ++a) {
                complete.push_back(a < numeric ? fraction() : level());
            }
        }
        const std::size_t n_gaps = numeric_gaps + nominal_gaps;
        for (std::size_t a = 0; a < n_gaps; ++a) {
            for (std::size_t i = 0; i < rows(); ++i) {
                const float value = a < numeric_gaps ? fraction() : level();
                gaps.push_back(stream.below(std::uint32_t{4}) == 0
                                   ? std::numeric_limits<float>::quiet_NaN()
                                   : value);
            }
        }
        for (std::size_t e = 0; e < (class_start.size() - 1) * n_gaps * rows(); ++e) {
            expected.push_back(fraction());
        }
    }

    [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(class_start.back()); }

    [[nodiscard]] ReliefTable table() const {
        const std::size_t n_gaps = n_numeric_gaps + n_nominal_gaps;
        return {{complete.data(), rows(), n_numeric + n_nominal},
                n_numeric,
                {gaps.data(), n_gaps, rows()},
                n_numeric_gaps,
                {expected.data(), (class_start.size() - 1) * n_gaps, rows()},
                class_start};
    }

    // diff(i, j, a), by its definition.
    [[nodiscard]] double difference(std::size_t i, std::size_t j, std::size_t a) const {
        const ReliefTable t = table();
        if (a >= t.complete.cols) {
            const std::size_t g = a - t.complete.cols;
            const double x = t.gaps(g, i), y = t.gaps(g, j);
            if (std::isnan(x)) {
                return t.expected(t.class_of(i) * t.gaps.rows + g, j);
            }
            if (std::isnan(y)) {
                return t.expected(t.class_of(j) * t.gaps.rows + g, i);
            }
            return g < n_numeric_gaps ? std::fabs(x - y) : x != y ? 1.0 : 0.0;
        }
        const double x = t.complete(i, a), y = t.complete(j, a);
        return a < n_numeric ? std::fabs(x - y) : x != y ? 1.0 : 0.0;
    }

    [[nodiscard]] double distance(std::size_t i, std::size_t j) const {
        double sum = 0;
        for (std::size_t a = 0; a < table().n_columns(); ++a) {
            sum += difference(i, j, a);
        }
        return sum;
    }
};

}  // namespace assay::features::testing

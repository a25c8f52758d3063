// Small tables for the tests of centroids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/common/distance.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/random.hpp"

namespace assay::cluster {

struct Table {
    std::size_t n;
    std::size_t d;
    std::vector<double> values;

    [[nodiscard]] MatrixView<const double> view() const { return {values.data(), n, d}; }
    [[nodiscard]] MatrixView<double> view() { return {values.data(), n, d}; }
};

// Normal values, or (`ties`) small integers, whose distances tie all the time.
inline Table random_table(std::size_t n, std::size_t d, std::uint64_t seed, bool ties = false) {
    RandomStream stream(seed, 0);
    Table table{n, d, std::vector<double>(n * d)};
    for (double& value : table.values) {
        value = ties ? static_cast<double>(stream.below(std::uint32_t{4})) : stream.normal();
    }
    return table;
}

struct Nearest {
    std::int32_t label;
    double best;
    double second;
};

inline Nearest brute_nearest(std::span<const double> row, MatrixView<const double> centres) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Nearest found{0, infinity, infinity};
    for (std::size_t c = 0; c < centres.rows; ++c) {
        const double squared = squared_distance<double>(row, centres.row(c));
        if (squared < found.best) {
            found = {static_cast<std::int32_t>(c), squared, found.best};
        } else if (squared < found.second) {
            found.second = squared;
        }
    }
    return found;
}

}  // namespace assay::cluster

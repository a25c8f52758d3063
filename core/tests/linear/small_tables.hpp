// Small random tables and sums by their definition, for the tests of least squares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/common/matrix_view.hpp"
#include "assay/common/random.hpp"

namespace small_tables {

template <class T>
std::vector<T> numbers(std::size_t count, std::uint64_t key, double centre = 0.0) {
    assay::RandomStream stream(11, key);
    std::vector<T> x(count);
    for (T& value : x) {
        value = static_cast<T>(centre + 2 * stream.uniform() - 1);
    }
    return x;
}

template <class T>
assay::MatrixView<const T> view(const std::vector<T>& x, std::size_t cols) {
    return {x.data(), x.size() / cols, cols};
}

}  // namespace small_tables

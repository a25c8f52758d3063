// Small random tables with classes, for the tests of projections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/common/matrix_view.hpp"
#include "assay/common/random.hpp"

namespace scatter_table {

template <class T>
std::vector<T> numbers(std::size_t count, std::uint64_t key, double centre = 0.0) {
    assay::RandomStream stream(17, key);
    std::vector<T> x(count);
    for (T& value : x) {
        value = static_cast<T>(centre + 2 * stream.uniform() - 1);
    }
    return x;
}

// Codes in an order that mixes the classes; every class occurs when n >= n_classes.
inline std::vector<std::int64_t> codes(std::size_t n, std::size_t n_classes) {
    std::vector<std::int64_t> out(n);
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = static_cast<std::int64_t>((i + i / 7) % n_classes);
    }
    for (std::size_t k = 0; k < n_classes && k < n; ++k) {
        out[k] = static_cast<std::int64_t>(k);
    }
    return out;
}

template <class T>
assay::MatrixView<const T> view(const std::vector<T>& x, std::size_t cols) {
    return {x.data(), x.size() / cols, cols};
}

// Means by their definition, in long double.
template <class T>
std::vector<double> means(const std::vector<T>& x, std::size_t d,
                          const std::vector<std::int64_t>& codes, const std::vector<double>& w,
                          std::size_t n_classes) {
    std::vector<long double> sum(n_classes * d, 0);
    std::vector<long double> total(n_classes, 0);
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const auto k = static_cast<std::size_t>(codes[i]);
        const long double weight = w.empty() ? 1.0L : static_cast<long double>(w[i]);
        total[k] += weight;
        for (std::size_t j = 0; j < d; ++j) {
            sum[k * d + j] += weight * static_cast<long double>(x[i * d + j]);
        }
    }
    std::vector<double> out(n_classes * d);
    for (std::size_t t = 0; t < out.size(); ++t) {
        out[t] = static_cast<double>(sum[t] / total[t / d]);
    }
    return out;
}

}  // namespace scatter_table

// The definition of nearest neighbours without any machinery, and tables to try it on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "assay/common/distance.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/random.hpp"

namespace definition {

struct Found {
    std::size_t rows;
    std::size_t k;
    std::vector<double> distance;
    std::vector<std::int64_t> index;

    Found(std::size_t n_rows, std::size_t n_neighbors)
        : rows(n_rows), k(n_neighbors), distance(n_rows * k), index(n_rows * k) {}
    [[nodiscard]] assay::MatrixView<double> distances() { return {distance.data(), rows, k}; }
    [[nodiscard]] assay::MatrixView<std::int64_t> indices() { return {index.data(), rows, k}; }
    bool operator==(const Found&) const = default;
};

// All distances, sorted by (distance, index).
template <class T>
Found sorted(assay::MatrixView<const T> queries, assay::MatrixView<const T> refs, std::size_t k,
             double p) {
    Found found(queries.rows, k);
    assay::with_metric(p, [&](auto metric) {
        for (std::size_t i = 0; i < queries.rows; ++i) {
            std::vector<std::pair<double, std::int64_t>> all;
            for (std::size_t r = 0; r < refs.rows; ++r) {
                const double sum = assay::reduced_distance(metric, queries.row(i), refs.row(r));
                all.emplace_back(metric.root(sum), static_cast<std::int64_t>(r));
            }
            std::sort(all.begin(), all.end());
            for (std::size_t t = 0; t < k; ++t) {
                found.distance[i * k + t] = all[t].first;
                found.index[i * k + t] = all[t].second;
            }
        }
    });
    return found;
}

enum class Kind { normal, offset, integers, duplicates, constant, tiny, huge, outliers, clusters };

inline constexpr Kind all_kinds[] = {Kind::normal,     Kind::offset,   Kind::integers,
                                     Kind::duplicates, Kind::constant, Kind::tiny,
                                     Kind::huge,       Kind::outliers, Kind::clusters};

template <class T>
std::vector<T> table(Kind kind, std::size_t rows, std::size_t d, std::uint64_t key) {
    assay::RandomStream stream(9, key);
    std::vector<T> values(rows * d);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t row = i / d;
        double x = stream.normal();
        switch (kind) {
            case Kind::normal:
                break;
            case Kind::offset:
                x += 1e7;
                break;
            case Kind::integers:
                x = std::floor(2 * x);
                break;
            case Kind::duplicates:
                x = static_cast<double>((row % 5 + 1) * (i % d + 1)) / 3;
                break;
            case Kind::constant:
                x = 0.1;
                break;
            case Kind::tiny:
                x *= sizeof(T) == 8 ? 1e-161 : 1e-44;
                break;
            case Kind::huge:
                x *= sizeof(T) == 8 ? 1e307 : 1e37;
                break;
            case Kind::outliers:
                x *= row % 40 == 0 ? 1e8 : 1;
                break;
            case Kind::clusters:
                x = static_cast<double>(row % 3) * 1e3 + x * 1e-6;
                break;
        }
        values[i] = static_cast<T>(x);
    }
    return values;
}

}  // namespace definition

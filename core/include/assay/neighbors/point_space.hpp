// Rows as points with a Minkowski distance: what the tree has to know of them.
//
// Cut     the column of widest spread (for large nodes that of a sample), in the middle.
// Box     the least and the largest value of each column.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "assay/common/distance.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/neighbors/tree_kernels.hpp"

namespace assay::neighbors {

// The rows of a node that a cut looks at: all of them, or evenly spread ones.
inline constexpr std::size_t cut_sample = 64;

[[nodiscard]] inline std::size_t sample_step(std::size_t rows) noexcept {
    return (rows + cut_sample - 1) / cut_sample;
}

template <class Metric>
struct PointSpace {
    using Query = PointQuery<Metric>;
    static constexpr bool has_candidates = true;

    // What a query needs to be asked for; one per thread.
    struct Asked {
        Query query;
    };

    Metric metric;
    std::size_t d;

    template <class T>
    [[nodiscard]] std::size_t cut_column(MatrixView<const T> rows,
                                         std::span<const std::uint32_t> items) const {
        const std::size_t step = sample_step(items.size());
        std::size_t best = 0;
        double widest = -1;
        constexpr std::size_t side = 4;  // columns side by side: a row is fetched once
        for (std::size_t j = 0; j < d; j += side) {
            const std::size_t n = std::min(side, d - j);
            std::array<T, side> low;
            std::array<T, side> high;
            for (std::size_t t = 0; t < side; ++t) {
                low[t] = high[t] = rows(items[0], j + std::min(t, n - 1));
            }
            for (std::size_t i = 0; i < items.size(); i += step) {
                const T* row = &rows(items[i], j);
                for (std::size_t t = 0; t < side; ++t) {
                    const T x = row[n == side ? t : std::min(t, n - 1)];
                    low[t] = x < low[t] ? x : low[t];
                    high[t] = x > high[t] ? x : high[t];
                }
            }
            for (std::size_t t = 0; t < n; ++t) {
                const double spread =
                    static_cast<double>(high[t]) / 2 - static_cast<double>(low[t]) / 2;
                if (spread > widest) {
                    widest = spread;
                    best = j + t;
                }
            }
        }
        return best;
    }

    [[nodiscard]] static double cut_key(double value) noexcept { return value; }

    // A box is 2 d numbers, `stride` apart.
    void open_box(double* box, std::size_t stride) const noexcept {
        for (std::size_t j = 0; j < d; ++j) {
            box[2 * j * stride] = std::numeric_limits<double>::infinity();
            box[(2 * j + 1) * stride] = -std::numeric_limits<double>::infinity();
        }
    }
    void add_to_box(double* box, std::size_t stride, std::size_t j, double value) const noexcept {
        double& low = box[2 * j * stride];
        double& high = box[(2 * j + 1) * stride];
        low = std::min(low, value);
        high = std::max(high, value);
    }
    void join_boxes(double* box, std::size_t stride, const double* other,
                    std::size_t other_stride) const noexcept {
        for (std::size_t j = 0; j < d; ++j) {
            add_to_box(box, stride, j, other[2 * j * other_stride]);
            add_to_box(box, stride, j, other[(2 * j + 1) * other_stride]);
        }
    }

    [[nodiscard]] Asked start() const { return {{metric, nullptr, d}}; }
    void ask(Asked& asked, const double* row) const noexcept { asked.query.values = row; }

    [[nodiscard]] double distance(double reduced) const noexcept { return metric.root(reduced); }
    // The largest S whose distance may come out as that of `reduced`, or less.
    [[nodiscard]] double widen(double reduced) const noexcept {
        return reduced * (1 + std::max(static_cast<double>(metric.root_slack), 0x1p-50));
    }
    // An S that no row within the radius has more of.
    [[nodiscard]] double reduce(double radius) const noexcept {
        return metric.term(radius) * (1 + 0x1p-30) + std::numeric_limits<double>::min();
    }
};

}  // namespace assay::neighbors

// The hot loops over rows of known classes (mixture_classes.hpp), once per CPU level.
//
//     add     sums of class codes[i] += w, w x and w x^2 of row i, column by column
//     joint   out_i += sum_j constant_j - curve_j (x_ij - mean_j)^2
//     run     log sum_i w_i e^(-((x - p_i) / h)^2 / 2), about the nearest point: finite for any x
//
// A missing value (NaN) adds nothing. Products and sums in `add` are exact to 106 bits: a pair of
// doubles each, by Dekker's product and Knuth's sum. Columns, or rows of a panel, are side by side
// in a vector and never mixed: the same bits at every level.
//
// Needs   codes in range; x and sums do not overlap.
// Cost    about 30 operations per value for add, 5 for joint; nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::cluster {

// Five arrays of n_classes x d numbers, one after the other.
struct ClassSums {
    static constexpr std::size_t parts = 5;  // count, one high and low, two high and low
};

template <class Level, class T>
struct ClassKernels {
    // Adds rows [0, rows) of d columns, `stride` apart, to the sums; weights may be null.
    static void add(const T* x, std::size_t stride, std::size_t d, std::size_t rows,
                    const std::int32_t* codes, const double* weights, double* sums,
                    std::size_t part_size) noexcept;
    // One class over a panel (mixture_panel.hpp): out += what its columns say.
    static void joint(const double* x, std::size_t d, const double* mean, const double* curve,
                      const double* constant, double* out) noexcept;
};

template <class Level>
struct KernelSum {
    // log sum_i w_i e^(-((x - p_i) scale)^2 / 2); count is a multiple of panel_lanes.
    static double run(const double* points, const double* weights, std::size_t count, double x,
                      double scale) noexcept;
};

}  // namespace assay::cluster

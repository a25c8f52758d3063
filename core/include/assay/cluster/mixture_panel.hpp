// The hot loops of a Gaussian mixture over a panel of 64 rows, once per CPU level.
//
// A panel holds one column after the other (x[j * panel_rows + i]), so that each operation works
// on eight rows at once. For a component with mean m and z = x - m:
//
//     dense      out = c - |z U|^2 / 2          U upper triangular, U U' = precision
//     diagonal   out = c - |z u|^2 / 2          element by element
//     share      norm = log sum_k e^f_k,  f_k := e^(f_k - norm) use      (rows with use = 0: none)
//     add_*      count += r,  first += r z,  second += r z z'  (diagonal: r z^2)
//
// Sums over rows run in eight lanes that the caller adds at the end, in pairs. `second` of a dense
// component is its lower triangle in blocks of 4 x 4 columns, `block_numbers` of them per block.
// Responsibilities below e^-690 are zero: products with them would be subnormal, and slow.
//
// Needs   buffers on any boundary; z and weighted: d * panel_rows numbers of scratch.
// Cost    about d^2 / 2 products per row for dense, and again for add_dense, without FMA: the same
//         bits at every level. Nothing is allocated.
#pragma once

#include <cstddef>

namespace assay::cluster {

inline constexpr std::size_t panel_rows = 64;
inline constexpr std::size_t panel_lanes = 8;
inline constexpr std::size_t block_side = 4;
inline constexpr std::size_t block_numbers = block_side * block_side * panel_lanes;

[[nodiscard]] constexpr std::size_t block_count(std::size_t d) noexcept {
    const std::size_t side = (d + block_side - 1) / block_side;
    return side * (side + 1) / 2;
}

// Where the lanes of the pair (a, b), b <= a, begin.
[[nodiscard]] constexpr std::size_t block_position(std::size_t a, std::size_t b) noexcept {
    const std::size_t p = a / block_side;
    const std::size_t q = b / block_side;
    return (p * (p + 1) / 2 + q) * block_numbers +
           ((a % block_side) * block_side + b % block_side) * panel_lanes;
}

template <class Level>
struct MixturePanel {
    static void dense(const double* x, std::size_t d, const double* mean, const double* factor,
                      double constant, double* z, double* out) noexcept;
    static void diagonal(const double* x, std::size_t d, const double* mean, const double* factor,
                         double constant, double* out) noexcept;
    static void share(double* f, std::size_t k, const double* use, double* norm) noexcept;
    static void add_dense(const double* x, std::size_t d, const double* mean, const double* r,
                          double* z, double* weighted, double* count, double* first,
                          double* second) noexcept;
    static void add_diagonal(const double* x, std::size_t d, const double* mean, const double* r,
                             double* count, double* first, double* second) noexcept;
};

}  // namespace assay::cluster

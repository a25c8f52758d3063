// One sweep of coordinate descent on products of columns, once per CPU level.
//
//     min_w  w'Gw / 2 - c'w + l1 |w|_1 + l2 |w|^2 / 2        w >= 0 if `positive`
//
// g = c - G w is kept up to date. Coordinate j goes to its exact minimum,
// soft(g_j + G_jj w_j, l1) / (G_jj + l2), and its column of G is taken from g.
//
// Needs   gram symmetric k x k; w and g of k values; l1, l2 >= 0. Coordinates with
//         G_jj + l2 = 0 stay as they are.
// Cost    k for each coordinate that changes. Element by element: the same bits at every level.
// Returns the largest change of w_j sqrt(G_jj + l2).
#pragma once

#include <cstddef>

namespace assay::linear {

template <class Level>
struct LeastSweep {
    static double run(const double* gram, std::size_t k, double l1, double l2, bool positive,
                      double* w, double* g) noexcept;
};

}  // namespace assay::linear

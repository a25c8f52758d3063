// The pass over a chunk of rows that k-means++ makes per seed (seed.hpp).
//
// Needs   home[i]: which seed is nearest to row i; keep[s]: a row of seed s with D below it
//         is nearer to s than to what is offered. Weights null or one per row.
// Cost    one comparison for a row that keeps its D, else O(t d).
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::cluster {

inline constexpr std::size_t seed_chunk = 1024;

template <class Level, class T>
struct SeedScan {
    // D = min(D, S(x, seed)); returns the sum of w D.
    static double take(const T* rows, std::size_t n, std::size_t d, const double* seed,
                       std::int32_t newest, const double* keep, double* nearest, std::int32_t* home,
                       const double* weight) noexcept;

    // The seed in lane 0 is taken, as above; costs[lane] = sum of w min(D, S(x, row in that lane)).
    static void costs(const T* rows, std::size_t n, std::size_t d, const double* panels,
                      std::size_t n_panels, std::int32_t newest, const double* keep,
                      double* nearest, std::int32_t* home, const double* weight,
                      double* costs) noexcept;
};

}  // namespace assay::cluster

// The nearest centre of each row: full scans, and scans that bounds make short.
//
//     nearest   label = argmin_c S(x, c), ties to the smallest c; S of the best and the second
//     renew     the same label after the centres moved, from the bounds of the last round:
//               1. u < max(l, s_a)           nothing can have changed (Hamerly)
//               2. the same with u = d(x, a)
//               3. only panels g with D(a, g) <= 2 u + 2 s_a are scanned (Exponion, by panels)
//     gaps      D(a, g) = least distance from centre a to another centre in panel g
//
// S is that of common/distance.hpp bit for bit, and `renew` gives the label of `nearest`, label
// for label (bounds.hpp); so every way, CPU level and number of threads gives the same result.
//
// Needs   rows of d values in place; panels of the centres (centroid_panels.hpp).
// Cost    O(k d) per row for `nearest`; O(1), O(d) or O(reached centres d) for `renew`.
// Source  Newling, Fleuret: Fast k-means with accurate bounds (ICML 2016), section 3.1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/cluster/centroid_panels.hpp"

namespace assay::cluster {

// Rows that one call of `renew` may be given at most.
inline constexpr std::size_t row_chunk = 512;

struct ScanTable {
    const double* panels;
    const std::int32_t* index;
    const std::int32_t* panel_of;
    const double* centres;  // row-major, for single distances
    std::size_t n_panels;
    std::size_t d;
};

struct ScanBounds {
    const double* shift;        // how far each centre moved at most
    const double* other_shift;  // how far any other centre moved at most
    const double* gap;          // at most the distance to the nearest other centre: 2 s
    const double* panel_gaps;   // D, k x n_panels
};

template <class Level, class T>
struct CentroidScan {
    // best and second: S, per row; second may be null.
    static void nearest(const T* rows, std::size_t n, const ScanTable& table, std::int32_t* label,
                        double* best, double* second) noexcept;

    // Updates labels and bounds; returns the number of rows that were scanned.
    static std::size_t renew(const T* rows, std::size_t n, const ScanTable& table,
                             const ScanBounds& bounds, std::int32_t* label, double* upper,
                             double* lower) noexcept;

    // S of each row to the centre it is labelled with.
    static void own(const T* rows, std::size_t n, const ScanTable& table, const std::int32_t* label,
                    double* squared) noexcept;

    // S of each row to every lane of every panel: n x (8 n_panels).
    static void all(const T* rows, std::size_t n, const ScanTable& table, double* squared) noexcept;
};

// For the k centres themselves; only float64 rows.
template <class Level>
struct CentroidGaps {
    static void run(const double* centres, std::size_t first, std::size_t last,
                    const ScanTable& table, double* gaps) noexcept;
};

}  // namespace assay::cluster

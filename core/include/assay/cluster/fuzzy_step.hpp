// Memberships of a chunk of rows in fuzzy clusters, and what the next centres need of them.
//
//     P_c(x) = 1 / sum_k (S_c / S_k)^(1 / (m - 1))  =  r_c / sum_k r_k,  r_c = (S_min / S_c)^(...)
//
// with S the squared distance (common/distance.hpp). A row on a centre (S_min = 0) belongs to it
// alone, to equal parts if there are several.
//
// Needs   panels of the centres (centroid_panels.hpp); m > 1; scratch for 2 x 8 n_panels numbers.
// Cost    O(k d) per row, and two powers per centre unless m = 2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "assay/cluster/centroid_scan.hpp"

namespace assay::cluster {

struct FuzzyRule {
    double m;
    bool literal;  // centres weighted by P instead of P^m
};

// Per lane of the panels: sum of w P^m (or w P), and of w P^m x in the layout of the panels.
struct FuzzySums {
    double* mass;
    double* moments;
    double objective;  // sum of w P^m S
};

template <class Level, class T>
struct FuzzyStep {
    static void gather(const T* rows, std::size_t n, const ScanTable& table, FuzzyRule rule,
                       const double* weight, double* scratch, FuzzySums& sums) noexcept;

    // 8 n_panels memberships per row, by lane; room for one row more than n.
    static void memberships(const T* rows, std::size_t n, const ScanTable& table, FuzzyRule rule,
                            double* out) noexcept;
};

}  // namespace assay::cluster

// The best split of a numeric column from its histogram of gradient words.
//
//     gain(t) = S(G_L)^2 / (H_L + lambda) + S(G_R)^2 / (H_R + lambda),   S(G) = sign(G)(|G| -
//     alpha)+
//
// for left = codes 0 .. t, with the missing rows on the right and, where the node has any,
// on the left; t = n_bins - 1 with the missing rows alone on the right is tried as well. The
// first of the largest gains is taken, missing on the right first.
//
// All numbers are in the units of the words (boost_loss.hpp): the sums are exact, so the
// same partition of rows has the same gain in every column, and ties are real.
//
// Needs   n_bins <= 256.
// Cost    O(bins); vectors of the processor's level (core/levels/tree/boost_scan.cpp).
// Source  Chen, Guestrin: XGBoost (KDD 2016), eq. 7 and algorithm 3.
#pragma once

#include <cstdint>

namespace assay::tree {

struct ScanInput {
    const std::int64_t* hist = nullptr;
    std::int32_t n_bins = 0;
    bool has_missing = false;  // the word of the missing rows is hist[n_bins]
    std::int64_t total = 0;
    int shift = 32;
    double lambda = 0;  // in units of the hessian
    double alpha = 0;   // in units of the gradient
    std::int64_t min_hessian = 1;
};

struct ScanBest {
    double gain = -1;  // nothing found: negative
    std::int32_t bin = -1;
    bool missing_left = false;
    std::int64_t left = 0;  // word of the left side, missing rows included
};

template <class Level>
struct BoostScan {
    static ScanBest run(const ScanInput& input) noexcept;
};

}  // namespace assay::tree

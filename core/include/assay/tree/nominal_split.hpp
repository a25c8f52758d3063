// The best bipartition of the levels of one nominal column in one node.
//
// The levels that occur in the node, with missing values as one more level, are parted:
//
//     two classes, one output    sorted by mean target, cut at the best place: exact
//                                (Breiman et al., theorem 4.5), unless that cut breaks a
//                                limit on the sides; then as follows
//     up to exhaustive_levels    all 2^(m-1) - 1 bipartitions in the order of the Gray
//                                code: one level changes sides per step
//     more levels, classes       sorted by the share of each class in turn, and by the
//                                first principal component of the table of shares
//     (or outputs)               (Coppersmith, Hong, Hosking 1999); the best cut of all
//                                these orders, a heuristic
//
// Levels that do not occur go where missing values go.
//
// Cost    O(m log m), O(2^m), or O(K m log m) scores for m levels and K classes.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/bins.hpp"
#include "assay/tree/split.hpp"

namespace assay::tree {

inline constexpr std::size_t exhaustive_levels = 10;

struct NominalScratch {
    std::vector<std::uint32_t> order;
    std::vector<double> key;
    std::vector<std::uint8_t> side;  // 1: left
    std::vector<std::uint8_t> best_side;
    std::vector<double> shares;
    std::vector<double> component;
};

namespace detail {

// Cuts `scratch.order` at its best place; `best_side` is written when that beats `best`.
template <class Scan, class Unit>
void best_cut_of_order(Scan& scan, const Cells<Unit>& cells, std::size_t n_rows,
                       const SideLimits& limits, NominalScratch& scratch, Best& best) {
    scan.clear();
    std::size_t left_rows = 0;
    bool better = false;
    for (std::size_t j = 0; j + 1 < cells.count; ++j) {
        scan.add(cells.cell(scratch.order[j]));
        left_rows += cells.rows[scratch.order[j]];
        if (sides_allowed(scan, left_rows, n_rows - left_rows, limits) &&
            scan.score() > best.score) {
            best.take(scan.score(), j, false);
            better = true;
        }
    }
    if (better) {
        std::fill_n(scratch.best_side.begin(), cells.count, std::uint8_t{0});
        for (std::size_t j = 0; j <= best.place; ++j) {
            scratch.best_side[scratch.order[j]] = 1;
        }
    }
}

// Whether the sides in `best_side` are allowed.
template <class Scan, class Unit>
[[nodiscard]] bool is_kept(Scan& scan, const Cells<Unit>& cells, std::size_t n_rows,
                           const SideLimits& limits, const NominalScratch& scratch) {
    scan.clear();
    std::size_t left_rows = 0;
    for (std::size_t j = 0; j < cells.count; ++j) {
        if (scratch.best_side[j] != 0) {
            scan.add(cells.cell(j));
            left_rows += cells.rows[j];
        }
    }
    return sides_allowed(scan, left_rows, n_rows - left_rows, limits);
}

inline void sort_by_key(NominalScratch& scratch, std::size_t count) {
    scratch.order.resize(std::max(scratch.order.size(), count));
    std::iota(scratch.order.begin(), scratch.order.begin() + static_cast<std::ptrdiff_t>(count),
              0U);
    std::sort(scratch.order.begin(), scratch.order.begin() + static_cast<std::ptrdiff_t>(count),
              [&](std::uint32_t a, std::uint32_t b) {
                  return scratch.key[a] < scratch.key[b] ||
                         (scratch.key[a] == scratch.key[b] && a < b);
              });
}

// Level 0 stays on the left; bit j of the Gray code says that level j + 1 is there too.
template <class Scan, class Unit>
void best_of_all(Scan& scan, const Cells<Unit>& cells, std::size_t n_rows, const SideLimits& limits,
                 NominalScratch& scratch, Best& best) {
    assert(cells.count >= 2 && cells.count <= exhaustive_levels);
    scan.clear();
    scan.add(cells.cell(0));
    std::size_t left_rows = cells.rows[0];
    std::uint32_t code = 0;
    std::uint32_t best_code = 0;
    const std::uint32_t full = (1U << (cells.count - 1)) - 1;
    for (std::uint32_t step = 0;; ++step) {
        if (code != full && sides_allowed(scan, left_rows, n_rows - left_rows, limits) &&
            scan.score() > best.score) {
            best.take(scan.score(), 0, false);
            best_code = code;
        }
        if (step == full) {
            break;
        }
        const auto changed = static_cast<std::size_t>(__builtin_ctz(step + 1));
        code ^= 1U << changed;
        if ((code >> changed & 1U) != 0) {
            scan.add(cells.cell(changed + 1));
            left_rows += cells.rows[changed + 1];
        } else {
            scan.remove(cells.cell(changed + 1));
            left_rows -= cells.rows[changed + 1];
        }
    }
    scratch.best_side[0] = 1;
    for (std::size_t j = 1; j < cells.count; ++j) {
        scratch.best_side[j] = static_cast<std::uint8_t>(best_code >> (j - 1) & 1U);
    }
}

// First principal component of the levels' shares, weighted by their rows: power method.
inline void first_component(std::size_t count, std::size_t width,
                            const std::vector<std::uint32_t>& rows, NominalScratch& scratch) {
    std::vector<double>& shares = scratch.shares;
    double n = 0;
    scratch.component.assign(3 * width, 0.0);
    double* mean = scratch.component.data();
    double* direction = mean + width;
    double* next = direction + width;
    for (std::size_t j = 0; j < count; ++j) {
        n += rows[j];
        for (std::size_t k = 0; k < width; ++k) {
            mean[k] += rows[j] * shares[j * width + k];
        }
    }
    for (std::size_t j = 0; j < count; ++j) {
        for (std::size_t k = 0; k < width; ++k) {
            shares[j * width + k] -= mean[k] / n;
        }
    }
    for (std::size_t k = 0; k < width; ++k) {
        direction[k] = 1 / (1 + static_cast<double>(k));
    }
    constexpr int rounds = 20;
    for (int round = 0; round < rounds; ++round) {
        std::fill(next, next + width, 0.0);
        for (std::size_t j = 0; j < count; ++j) {
            double along = 0;
            for (std::size_t k = 0; k < width; ++k) {
                along += shares[j * width + k] * direction[k];
            }
            scratch.key[j] = along;
            for (std::size_t k = 0; k < width; ++k) {
                next[k] += rows[j] * along * shares[j * width + k];
            }
        }
        double norm = 0;
        for (std::size_t k = 0; k < width; ++k) {
            norm += next[k] * next[k];
        }
        if (!(norm > 0)) {
            return;
        }
        for (std::size_t k = 0; k < width; ++k) {
            direction[k] = next[k] / std::sqrt(norm);
        }
    }
}

}  // namespace detail

// Sides of the cells in scratch.best_side; found in the result.
template <class Target>
[[nodiscard]] Best best_bipartition(const Target& target, typename Target::Scan& scan,
                                    const Cells<typename Target::Unit>& cells, std::size_t n_rows,
                                    const SideLimits& limits, NominalScratch& scratch) {
    Best best;
    const std::size_t m = cells.count;
    scratch.best_side.resize(std::max(scratch.best_side.size(), m));
    scratch.key.resize(std::max(scratch.key.size(), m));
    if (target.is_ordered()) {
        for (std::size_t j = 0; j < m; ++j) {
            scratch.key[j] = target.mean_of(cells.cell(j));
        }
        detail::sort_by_key(scratch, m);
        // The theorem knows no limits: the best cut of all counts only where it keeps them.
        detail::best_cut_of_order(scan, cells, n_rows, SideLimits{}, scratch, best);
        if (limits.are_free() || detail::is_kept(scan, cells, n_rows, limits, scratch)) {
            return best;
        }
        best = Best{};
        if (m > exhaustive_levels) {
            detail::best_cut_of_order(scan, cells, n_rows, limits, scratch, best);
            return best;
        }
    }
    if (m <= exhaustive_levels) {
        detail::best_of_all(scan, cells, n_rows, limits, scratch, best);
        return best;
    }
    const std::size_t width = target.n_outputs();
    scratch.shares.resize(m * width);
    for (std::size_t j = 0; j < m; ++j) {
        target.shares(cells.cell(j), scratch.shares.data() + j * width);
    }
    for (std::size_t k = 0; k < width; ++k) {
        for (std::size_t j = 0; j < m; ++j) {
            scratch.key[j] = scratch.shares[j * width + k];
        }
        detail::sort_by_key(scratch, m);
        detail::best_cut_of_order(scan, cells, n_rows, limits, scratch, best);
    }
    detail::first_component(m, width, cells.rows, scratch);
    detail::sort_by_key(scratch, m);
    detail::best_cut_of_order(scan, cells, n_rows, limits, scratch, best);
    return best;
}

// Levels in one of two orders, by a coin: that of their codes, which often means something, or that
// of a class's share (of an output's mean), drawn. How many of the first ones go left is drawn,
// too. A bipartition drawn from all of them would say little: most are alike.
template <class Target>
[[nodiscard]] std::size_t random_order(const Target& target, const typename Target::Unit* total,
                                       const typename Target::Unit* cells, std::size_t count,
                                       RandomStream& stream, NominalScratch& scratch) {
    assert(count >= 2);
    const std::size_t width = target.width();
    scratch.key.resize(std::max(scratch.key.size(), count));
    if (stream() >> 31 != 0) {
        const std::size_t n_keys = target.n_keys(total);
        const std::size_t which = n_keys > 1 ? stream.below(static_cast<std::uint32_t>(n_keys)) : 0;
        for (std::size_t j = 0; j < count; ++j) {
            scratch.key[j] = target.key(total, cells + j * width, which);
        }
    } else {
        std::iota(scratch.key.begin(), scratch.key.begin() + static_cast<std::ptrdiff_t>(count),
                  0.0);
    }
    detail::sort_by_key(scratch, count);
    return 1 + stream.below(static_cast<std::uint32_t>(count - 1));
}

// The sides of a random order in scratch.best_side.
template <class Target>
[[nodiscard]] Best random_bipartition(const Target& target, typename Target::Scan& scan,
                                      const typename Target::Unit* total,
                                      const Cells<typename Target::Unit>& cells, std::size_t n_rows,
                                      const SideLimits& limits, RandomStream& stream,
                                      NominalScratch& scratch) {
    Best best;
    const std::size_t m = cells.count;
    const std::size_t n_left = random_order(target, total, cells.cell(0), m, stream, scratch);
    scratch.best_side.assign(std::max(scratch.best_side.size(), m), 0);
    scan.clear();
    std::size_t left_rows = 0;
    for (std::size_t i = 0; i < n_left; ++i) {
        const std::size_t j = scratch.order[i];
        scratch.best_side[j] = 1;
        scan.add(cells.cell(j));
        left_rows += cells.rows[j];
    }
    if (sides_allowed(scan, left_rows, n_rows - left_rows, limits)) {
        best.take(scan.score(), 0, false);
    }
    return best;
}

// Appends the levels that go left to `words`, bit by bit (nodes.hpp); a level that is in no row
// of the node goes with missing values.
template <class Code>
void add_level_words(const BinnedView<Code>& bins, std::size_t f,
                     std::span<const std::int32_t> left_bins,
                     std::span<const std::int32_t> right_bins, bool missing_left,
                     std::vector<std::uint8_t>& scratch, std::vector<std::uint32_t>& words) {
    const auto first = static_cast<std::size_t>(bins.level_start[f]);
    const auto n_levels = static_cast<std::size_t>(bins.level_start[f + 1]) - first;
    const std::size_t at = words.size();
    words.resize(at + (n_levels + 31) / 32);
    // The default first, then the bins that occur.
    scratch.assign(static_cast<std::size_t>(bins.n_bins[f]) + 1, missing_left ? 1 : 0);
    for (const std::int32_t b : left_bins) {
        assert(b >= 0 && b < bins.n_bins[f]);
        scratch[static_cast<std::size_t>(b)] = 1;
    }
    for (const std::int32_t b : right_bins) {
        scratch[static_cast<std::size_t>(b)] = 0;
    }
    for (std::size_t level = 0; level < n_levels; ++level) {
        const std::int32_t bin = bins.level_bin[first + level];
        const bool has_bin = bin >= 0 && bin < bins.n_bins[f];
        if (has_bin ? scratch[static_cast<std::size_t>(bin)] != 0 : missing_left) {
            words[at + level / 32] |= 1U << (level % 32);
        }
    }
}

}  // namespace assay::tree

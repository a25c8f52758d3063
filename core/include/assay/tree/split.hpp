// The best cut of one numeric column in one node.
//
// Every place between two neighbouring bins that occur in the node is a candidate. Where
// the node has missing values, each cut is tried with them on the right and on the left,
// and "has a value" against "is missing" is one more candidate. Larger scores win; ties go
// to the lowest column (in a forest: to a random one), then to the lowest cut, then to
// missing values on the right.
//
// Cost    O(bins that occur) scores.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/bootstrap.hpp"
#include "assay/tree/criterion.hpp"
#include "assay/tree/cut_guide.hpp"
#include "assay/tree/histogram.hpp"

namespace assay::tree {

// What both sides of a split must have.
struct SideLimits {
    std::size_t min_rows = 1;
    double min_weight = 0;
    int monotone = 0;  // -1, 0, 1: values of left and right, both within [low, high]
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();

    // Any side with a row is allowed.
    [[nodiscard]] bool are_free() const noexcept {
        return min_rows <= 1 && min_weight <= 0 && monotone == 0;
    }
};

struct Split {
    double score = -std::numeric_limits<double>::infinity();
    std::int32_t feature = -1;
    bool nominal = false;
    bool missing_left = false;
    bool has_missing = false;       // in this node
    std::int32_t last_left = 0;     // numeric: bins up to this one go left
    std::int32_t first_right = -1;  // the next bin in the node, where it is known
    bool knows_left = false;        // sums of the left side are known
    bool is_drawn = false;          // a random cut; its threshold is not yet settled
    double drawn = 0;
    double threshold = 0;                 // numeric
    std::vector<std::int32_t> left_bins;  // nominal; missing values are not among them
    std::vector<std::int32_t> right_bins;
    std::uint64_t tie_key = 0;  // 0: equal scores go to the lowest column, else to a random one

    [[nodiscard]] bool found() const noexcept { return feature >= 0; }
    [[nodiscard]] bool loses_to(double other, std::int32_t column) const noexcept {
        return other > score || (other == score && place_of(column) < place_of(feature));
    }

  private:
    // Place of a column in the order in which ties are broken, whatever the order of reading.
    [[nodiscard]] std::uint64_t place_of(std::int32_t column) const noexcept {
        const auto number = static_cast<std::uint64_t>(column);
        return tie_key == 0 ? number : mixed(tie_key ^ number);
    }
};

// The best candidate of one column so far.
struct Best {
    double score = -std::numeric_limits<double>::infinity();
    std::size_t place = 0;
    bool missing_left = false;
    bool found = false;

    void take(double value, std::size_t at, bool missing) noexcept {
        score = value;
        place = at;
        missing_left = missing;
        found = true;
    }
};

template <class Scan>
[[nodiscard]] bool sides_allowed(const Scan& scan, std::size_t left_rows, std::size_t right_rows,
                                 const SideLimits& limits) noexcept {
    if (left_rows < limits.min_rows || right_rows < limits.min_rows ||
        scan.left_weight() < limits.min_weight || scan.right_weight() < limits.min_weight) {
        return false;
    }
    if (limits.monotone == 0) {
        return true;
    }
    const double left = scan.left_value();
    const double right = scan.right_value();
    return left >= limits.low && left <= limits.high && right >= limits.low &&
           right <= limits.high && (left - right) * limits.monotone <= 0;
}

// Cuts after cell j of the values, j ascending. `n_rows` of the node.
template <class Scan, class Unit>
[[nodiscard]] Best best_cut(Scan& scan, const Cells<Unit>& cells, std::size_t n_rows,
                            const SideLimits& limits) {
    assert(cells.count >= 1);
    Best best;
    const bool free = limits.are_free();
    const std::size_t n_values = cells.n_values();
    const std::size_t missing = cells.count - n_values;
    for (std::size_t pass = 0; pass <= missing; ++pass) {
        scan.clear();
        std::size_t left_rows = 0;
        if (pass == 1) {
            scan.add(cells.cell(n_values));
            left_rows = cells.rows[n_values];
        }
        // With missing values on the right the last cut leaves them alone there.
        const std::size_t stop = pass == 0 ? cells.count - 1 : n_values - 1;
        for (std::size_t j = 0; j < stop; ++j) {
            scan.add(cells.cell(j));
            left_rows += cells.rows[j];
            if (free || sides_allowed(scan, left_rows, n_rows - left_rows, limits)) {
                const double score = scan.score();
                if (score > best.score || (pass == 1 && score == best.score && j < best.place)) {
                    best.take(score, j, pass == 1);
                }
            }
        }
        if (n_values == 0) {
            break;
        }
    }
    return best;
}

// The same from rows in order and without missing values: `place` is a row, the cut is behind it.
// `entries` is what the elements number, a pointer or anything else with [].
template <class Scan, class Item, class Entries>
[[nodiscard]] Best best_sorted_cut(Scan& scan, std::span<const Item> run, Entries entries,
                                   const SideLimits& limits) noexcept {
    Best best;
    const bool free = limits.are_free();
    scan.clear();
    for (std::size_t i = 0; i + 1 < run.size(); ++i) {
        scan.add_entry(entries[element_row(run[i])]);
        if (element_code(run[i]) != element_code(run[i + 1]) &&
            (free || sides_allowed(scan, i + 1, run.size() - i - 1, limits))) {
            const double score = scan.score();
            if (score > best.score) {
                best.take(score, i, false);
            }
        }
    }
    return best;
}

// Extra-trees: a cut drawn uniformly between the smallest and the largest value in a node,
// which lie in the bins first < last. Bins go left as a whole, by their middle; where bins have
// one value `threshold` is the number drawn, else it may move to the nearer end of a bin.
struct RandomCut {
    std::int32_t last_left = 0;
    double drawn = 0;
};

// Uniform on [0, 1): 32 bits are enough for a cut.
[[nodiscard]] constexpr double random_share(RandomStream& stream) noexcept {
    return stream() * 0x1p-32;
}

[[nodiscard]] inline RandomCut random_cut(const CutGuide& guide, std::size_t f, std::int32_t first,
                                          std::int32_t last, double share) noexcept {
    const double drawn = guide.lower(f)[first] * (1 - share) + guide.upper(f)[last] * share;
    return {guide.bin_below(f, first, last, drawn), drawn};
}

// The threshold of a random cut.
template <class Code>
[[nodiscard]] double settled(const BinnedView<Code>& bins, const CutGuide& guide, std::size_t f,
                             const RandomCut& cut) noexcept {
    const bool is_between =
        cut.drawn >= guide.upper(f)[cut.last_left] && cut.drawn < guide.lower(f)[cut.last_left + 1];
    return is_between ? cut.drawn : bins.threshold(f, cut.last_left, cut.last_left + 1);
}

// The same from the cells of a column. Missing values go with the greater part of the others, as if
// they were a value in their midst: to try both sides would favour columns that have them, and a
// side drawn for every cut would scatter them.
template <class Code, class Scan, class Unit>
[[nodiscard]] Best drawn_cut(const BinnedView<Code>& bins, const CutGuide& guide, std::size_t f,
                             Scan& scan, const Cells<Unit>& cells, std::size_t n_rows,
                             const SideLimits& limits, RandomStream& stream, double& threshold) {
    const std::size_t n_values = cells.n_values();
    if (n_values == 1) {
        return best_cut(scan, cells, n_rows, limits);
    }
    const RandomCut cut =
        random_cut(guide, f, cells.bin[0], cells.bin[n_values - 1], random_share(stream));
    threshold = settled(bins, guide, f, cut);
    scan.clear();
    std::size_t left_rows = 0;
    std::size_t j = 0;
    assert(cells.bin[0] <= cut.last_left && cut.last_left < cells.bin[n_values - 1]);
    for (; cells.bin[j] <= cut.last_left; ++j) {
        scan.add(cells.cell(j));
        left_rows += cells.rows[j];
    }
    const std::size_t n_missing = cells.has_missing ? cells.rows[n_values] : 0;
    const bool missing_left = n_missing > 0 && left_rows > n_rows - n_missing - left_rows;
    if (missing_left) {
        scan.add(cells.cell(n_values));
        left_rows += n_missing;
    }
    Best best;
    if (sides_allowed(scan, left_rows, n_rows - left_rows, limits)) {
        best.take(scan.score(), j - 1, missing_left);
    }
    return best;
}

}  // namespace assay::tree

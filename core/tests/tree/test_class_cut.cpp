#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/class_cut.hpp"
#include "assay/tree/criterion.hpp"

using namespace assay::tree;
using assay::RandomStream;

namespace {

struct Counts {
    std::size_t lanes;
    std::vector<std::int16_t> cells;
    std::vector<std::int16_t> total;
};

// The definition: every cut between two bins that occur, the first of the best.
ClassCut brute_force(const Counts& given, std::size_t n_bins, std::size_t n_classes,
                     double min_weight) {
    using Target = ClassTarget<Criterion::gini, std::uint32_t>;
    const Target target({}, n_classes);
    const std::vector<std::uint32_t> total(
        given.total.begin(), given.total.begin() + static_cast<std::ptrdiff_t>(n_classes));
    std::vector<std::uint32_t> scratch(target.scratch_size());
    Target::Scan scan(target, total.data(), scratch.data());
    ClassCut best;
    bool is_next = false;
    for (std::size_t b = 0; b < n_bins; ++b) {
        const std::int16_t* cell = given.cells.data() + b * given.lanes;
        const std::vector<std::uint32_t> counts(cell, cell + n_classes);
        if (std::all_of(counts.begin(), counts.end(), [](std::uint32_t c) { return c == 0; })) {
            continue;
        }
        if (is_next) {
            best.first_right = static_cast<std::int32_t>(b);
            is_next = false;
        }
        scan.add(counts.data());
        if (scan.right_weight() > 0 && scan.left_weight() >= min_weight &&
            scan.right_weight() >= min_weight && scan.score() > best.score) {
            best = {scan.score(), static_cast<std::int32_t>(b), -1};
            is_next = true;
        }
    }
    return best;
}

Counts random_counts(std::size_t n_bins, std::size_t n_classes, std::uint32_t rows,
                     std::uint32_t most_weight, RandomStream& stream) {
    Counts out;
    out.lanes = class_lanes(n_classes);
    out.cells.assign(n_bins * out.lanes, 0);
    out.total.assign(out.lanes, 0);
    for (std::uint32_t i = 0; i < rows; ++i) {
        const std::size_t b = stream.below(static_cast<std::uint32_t>(n_bins));
        const std::size_t k = stream.below(static_cast<std::uint32_t>(n_classes));
        const auto w = static_cast<std::int16_t>(1 + stream.below(most_weight));
        out.cells[b * out.lanes + k] = static_cast<std::int16_t>(out.cells[b * out.lanes + k] + w);
        out.total[k] = static_cast<std::int16_t>(out.total[k] + w);
    }
    return out;
}

void check_same(const Counts& given, std::size_t n_bins, std::size_t n_classes, double min_weight) {
    const ClassCut want = brute_force(given, n_bins, n_classes, min_weight);
    const ClassCut found = assay::dispatch([&](auto level) {
        return ClassCutSearch<decltype(level)>::dense(given.cells.data(), n_bins, given.lanes,
                                                      given.total.data(), min_weight);
    });
    CHECK(found.score == want.score);
    CHECK(found.last_left == want.last_left);
    CHECK(found.first_right == want.first_right);
}

}  // namespace

TEST_CASE("room for the classes of a bin") {
    CHECK(class_lanes(2) == 8);
    CHECK(class_lanes(8) == 8);
    CHECK(class_lanes(9) == 16);
    CHECK(class_lanes(26) == 32);
    CHECK(class_lanes(64) == 64);
    CHECK(class_lanes(65) == 0);
}

TEST_CASE("the best cut for classes is that of brute force, with the same bits") {
    RandomStream stream(7, 1);
    for (const std::size_t n_classes : {2, 3, 8, 9, 16, 26, 40, 64}) {
        for (const std::size_t n_bins : {1, 2, 5, 17, 255}) {
            for (const std::uint32_t rows : {1U, 2U, 9U, 60U, 400U}) {
                for (const double min_weight : {0.0, 1.0, 7.0}) {
                    check_same(random_counts(n_bins, n_classes, rows, 5, stream), n_bins, n_classes,
                               min_weight);
                }
            }
        }
    }
}

TEST_CASE("the heaviest node that is allowed has no overflow") {
    Counts one;
    one.lanes = 8;
    one.cells.assign(3 * 8, 0);
    one.total.assign(8, 0);
    one.cells[0] = 32760;  // one class has nearly all
    one.cells[8 + 1] = 3;
    one.cells[16 + 2] = 4;
    one.total = {32760, 3, 4, 0, 0, 0, 0, 0};
    check_same(one, 3, 3, 0.0);
    RandomStream stream(3, 2);
    check_same(random_counts(200, 5, 6000, 5, stream), 200, 5, 100.0);
}

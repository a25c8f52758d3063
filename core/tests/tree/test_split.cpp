#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "assay/tree/split.hpp"
#include "toy_table.hpp"

using namespace assay::tree;
using assay::RandomStream;

namespace {

using Target = ClassTarget<Criterion::gini, std::uint32_t>;

struct Problem {
    ToyTable<std::uint8_t> table;
    std::vector<std::int32_t> y;
    std::vector<Target::Entry> entries;
    std::vector<std::uint32_t> total;

    Problem(std::size_t n, std::int32_t n_bins, bool missing, RandomStream& stream)
        : table(n, 1), y(n), total(3) {
        table.add_column(stream, n_bins, false, missing);
        for (auto& label : y) {
            label = static_cast<std::int32_t>(stream.below(3U));
        }
        const Target target(y, 3);
        for (std::size_t i = 0; i < n; ++i) {
            entries.push_back(target.entry(i, 1));
            target.add(total.data(), entries[i]);
        }
    }
};

// Every cut with missing values on both sides, from its definition.
double brute_force(const Problem& p, const SideLimits& limits) {
    const Target target(p.y, 3);
    double best = -1;
    std::vector<typename Target::Number> scratch(target.scratch_size());
    const std::int32_t missing = p.table.n_bins[0];
    for (std::int32_t cut = 0; cut < missing; ++cut) {
        for (const bool missing_left : {false, true}) {
            Target::Scan scan(target, p.total.data(), scratch.data());
            std::size_t rows = 0;
            for (const auto& e : p.entries) {
                const std::int32_t code = p.table.codes[e.row];
                if (code == missing ? missing_left : code <= cut) {
                    scan.add_entry(e);
                    ++rows;
                }
            }
            if (rows > 0 && rows < p.entries.size() &&
                sides_allowed(scan, rows, p.entries.size() - rows, limits)) {
                best = std::max(best, scan.score());
            }
        }
    }
    return best;
}

}  // namespace

TEST_CASE("the best cut equals brute force, with and without missing values") {
    RandomStream stream(1, 0);
    for (int round = 0; round < 200; ++round) {
        const std::size_t n = 2 + stream.below(60U);
        const Problem p(n, 1 + static_cast<std::int32_t>(stream.below(20U)), round % 2 == 0,
                        stream);
        const Target target(p.y, 3);
        SideLimits limits;
        limits.min_rows = 1 + stream.below(4U);
        HistogramScratch<std::uint32_t> scratch;
        Cells<std::uint32_t> cells;
        const auto bins = p.table.view();
        const std::span<const Target::Entry> entries(p.entries);
        collect_cells(bins, 0, target, entries, scratch, cells);
        std::vector<typename Target::Number> numbers(target.scratch_size());
        Target::Scan scan(target, p.total.data(), numbers.data());
        const Best best = best_cut(scan, cells, n, limits);
        const double expected = brute_force(p, limits);
        CHECK((best.found ? best.score : -1) == doctest::Approx(expected));
        if (!cells.has_missing) {
            const auto run =
                sorted_rows(bins.codes, p.table.n_bins[0], entries, scratch.sorted, scratch.spare);
            const Best same = best_sorted_cut(scan, run, p.entries.data(), limits);
            CHECK(same.found == best.found);
            if (best.found) {
                CHECK(same.score == best.score);
                CHECK(element_code(run[same.place]) == cells.bin[best.place]);
            }
        }
    }
}

TEST_CASE("equal cuts go to the lowest") {
    // Classes 0 1 1 0: the cuts after the first and after the third row are equal.
    RandomStream stream(1, 0);
    Problem p(4, 4, false, stream);
    p.y = {0, 1, 1, 0};
    p.table.codes = {0, 1, 2, 3};
    const Target target(p.y, 3);
    p.total = {2, 2, 0};
    for (std::size_t i = 0; i < 4; ++i) {
        p.entries[i] = target.entry(i, 1);
    }
    HistogramScratch<std::uint32_t> scratch;
    Cells<std::uint32_t> cells;
    collect_cells(p.table.view(), 0, target, std::span<const Target::Entry>(p.entries), scratch,
                  cells);
    std::vector<typename Target::Number> numbers(target.scratch_size());
    Target::Scan scan(target, p.total.data(), numbers.data());
    CHECK(best_cut(scan, cells, 4, SideLimits{}).place == 0);
}

TEST_CASE("a random cut lies between the extremes and keeps bins whole") {
    RandomStream stream(2, 0);
    ToyTable<std::uint8_t> table(1, 1);
    table.add_column(stream, 40, false, false);
    std::vector<double> upper = table.lower;
    for (std::size_t b = 0; b < 40; ++b) {
        upper[b] += b % 3 == 0 ? 0.7 : 0;  // some bins are ranges
    }
    auto bins = table.view();
    bins.upper = upper;
    const CutGuide guide(bins);
    for (int round = 0; round < 2000; ++round) {
        const auto first = static_cast<std::int32_t>(stream.below(39U));
        const auto last =
            first + 1 +
            static_cast<std::int32_t>(stream.below(static_cast<std::uint32_t>(39 - first)));
        const RandomCut cut = random_cut(guide, 0, first, last, stream.uniform());
        CHECK(cut.last_left >= first);
        CHECK(cut.last_left < last);
        const double threshold = settled(bins, guide, 0, cut);
        CHECK(threshold >= upper[static_cast<std::size_t>(cut.last_left)]);
        CHECK(threshold < table.lower[static_cast<std::size_t>(cut.last_left) + 1]);
    }
}

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/nominal_split.hpp"

using namespace assay::tree;
using assay::RandomStream;

namespace {

// The best score of all bipartitions, one by one from scratch.
template <class Target>
double brute_force(const Target& target, const std::vector<typename Target::Unit>& total,
                   const Cells<typename Target::Unit>& cells, std::size_t n_rows,
                   const SideLimits& limits) {
    double best = -std::numeric_limits<double>::infinity();
    std::vector<typename Target::Number> scratch(target.scratch_size());
    for (std::uint32_t set = 1; set + 1 < 1U << cells.count; ++set) {
        typename Target::Scan scan(target, total.data(), scratch.data());
        scan.clear();
        std::size_t rows = 0;
        for (std::size_t j = 0; j < cells.count; ++j) {
            if ((set >> j & 1U) != 0) {
                scan.add(cells.cell(j));
                rows += cells.rows[j];
            }
        }
        if (sides_allowed(scan, rows, n_rows - rows, limits)) {
            best = std::max(best, scan.score());
        }
    }
    return best;
}

// Random levels; every level has a row.
template <class Target>
void fill(const Target& target, std::size_t n_levels, std::size_t n_rows, RandomStream& stream,
          Cells<typename Target::Unit>& cells, std::vector<typename Target::Unit>& total) {
    using Unit = typename Target::Unit;
    cells.start(target.width(), n_levels);
    cells.count = n_levels;
    std::fill(cells.units.begin(), cells.units.end(), Unit{});
    std::fill(cells.rows.begin(), cells.rows.end(), 0U);
    total.assign(target.width(), Unit{});
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::size_t level = i < n_levels ? i : stream.below(std::uint64_t{n_levels});
        const auto e = target.entry(i, 1 + stream.below(3U));
        cells.bin[level] = static_cast<std::int32_t>(level);
        ++cells.rows[level];
        target.add(cells.units.data() + level * target.width(), e);
        target.add(total.data(), e);
    }
}

template <class Target>
void check_exact(const Target& target, std::size_t n_rows, RandomStream& stream,
                 std::size_t most_levels) {
    Cells<typename Target::Unit> cells;
    std::vector<typename Target::Unit> total;
    std::vector<typename Target::Number> scratch(target.scratch_size());
    NominalScratch nominal;
    for (std::size_t m = 2; m <= most_levels; ++m) {
        fill(target, m, n_rows, stream, cells, total);
        typename Target::Scan scan(target, total.data(), scratch.data());
        const SideLimits limits;
        const Best best = best_bipartition(target, scan, cells, n_rows, limits, nominal);
        REQUIRE(best.found);
        CHECK(best.score == doctest::Approx(brute_force(target, total, cells, n_rows, limits)));
        // The sides named give the score claimed.
        scan.clear();
        for (std::size_t j = 0; j < m; ++j) {
            if (nominal.best_side[j] != 0) {
                scan.add(cells.cell(j));
            }
        }
        CHECK(scan.score() == doctest::Approx(best.score));
    }
}

std::vector<std::int32_t> labels(RandomStream& stream, std::size_t n, std::uint32_t n_classes) {
    std::vector<std::int32_t> y(n);
    for (auto& label : y) {
        label = static_cast<std::int32_t>(stream.below(n_classes));
    }
    return y;
}

}  // namespace

TEST_CASE("bipartitions for two classes equal brute force") {
    RandomStream stream(1, 0);
    for (int round = 0; round < 20; ++round) {
        const auto y = labels(stream, 60, 2);
        check_exact(BinaryTarget(y), y.size(), stream, 12);
        for (const Criterion criterion : {Criterion::entropy, Criterion::error}) {
            check_exact(ClassTarget<Criterion::at_run_time, std::uint32_t>(criterion, y, 2),
                        y.size(), stream, 10);
        }
    }
}

TEST_CASE("bipartitions for more classes equal brute force up to the stated levels") {
    RandomStream stream(2, 0);
    for (int round = 0; round < 5; ++round) {
        const auto y = labels(stream, 80, 4);
        for (const Criterion criterion : {Criterion::gini, Criterion::entropy, Criterion::error}) {
            check_exact(ClassTarget<Criterion::at_run_time, std::uint32_t>(criterion, y, 4),
                        y.size(), stream, exhaustive_levels);
            check_exact(ClassTarget<Criterion::at_run_time, double>(criterion, y, 4), y.size(),
                        stream, 6);
        }
    }
}

TEST_CASE("bipartitions for regression equal brute force") {
    RandomStream stream(3, 0);
    const std::vector<double> offset = {0, 0};
    for (int round = 0; round < 10; ++round) {
        std::vector<double> y(70);
        for (double& value : y) {
            value = stream.uniform() * 5;
        }
        for (const Criterion criterion :
             {Criterion::squared_error, Criterion::friedman_mse, Criterion::poisson}) {
            check_exact(MeanTarget<1>(criterion, y, 1, offset), y.size(), stream, 12);
        }
        check_exact(MeanTarget<0>(Criterion::squared_error, y, 2, offset), y.size() / 2, stream,
                    exhaustive_levels);
    }
}

TEST_CASE("the heuristic for many levels comes near the best bipartition") {
    RandomStream stream(4, 0);
    double found = 0;
    double possible = 0;
    for (int round = 0; round < 20; ++round) {
        const auto y = labels(stream, 150, 3);
        const ClassTarget<Criterion::gini, std::uint32_t> target(y, 3);
        Cells<std::uint32_t> cells;
        std::vector<std::uint32_t> total;
        fill(target, 13, y.size(), stream, cells, total);
        std::vector<std::uint32_t> scratch(target.scratch_size());
        ClassTarget<Criterion::gini, std::uint32_t>::Scan scan(target, total.data(),
                                                               scratch.data());
        NominalScratch nominal;
        const SideLimits limits;
        const Best best = best_bipartition(target, scan, cells, y.size(), limits, nominal);
        double base = 0;
        double weight = 0;
        for (const std::uint32_t count : total) {
            base += static_cast<double>(count) * count;
            weight += count;
        }
        found += best.score - base / weight;
        possible += brute_force(target, total, cells, y.size(), limits) - base / weight;
    }
    CHECK(found <= possible * (1 + 1e-12));
    CHECK(found > 0.95 * possible);
}

TEST_CASE("bipartitions keep the least number of rows on both sides") {
    RandomStream stream(5, 0);
    const auto y = labels(stream, 60, 3);
    const ClassTarget<Criterion::gini, std::uint32_t> target(y, 3);
    Cells<std::uint32_t> cells;
    std::vector<std::uint32_t> total;
    fill(target, 5, y.size(), stream, cells, total);
    std::vector<std::uint32_t> scratch(target.scratch_size());
    ClassTarget<Criterion::gini, std::uint32_t>::Scan scan(target, total.data(), scratch.data());
    NominalScratch nominal;
    SideLimits limits;
    limits.min_rows = 25;
    const Best best = best_bipartition(target, scan, cells, y.size(), limits, nominal);
    if (best.found) {
        CHECK(best.score == doctest::Approx(brute_force(target, total, cells, y.size(), limits)));
    } else {
        CHECK(brute_force(target, total, cells, y.size(), limits) ==
              -std::numeric_limits<double>::infinity());
    }
}

TEST_CASE("random bipartitions cut the order of codes or that of the means") {
    RandomStream stream(6, 0);
    const auto y = labels(stream, 30, 2);
    const BinaryTarget target(y);
    Cells<std::uint64_t> cells;
    std::vector<std::uint64_t> total;
    fill(target, 3, y.size(), stream, cells, total);
    BinaryTarget::Scan scan(target, total.data(), nullptr);
    std::size_t by_mean[3] = {0, 1, 2};
    std::sort(by_mean, by_mean + 3, [&](std::size_t a, std::size_t b) {
        return target.mean_of(cells.cell(a)) < target.mean_of(cells.cell(b));
    });
    REQUIRE(by_mean[0] != 0);  // else the orders could not be told apart
    std::vector<int> expected(8);
    expected[1] += 200;  // the first code
    expected[3] += 200;  // the first two
    expected[std::size_t{1} << by_mean[0]] += 200;
    expected[(std::size_t{1} << by_mean[0]) + (std::size_t{1} << by_mean[1])] += 200;
    NominalScratch nominal;
    std::vector<int> seen(8);
    for (int round = 0; round < 800; ++round) {
        const Best best = random_bipartition(target, scan, total.data(), cells, y.size(),
                                             SideLimits{}, stream, nominal);
        REQUIRE(best.found);
        ++seen[static_cast<std::size_t>(nominal.best_side[0] + 2 * nominal.best_side[1] +
                                        4 * nominal.best_side[2])];
    }
    for (std::size_t set = 0; set < 8; ++set) {
        CHECK(std::abs(seen[set] - expected[set]) < (expected[set] > 0 ? 60 : 1));
    }
}

TEST_CASE("bipartitions for two classes under limits equal brute force") {
    RandomStream stream(7, 0);
    for (int round = 0; round < 60; ++round) {
        const auto y = labels(stream, 30, 2);
        const BinaryTarget target(y);
        Cells<std::uint64_t> cells;
        std::vector<std::uint64_t> total;
        fill(target, 3 + stream.below(6U), y.size(), stream, cells, total);
        BinaryTarget::Scan scan(target, total.data(), nullptr);
        NominalScratch nominal;
        SideLimits limits;
        limits.min_rows = 1 + stream.below(14U);
        limits.min_weight = stream.below(20U);
        const Best best = best_bipartition(target, scan, cells, y.size(), limits, nominal);
        CHECK((best.found ? best.score : -std::numeric_limits<double>::infinity()) ==
              doctest::Approx(brute_force(target, total, cells, y.size(), limits)));
    }
}

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/tree/absolute_target.hpp"
#include "toy_table.hpp"

using namespace assay::tree;
using assay::RandomStream;

namespace {

// The smallest weighted sum of absolute deviations: one of the targets attains it.
double loss(const std::vector<double>& y, const std::vector<double>& w) {
    double best = y.empty() ? 0 : 1e300;
    for (const double middle : y) {
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            sum += w[i] * std::abs(y[i] - middle);
        }
        best = std::min(best, sum);
    }
    return best;
}

}  // namespace

TEST_CASE("losses of both sides equal brute force, cut by cut") {
    RandomStream stream(1, 0);
    for (int round = 0; round < 50; ++round) {
        const std::size_t n = 1 + stream.below(40U);
        ToyTable<std::uint8_t> table(n, 1);
        table.add_column(stream, 10, false, false);
        std::vector<double> y(n);
        std::vector<double> weight(n);
        std::vector<AbsoluteTarget::Entry> entries;
        for (std::size_t i = 0; i < n; ++i) {
            y[i] = std::round(stream.normal() * 10) / 10;
            weight[i] = round % 2 == 0 ? 1 : stream.uniform() + 0.1;
            entries.push_back(AbsoluteTarget::entry(i, weight[i]));
        }
        AbsoluteTarget target(y, 1);
        CHECK(target.summary(entries, nullptr).impurity * target.summary(entries, nullptr).weight ==
              doctest::Approx(loss(y, weight)));
        target.enter(entries);
        Cells<std::uint32_t> cells;
        target.collect(table.view(), 0, std::span<const AbsoluteTarget::Entry>(entries), cells);
        AbsoluteTarget::Scan scan(target, nullptr, nullptr);
        scan.clear();
        for (std::size_t j = 0; j + 1 < cells.count; ++j) {
            scan.add(cells.cell(j));
            std::vector<double> sides[4];
            for (std::size_t i = 0; i < n; ++i) {
                const std::size_t side = table.codes[i] <= cells.bin[j] ? 0 : 2;
                sides[side].push_back(y[i]);
                sides[side + 1].push_back(weight[i]);
            }
            CHECK(-scan.score() ==
                  doctest::Approx(loss(sides[0], sides[1]) + loss(sides[2], sides[3])));
        }
    }
}

TEST_CASE("the median between two middle values is their mean") {
    const std::vector<double> y = {1, 2, 4, 8};
    const AbsoluteTarget target(y, 1);
    std::vector<AbsoluteTarget::Entry> entries;
    for (std::size_t i = 0; i < 4; ++i) {
        entries.push_back(AbsoluteTarget::entry(i, 1));
    }
    double value = 0;
    target.values(entries, nullptr, &value);
    CHECK(value == 3);
    entries[0].weight = 2;
    target.values(entries, nullptr, &value);
    CHECK(value == 2);
}

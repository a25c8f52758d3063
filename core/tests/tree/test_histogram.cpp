#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "assay/tree/criterion.hpp"
#include "assay/tree/histogram.hpp"
#include "toy_table.hpp"

using namespace assay::tree;
using assay::RandomStream;

TEST_CASE("cells from a histogram and from sorted rows are the sums of each bin") {
    RandomStream stream(1, 0);
    for (const std::size_t n : std::vector<std::size_t>{1, 5, 16, 31, 33, 500}) {
        for (const std::int32_t n_bins : {3, 250, 5000}) {
            ToyTable<std::uint16_t> table(n, 1);
            table.add_column(stream, n_bins, false, true);
            std::vector<std::int32_t> y(n);
            for (auto& label : y) {
                label = static_cast<std::int32_t>(stream.below(3U));
            }
            using Target = ClassTarget<Criterion::gini, std::uint32_t>;
            const Target target(y, 3);
            std::vector<Target::Entry> entries;
            std::map<int, std::vector<std::uint32_t>> expected;  // rows, then counts
            for (std::size_t i = 0; i < n; ++i) {
                entries.push_back(target.entry(i, 1 + stream.below(4U)));
                auto& cell = expected.try_emplace(table.codes[i], 4, 0U).first->second;
                ++cell[0];
                cell[1 + static_cast<std::size_t>(y[i])] += entries[i].weight;
            }
            HistogramScratch<std::uint32_t> scratch;
            Cells<std::uint32_t> dense;
            const auto bins = table.view();
            for (int again = 0; again < 2; ++again) {  // scratch is left clean
                collect_cells(bins, 0, target, std::span<const Target::Entry>(entries), scratch,
                              dense);
            }
            const auto run =
                sorted_rows(bins.codes, n_bins, std::span<const Target::Entry>(entries),
                            scratch.sorted, scratch.spare);
            Cells<std::uint32_t> sorted;
            collect_sorted(run, n_bins, target, entries.data(), sorted);
            for (const auto* cells : {&dense, &sorted}) {
                REQUIRE(cells->count == expected.size());
                CHECK(cells->has_missing == expected.contains(n_bins));
                std::size_t j = 0;
                for (const auto& [code, cell] : expected) {
                    CHECK(cells->bin[j] == code);
                    CHECK(cells->rows[j] == cell[0]);
                    for (std::size_t k = 0; k < 3; ++k) {
                        CHECK(cells->cell(j)[k] == cell[1 + k]);
                    }
                    ++j;
                }
            }
        }
    }
}

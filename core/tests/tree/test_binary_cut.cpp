#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/binary_cut.hpp"
#include "assay/tree/marked_rows.hpp"
#include "assay/tree/presort.hpp"

using namespace assay::tree;
using assay::RandomStream;

namespace {

struct Row {
    std::uint32_t code;
    std::uint32_t weight;
    bool is_one;
};

// The definition: every cut, the first of the best.
BinaryCut brute_force(std::vector<Row> rows, double min_weight) {
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.code < b.code; });
    double W = 0;
    double P = 0;
    for (const Row& r : rows) {
        W += r.weight;
        P += r.is_one ? r.weight : 0;
    }
    BinaryCut best;
    double w = 0;
    double p = 0;
    for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
        w += rows[i].weight;
        p += rows[i].is_one ? rows[i].weight : 0;
        if (rows[i].code == rows[i + 1].code || w < min_weight || W - w < min_weight) {
            continue;
        }
        const double difference = p * W - P * w;
        const double score = difference * difference / (w * (W - w));
        if (score > best.score) {
            best = {score, static_cast<std::int32_t>(rows[i].code),
                    static_cast<std::int32_t>(rows[i + 1].code), static_cast<std::uint32_t>(w),
                    static_cast<std::uint32_t>(p)};
        }
    }
    return best;
}

void check_same(const BinaryCut& a, const BinaryCut& b) {
    CHECK(a.score == b.score);
    CHECK(a.last_left == b.last_left);
    CHECK(a.first_right == b.first_right);
    if (a.last_left >= 0) {
        CHECK(a.left_weight == b.left_weight);
        CHECK(a.left_ones == b.left_ones);
    }
}

}  // namespace

TEST_CASE("every search gives the first best cut, bit for bit") {
    RandomStream stream(5, 0);
    for (int round = 0; round < 400; ++round) {
        const std::size_t n = 1 + stream.below(round < 300 ? 32U : 2000U);
        const std::uint32_t n_bins = 1 + stream.below(255U);
        const double min_weight = round % 3 == 0 ? 5 : 1;
        std::vector<Row> rows;
        std::vector<std::uint32_t> narrow(256);
        std::vector<std::uint64_t> wide(256);
        std::vector<std::uint32_t> keys(32, no_key);
        std::vector<Element> elements;
        std::uint32_t weight = 0;
        std::uint32_t ones = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Row r{stream.below(n_bins), 1 + stream.below(5U), stream.below(2U) == 1};
            const std::uint32_t one = r.is_one ? r.weight : 0;
            rows.push_back(r);
            narrow[r.code] += r.weight << 16 | one;
            wide[r.code] += std::uint64_t{r.weight} << 32 | one;
            if (i < 32) {
                keys[i] = r.code << 24 | r.weight << 12 | one;
            }
            elements.push_back(Element{r.code} << 48 |
                               Element{r.weight << 1 | (r.is_one ? 1U : 0U)} << 32 | i);
            weight += r.weight;
            ones += one;
        }
        std::sort(elements.begin(), elements.end());
        const BinaryCut expected = brute_force(rows, min_weight);
        assay::dispatch([&](auto level) {
            using Search = BinaryCutSearch<decltype(level)>;
            check_same(Search::dense(narrow.data(), n_bins, weight, ones, min_weight), expected);
            check_same(Search::dense(wide.data(), n_bins, weight, ones, min_weight), expected);
            check_same(Search::sorted(elements.data(), n, weight, ones, min_weight), expected);
            if (n <= few_rows) {
                check_same(Search::few(keys.data(), n, weight, ones, min_weight), expected);
            }
        });
    }
}

TEST_CASE("rows of weight 1 in a marked list give the first best cut, at every level") {
    RandomStream stream(6, 0);
    for (int round = 0; round < 300; ++round) {
        const std::size_t n = 1 + stream.below(round < 200 ? 40U : 2000U);
        const std::uint32_t n_values = 1 + stream.below(300U);
        const double min_weight = round % 3 == 0 ? 5 : 1;
        std::vector<Row> rows;
        std::uint32_t ones = 0;
        for (std::size_t i = 0; i < n; ++i) {
            rows.push_back({stream.below(n_values), 1, stream.below(2U) == 1});
            ones += rows.back().is_one ? 1 : 0;
        }
        std::sort(rows.begin(), rows.end(),
                  [](const Row& a, const Row& b) { return a.code < b.code; });
        std::vector<MarkedRow> list;
        for (std::size_t i = 0; i < n; ++i) {
            list.push_back(marked_row(static_cast<std::uint32_t>(i),
                                      i > 0 && rows[i].code == rows[i - 1].code, rows[i].is_one));
        }
        const BinaryCut expected = brute_force(rows, min_weight);
        for (const auto level :
             {assay::CpuLevel::baseline, assay::CpuLevel::avx2, assay::CpuLevel::avx512}) {
            assay::limit_cpu(level);
            const BinaryCut found = assay::dispatch([&](auto chosen) {
                return BinaryCutSearch<decltype(chosen)>::marked(list.data(), n, ones, min_weight);
            });
            CHECK(found.score == expected.score);
            REQUIRE((found.last_left >= 0) == (expected.last_left >= 0));
            if (found.last_left >= 0) {
                const auto place = static_cast<std::size_t>(found.last_left);
                CHECK(rows[place].code == static_cast<std::uint32_t>(expected.last_left));
                CHECK(rows[place + 1].code == static_cast<std::uint32_t>(expected.first_right));
                CHECK(found.left_weight == expected.left_weight);
                CHECK(found.left_ones == expected.left_ones);
            }
        }
        assay::limit_cpu({});
    }
}

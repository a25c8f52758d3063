// The scan of a histogram equals brute force over all thresholds and sides of missing.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/boost_scan.hpp"
#include "assay/tree/boost_split.hpp"

using namespace assay;
using namespace assay::tree;

namespace {

std::vector<std::int64_t> histogram(RandomStream& random, std::size_t n_codes, bool gaps) {
    std::vector<std::int64_t> hist(n_codes);
    for (auto& word : hist) {
        if (gaps && random.below(3U) == 0) {
            continue;
        }
        const std::int64_t g = static_cast<std::int64_t>(random.below(2001U)) - 1000;
        word = g * (std::int64_t{1} << 32) + 1 + random.below(500U);
    }
    return hist;
}

struct Found {
    double merit = -1;
    std::int32_t bin = -1;
    bool missing_left = false;
};

Found brute_force(const SplitRules& rules, const SplitNode& node,
                  const std::vector<std::int64_t>& hist, std::int32_t n_bins, bool missing) {
    Found best;
    for (const bool left_missing : {false, true}) {
        if (left_missing && (!missing || hist[static_cast<std::size_t>(n_bins)] == 0)) {
            continue;
        }
        for (std::int32_t t = 0; t < n_bins; ++t) {
            std::int64_t left = 0;
            for (std::int32_t b = 0; b <= t; ++b) {
                left += hist[static_cast<std::size_t>(b)];
            }
            if (left_missing) {
                left += hist[static_cast<std::size_t>(n_bins)];
            }
            const double merit = rules.split_merit(node, left, 0);
            if (merit > best.merit) {
                best = {merit, t, left_missing};
            }
        }
    }
    return best;
}

}  // namespace

TEST_CASE("the vector scan finds the split that brute force finds") {
    for (const double alpha : {0.0, 300.0}) {
        for (std::uint64_t key = 0; key < 200; ++key) {
            RandomStream random(1, key);
            const auto n_bins = static_cast<std::int32_t>(1 + random.below(255U));
            const bool missing = random.below(2U) == 1;
            const auto hist =
                histogram(random, static_cast<std::size_t>(n_bins) + (missing ? 1 : 0), true);
            SplitRules rules;
            rules.lambda = 3;
            rules.alpha = alpha;
            rules.min_hessian = 200;
            SplitNode node;
            for (const std::int64_t word : hist) {
                node.total += word;
            }
            node.rows = 1000;
            const Found expected = brute_force(rules, node, hist, n_bins, missing);
            for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
                limit_cpu(level);
                const ScanInput input{hist.data(), n_bins,       missing,     node.total,
                                      32,          rules.lambda, rules.alpha, rules.min_hessian};
                const ScanBest got =
                    dispatch([&](auto l) { return BoostScan<decltype(l)>::run(input); });
                CHECK(got.gain == expected.merit);
                CHECK(got.bin == expected.bin);
                CHECK(got.missing_left == expected.missing_left);
            }
            limit_cpu(std::nullopt);
        }
    }
}

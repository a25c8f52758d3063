#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "assay/tree/bootstrap.hpp"

using assay::tree::bootstrap_counts;
using assay::tree::child_key;
using assay::tree::root_key;

TEST_CASE("a bootstrap sample has its draws and is a function of seed and tree") {
    std::vector<std::uint32_t> a(1000);
    std::vector<std::uint32_t> b(1000);
    bootstrap_counts(3, 7, 1500, a);
    bootstrap_counts(3, 7, 1500, b);
    CHECK(std::accumulate(a.begin(), a.end(), 0U) == 1500);
    CHECK(a == b);
    bootstrap_counts(3, 8, 1500, b);
    CHECK(a != b);
    bootstrap_counts(4, 7, 1500, b);
    CHECK(a != b);
}

TEST_CASE("counts of a bootstrap sample are those of uniform draws") {
    std::vector<std::uint32_t> counts(20);
    std::vector<double> sum(20);
    for (std::uint64_t tree = 0; tree < 500; ++tree) {
        bootstrap_counts(0, tree, 20, counts);
        for (std::size_t i = 0; i < 20; ++i) {
            sum[i] += counts[i];
        }
    }
    double chi2 = 0;
    for (const double s : sum) {
        chi2 += (s - 500) * (s - 500) / 500;
    }
    CHECK(chi2 < 50);  // 19 degrees of freedom: p < 1e-4
}

TEST_CASE("keys of nodes differ along paths") {
    const std::uint64_t root = root_key(0);
    CHECK(child_key(root, false) != child_key(root, true));
    CHECK(child_key(child_key(root, false), true) != child_key(child_key(root, true), false));
    CHECK(root_key(0) != root_key(1));
}

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "assay/cluster/seed.hpp"
#include "lloyd_table.hpp"

using namespace assay::cluster;

namespace {

// k-means++ by brute force: all distances, one running sum.
std::vector<std::int64_t> brute_seeds(const Table& rows, std::span<const double> weight,
                                      std::size_t first, const Table& draws) {
    std::vector<std::int64_t> chosen{static_cast<std::int64_t>(first)};
    const auto squared = [&](std::size_t i, std::size_t s) {
        return assay::squared_distance<double>(rows.view().row(i), rows.view().row(s));
    };
    std::vector<double> nearest(rows.n);
    for (std::size_t i = 0; i < rows.n; ++i) {
        nearest[i] = squared(i, first);
    }
    for (std::size_t s = 0; s < draws.n; ++s) {
        double total = 0;
        for (std::size_t i = 0; i < rows.n; ++i) {
            total += weight[i] * nearest[i];
        }
        double least = std::numeric_limits<double>::infinity();
        std::size_t best = 0;
        for (std::size_t t = 0; t < draws.d; ++t) {
            double sum = 0;
            std::size_t row = 0;
            for (; row + 1 < rows.n; ++row) {
                sum += weight[row] * nearest[row];
                if (sum >= draws.view()(s, t) * total) {
                    break;
                }
            }
            double cost = 0;
            for (std::size_t i = 0; i < rows.n; ++i) {
                cost += weight[i] * std::min(nearest[i], squared(i, row));
            }
            if (cost < least * (1 - 1e-12)) {
                least = cost;
                best = row;
            }
        }
        chosen.push_back(static_cast<std::int64_t>(best));
        for (std::size_t i = 0; i < rows.n; ++i) {
            nearest[i] = std::min(nearest[i], squared(i, best));
        }
    }
    return chosen;
}

}  // namespace

TEST_CASE("seeds are those of brute force, for any number of threads") {
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
        const Table rows = random_table(2500, 1 + 4 * seed, seed);
        Table draws{11, 4, std::vector<double>(44)};
        assay::RandomStream stream(seed, 1);
        for (double& draw : draws.values) {
            draw = stream.uniform();
        }
        std::vector<double> weight(rows.n, 1.0);
        for (const bool weighted : {false, true}) {
            if (weighted) {
                for (double& w : weight) {
                    w = stream.uniform();
                }
            }
            const std::vector<std::int64_t> expected = brute_seeds(rows, weight, 7, draws);
            for (const int n_threads : {1, 2}) {
                std::vector<std::int64_t> chosen(12);
                seed_rows<double>(
                    rows.view(),
                    weighted ? std::span<const double>(weight) : std::span<const double>(), 7,
                    draws.view(), chosen, n_threads);
                CHECK(chosen == expected);
            }
        }
    }
}

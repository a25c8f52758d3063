#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/cluster/fuzzy.hpp"
#include "lloyd_table.hpp"

using namespace assay::cluster;

TEST_CASE("the objective never rises and memberships add up to one") {
    const Table rows = random_table(700, 5, 1);
    for (const double m : {1.2, 2.0, 4.0}) {
        std::vector<double> centres(rows.values.begin(), rows.values.begin() + 9 * 5);
        const FuzzyResult found =
            fuzzy_kmeans<double>(rows.view(), {}, {centres.data(), 9, 5}, {{m, false}, 40, 0, 2});
        for (std::size_t t = 1; t < found.objective.size(); ++t) {
            CHECK(found.objective[t] <= found.objective[t - 1] * (1 + 1e-12));
        }
        std::vector<double> share(700 * 9);
        fuzzy_memberships<double>(rows.view(), {centres.data(), 9, 5}, m, {share.data(), 700, 9},
                                  2);
        for (std::size_t i = 0; i < 700; ++i) {
            double sum = 0;
            for (std::size_t c = 0; c < 9; ++c) {
                sum += share[i * 9 + c];
            }
            CHECK(sum == doctest::Approx(1).epsilon(1e-13));
        }
    }
}

TEST_CASE("threads change no bit of fuzzy centres") {
    const Table rows = random_table(3000, 4, 2);
    std::vector<double> first;
    for (const int n_threads : {1, 2, 3}) {
        std::vector<double> centres(rows.values.begin(), rows.values.begin() + 5 * 4);
        fuzzy_kmeans<double>(rows.view(), {}, {centres.data(), 5, 4},
                             {{1.7, false}, 10, 0, n_threads});
        first = first.empty() ? centres : first;
        CHECK(centres == first);
    }
}

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/cluster/kmeans.hpp"
#include "lloyd_table.hpp"

using namespace assay::cluster;

namespace {

struct Fit {
    KMeansResult result;
    std::vector<double> centres;
    std::vector<std::int32_t> label;
};

Fit fit(const Table& rows, std::size_t k, Pruning pruning, int n_threads,
        std::span<const double> weight = {}) {
    Fit out{{},
            {rows.values.begin(), rows.values.begin() + static_cast<std::ptrdiff_t>(k * rows.d)},
            std::vector<std::int32_t>(rows.n)};
    out.result = kmeans<double>(rows.view(), weight, {out.centres.data(), k, rows.d}, out.label,
                                {100, 0, pruning, n_threads});
    return out;
}

}  // namespace

TEST_CASE("bounds and threads change no bit of k-means") {
    for (const bool ties : {false, true}) {
        for (const std::size_t d : {1U, 3U, 10U, 17U}) {
            for (const std::size_t k : {1U, 5U, 30U}) {
                const Table rows = random_table(1500, d, d + k, ties);
                const Fit full = fit(rows, k, Pruning::none, 1);
                for (const int n_threads : {1, 2, 3}) {
                    const Fit bounded = fit(rows, k, Pruning::bounds, n_threads);
                    CHECK(bounded.label == full.label);
                    CHECK(bounded.centres == full.centres);
                    CHECK(bounded.result.inertia == full.result.inertia);
                    CHECK(bounded.result.n_iter == full.result.n_iter);
                }
                CHECK(fit(rows, k, Pruning::bounds, 1).result.scanned <= full.result.scanned);
            }
        }
    }
}

TEST_CASE("k-means ends where every row is at its nearest centre") {
    const Table rows = random_table(500, 4, 9);
    const Fit found = fit(rows, 6, Pruning::bounds, 2);
    CHECK(found.result.is_stable);
    double inertia = 0;
    for (std::size_t i = 0; i < rows.n; ++i) {
        const Nearest expected = brute_nearest(rows.view().row(i), {found.centres.data(), 6, 4});
        CHECK(found.label[i] == expected.label);
        inertia += expected.best;
    }
    CHECK(found.result.inertia == doctest::Approx(inertia).epsilon(1e-12));
}

TEST_CASE("columns of too wide a range give the same with and without bounds") {
    Table rows = random_table(600, 3, 5);
    for (std::size_t i = 0; i < rows.n; i += 7) {
        rows.values[i * 3] *= 1e30;
    }
    const Fit full = fit(rows, 8, Pruning::none, 1);
    const Fit bounded = fit(rows, 8, Pruning::bounds, 2);
    CHECK(bounded.label == full.label);
    CHECK(bounded.centres == full.centres);
}

TEST_CASE("a cluster without rows gets the farthest row") {
    const Table rows{5, 1, {0.0, 1.0, 2.0, 3.0, 50.0}};
    std::vector<double> centres{1.0, 1000.0};
    std::vector<std::int32_t> label(5);
    kmeans<double>(rows.view(), {}, {centres.data(), 2, 1}, label, {100, 0, Pruning::bounds, 1});
    CHECK(centres == std::vector<double>{1.5, 50.0});
}

TEST_CASE("distances to centres are roots of the sums") {
    const Table rows = random_table(70, 3, 6);
    const Table centres = random_table(11, 3, 7);
    std::vector<double> distances(70 * 11);
    centre_distances<double>(rows.view(), centres.view(), {distances.data(), 70, 11}, 2);
    std::vector<std::int32_t> label(70);
    std::vector<double> squared(70);
    assign_rows<double>(rows.view(), centres.view(), label, squared, 2);
    for (std::size_t i = 0; i < 70; ++i) {
        CHECK(label[i] == brute_nearest(rows.view().row(i), centres.view()).label);
        for (std::size_t c = 0; c < 11; ++c) {
            CHECK(distances[i * 11 + c] == std::sqrt(assay::squared_distance<double>(
                                               rows.view().row(i), centres.view().row(c))));
        }
    }
}

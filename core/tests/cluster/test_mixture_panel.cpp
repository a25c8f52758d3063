#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "assay/cluster/mixture_panel.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/random.hpp"

using namespace assay::cluster;

namespace {

std::vector<double> noise(std::size_t n, unsigned seed) {
    assay::RandomStream random(seed, 0);
    std::normal_distribution<double> normal;
    std::vector<double> values(n);
    for (double& value : values) {
        value = normal(random);
    }
    return values;
}

template <class Call>
void at_every_level(Call&& call) {
    for (const auto level :
         {assay::CpuLevel::baseline, assay::CpuLevel::avx2, assay::CpuLevel::avx512}) {
        assay::limit_cpu(level);
        assay::dispatch([&](auto chosen) { call(MixturePanel<decltype(chosen)>{}); });
    }
    assay::limit_cpu(std::nullopt);
}

double lanes(const std::vector<double>& sums, std::size_t at) {
    double sum = 0;
    for (std::size_t lane = 0; lane < panel_lanes; ++lane) {
        sum += sums[at + lane];
    }
    return sum;
}

}  // namespace

TEST_CASE("densities are those of the formula, with the same bits at every level") {
    for (const std::size_t d : {1, 2, 3, 5, 8, 11}) {
        const auto x = noise(d * panel_rows, 1);
        const auto mean = noise(d, 2);
        auto factor = noise(d * d, 3);
        for (std::size_t i = 0; i < d; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                factor[i * d + j] = 0;
            }
        }
        std::vector<double> z(d * panel_rows);
        std::vector<double> first;
        at_every_level([&](auto panel) {
            std::vector<double> dense(panel_rows);
            std::vector<double> diagonal(panel_rows);
            panel.dense(x.data(), d, mean.data(), factor.data(), 1.5, z.data(), dense.data());
            panel.diagonal(x.data(), d, mean.data(), factor.data(), 1.5, diagonal.data());
            for (std::size_t i = 0; i < panel_rows; ++i) {
                double full = 0;
                double own = 0;
                for (std::size_t j = 0; j < d; ++j) {
                    double y = 0;
                    for (std::size_t a = 0; a <= j; ++a) {
                        y += (x[a * panel_rows + i] - mean[a]) * factor[a * d + j];
                    }
                    full += y * y;
                    own += std::pow((x[j * panel_rows + i] - mean[j]) * factor[j], 2);
                }
                CHECK(dense[i] == doctest::Approx(1.5 - full / 2));
                CHECK(diagonal[i] == doctest::Approx(1.5 - own / 2));
            }
            dense.insert(dense.end(), diagonal.begin(), diagonal.end());
            if (first.empty()) {
                first = dense;
            }
            CHECK(dense == first);
        });
    }
}

TEST_CASE("shares sum to one, unused rows get none, and far components get exactly none") {
    std::vector<double> first;
    at_every_level([&](auto panel) {
        auto f = noise(3 * panel_rows, 4);
        f[0] = -2000;                   // far
        f[panel_rows + 1] = -HUGE_VAL;  // a component of weight 0
        const auto given = f;
        std::vector<double> use(panel_rows, 1.0);
        use[5] = 0;
        std::vector<double> norm(panel_rows);
        panel.share(f.data(), 3, use.data(), norm.data());
        for (std::size_t i = 0; i < panel_rows; ++i) {
            double total = 0;
            double shares = 0;
            for (std::size_t c = 0; c < 3; ++c) {
                total += std::exp(given[c * panel_rows + i]);
                shares += f[c * panel_rows + i];
            }
            CHECK(norm[i] == doctest::Approx(std::log(total)));
            CHECK(shares == doctest::Approx(i == 5 ? 0.0 : 1.0));
        }
        CHECK(f[0] == 0);
        CHECK(f[panel_rows + 1] == 0);
        if (first.empty()) {
            first = f;
        }
        CHECK(f == first);
    });
}

TEST_CASE("moments are weighted sums about the mean, with the same bits at every level") {
    for (const std::size_t d : {1, 3, 4, 6, 9}) {
        const auto x = noise(d * panel_rows, 5);
        const auto mean = noise(d, 6);
        auto r = noise(panel_rows, 7);
        for (double& share : r) {
            share = share * share;
        }
        std::vector<double> first_bits;
        at_every_level([&](auto panel) {
            std::vector<double> z(d * panel_rows);
            std::vector<double> weighted(d * panel_rows);
            std::vector<double> count(2 * panel_lanes);
            std::vector<double> first(2 * d * panel_lanes);
            std::vector<double> second(block_count(d) * block_numbers);
            std::vector<double> variances(d * panel_lanes);
            panel.add_dense(x.data(), d, mean.data(), r.data(), z.data(), weighted.data(),
                            count.data(), first.data(), second.data());
            panel.add_diagonal(x.data(), d, mean.data(), r.data(), count.data() + panel_lanes,
                               first.data() + d * panel_lanes, variances.data());
            const std::vector<double> nobody(panel_rows, 0.0);
            panel.add_dense(x.data(), d, mean.data(), nobody.data(), z.data(), weighted.data(),
                            count.data(), first.data(), second.data());
            double total = 0;
            for (const double share : r) {
                total += share;
            }
            CHECK(lanes(count, 0) == doctest::Approx(total));
            CHECK(lanes(count, panel_lanes) == doctest::Approx(total));
            for (std::size_t a = 0; a < d; ++a) {
                for (std::size_t b = 0; b <= a; ++b) {
                    double one = 0;
                    double two = 0;
                    for (std::size_t i = 0; i < panel_rows; ++i) {
                        const double gap = x[a * panel_rows + i] - mean[a];
                        one += r[i] * gap;
                        two += r[i] * gap * (x[b * panel_rows + i] - mean[b]);
                    }
                    CHECK(lanes(first, a * panel_lanes) == doctest::Approx(one));
                    CHECK(lanes(first, (d + a) * panel_lanes) == doctest::Approx(one));
                    CHECK(lanes(second, block_position(a, b)) == doctest::Approx(two));
                    if (a == b) {
                        CHECK(lanes(variances, a * panel_lanes) == doctest::Approx(two));
                    }
                }
            }
            second.insert(second.end(), first.begin(), first.end());
            second.insert(second.end(), variances.begin(), variances.end());
            if (first_bits.empty()) {
                first_bits = second;
            }
            CHECK(second == first_bits);
        });
    }
}

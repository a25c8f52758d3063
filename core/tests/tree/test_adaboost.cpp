#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/adaboost.hpp"

using namespace assay::tree;

namespace {

constexpr std::size_t n = 200;
constexpr std::size_t d = 3;
constexpr std::int32_t n_bins = 6;

struct Table {
    std::vector<std::uint8_t> codes = std::vector<std::uint8_t>(n * d);
    std::vector<std::int32_t> bins = std::vector<std::int32_t>(d, n_bins);
    std::vector<std::uint8_t> nominal = std::vector<std::uint8_t>(d, 0);
    std::vector<std::uint8_t> has_missing = std::vector<std::uint8_t>(d, 0);
    std::vector<std::int64_t> bin_start;
    std::vector<double> value;
    std::vector<std::int64_t> level_start = std::vector<std::int64_t>(d + 1, 0);
    std::vector<std::int32_t> level_bin;
    std::vector<std::int32_t> y = std::vector<std::int32_t>(n);

    explicit Table(std::uint64_t seed, std::uint32_t n_classes) {
        assay::RandomStream stream(seed, 0);
        for (auto& code : codes) {
            code = static_cast<std::uint8_t>(stream.below(static_cast<std::uint32_t>(n_bins)));
        }
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t sum = codes[i] + codes[n + i] / 2U + stream.below(2U);
            y[i] = static_cast<std::int32_t>(sum * n_classes / 10 % n_classes);
        }
        for (std::size_t f = 0; f <= d; ++f) {
            bin_start.push_back(static_cast<std::int64_t>(f) * n_bins);
        }
        for (std::size_t b = 0; b < d * static_cast<std::size_t>(n_bins); ++b) {
            value.push_back(static_cast<double>(b % static_cast<std::size_t>(n_bins)));
        }
    }

    [[nodiscard]] BinnedView<std::uint8_t> view() const {
        return {codes.data(), n,     d,     bins,        nominal,  has_missing,
                bin_start,    value, value, level_start, level_bin};
    }
};

}  // namespace

TEST_CASE("a stump of error three tenths has the say of the golden number") {
    CHECK(boost_alpha(0.3, 2, 1.0) == doctest::Approx(0.8473).epsilon(1e-4));
    CHECK(boost_alpha(0.3, 2, 1.0) / 2 == doctest::Approx(0.4236).epsilon(1e-3));
    CHECK(std::isfinite(boost_alpha(0.0, 2, 1.0)));
    CHECK(is_no_better_than_guessing(0.5, 2));
    CHECK_FALSE(is_no_better_than_guessing(0.5, 3));
}

TEST_CASE("every stump is the best by brute force under the weights of its round") {
    for (const std::uint32_t n_classes : {2U, 3U}) {
        const Table table(n_classes, n_classes);
        const auto bins = table.view();
        const std::vector<double> ones(n, 1.0);
        for (const int n_threads : {1, 2}) {
            StumpBooster<std::uint8_t, Criterion::gini> booster(bins, table.y, ones,
                                                                {n_classes, 8, 1.0, n_threads});
            const auto stumps = booster.run();
            std::vector<double> weight(n, 1.0 / n);
            for (const Stump& stump : stumps) {
                double best = -1;
                for (std::size_t f = 0; f < d; ++f) {
                    for (int cut = 0; cut + 1 < n_bins; ++cut) {
                        std::vector<double> side[2] = {std::vector<double>(n_classes, 0.0),
                                                       std::vector<double>(n_classes, 0.0)};
                        for (std::size_t i = 0; i < n; ++i) {
                            side[table.codes[f * n + i] <= cut ? 0 : 1]
                                [static_cast<std::size_t>(table.y[i])] += weight[i];
                        }
                        double score = 0;
                        for (const auto& each : side) {
                            double total = 0;
                            double squares = 0;
                            for (const double w : each) {
                                total += w;
                                squares += w * w;
                            }
                            score += total > 0 ? squares / total : 0;
                        }
                        if (score > best * (1 + 1e-9)) {
                            best = score;
                        }
                        if (static_cast<std::int32_t>(f) == stump.feature &&
                            stump.threshold == cut + 0.5) {
                            CHECK(score >= best * (1 - 1e-9));
                        }
                    }
                }
                double wrong = 0;
                double sum = 0;
                std::vector<bool> missed(n);
                for (std::size_t i = 0; i < n; ++i) {
                    const auto f = static_cast<std::size_t>(stump.feature);
                    const int side = table.codes[f * n + i] <= stump.threshold ? 0 : 1;
                    missed[i] = stump.side_class[side] != table.y[i];
                    wrong += missed[i] ? weight[i] : 0;
                }
                CHECK(stump.error == doctest::Approx(wrong).epsilon(1e-9));
                for (std::size_t i = 0; i < n; ++i) {
                    weight[i] *= missed[i] ? std::exp(stump.alpha) : 1;
                    sum += weight[i];
                }
                for (double& w : weight) {
                    w /= sum;
                }
            }
            CHECK(stumps.size() >= 3);
        }
    }
}

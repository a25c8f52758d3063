// A run gives the same bits for any number of threads; leaves and losses are what they should be.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/common/random.hpp"
#include "assay/tree/boost_run.hpp"
#include "boost_example.hpp"

using namespace assay;
using namespace assay::tree;

namespace {

constexpr auto go_on = [](std::size_t, double, double) { return true; };

std::vector<double> target_of(const tests::BoostExample& example, Loss loss) {
    RandomStream random(13, 0);
    std::vector<double> target(example.rows);
    for (std::size_t i = 0; i < example.rows; ++i) {
        const double signal = example.codes[i] > 9 ? 2.0 : 0.5;
        const double noise = random.uniform();
        target[i] = loss == Loss::softmax    ? std::floor(signal + 1.4 * noise)
                    : loss >= Loss::logistic ? (noise * 2.2 < signal ? 1.0 : 0.0)
                                             : signal + noise;
        target[i] = loss == Loss::softmax ? std::min(target[i], 3.0) : target[i];
    }
    return target;
}

BoostResult boosted(const tests::BoostExample& example, Loss loss, int n_threads,
                    const std::vector<double>& weight = {}, std::size_t n_rows = 0) {
    const std::vector<double> target = target_of(example, loss);
    BoostOptions options;
    options.loss = loss;
    options.param = 0.6;
    options.n_classes = loss == Loss::softmax ? 4 : 1;
    options.n_rounds = 8;
    options.n_rows = n_rows;
    options.n_cols = n_rows == 0 ? 0 : 4;
    options.n_threads = n_threads;
    const std::vector<double> start(options.n_classes, 0.1);
    const BoostTable table(example.view(), n_threads);
    return BoostRun(table, {target, weight}, {}, start, example.n_levels, options).run(go_on);
}

}  // namespace

TEST_CASE("one, two and three threads give the same bits") {
    const tests::BoostExample example(9000, 6, 20, true);
    std::vector<double> weight(example.rows);
    RandomStream random(17, 0);
    for (double& w : weight) {
        w = 0.5 + random.uniform();
    }
    for (const Loss loss : {Loss::squared, Loss::huber, Loss::logistic, Loss::softmax}) {
        for (const bool weighted : {false, true}) {
            for (const std::size_t n_rows : {std::size_t{0}, std::size_t{5000}}) {
                const auto w = weighted ? weight : std::vector<double>();
                const BoostResult one = boosted(example, loss, 1, w, n_rows);
                for (const int n_threads : {2, 3}) {
                    const BoostResult other = boosted(example, loss, n_threads, w, n_rows);
                    CHECK(one.nodes.left == other.nodes.left);
                    CHECK(one.nodes.feature == other.nodes.feature);
                    CHECK(one.nodes.threshold == other.nodes.threshold);
                    CHECK(one.nodes.value == other.nodes.value);
                    CHECK(one.train_loss == other.train_loss);
                }
            }
        }
    }
}

TEST_CASE("the loss falls in every round") {
    const tests::BoostExample example(3000, 4, 20, false);
    for (const Loss loss : {Loss::squared, Loss::absolute, Loss::quantile, Loss::poisson,
                            Loss::gamma, Loss::logistic, Loss::exponential, Loss::softmax}) {
        CAPTURE(static_cast<int>(loss));
        const BoostResult result = boosted(example, loss, 1);
        REQUIRE(result.train_loss.size() == 9);
        for (std::size_t r = 1; r < result.train_loss.size(); ++r) {
            CHECK(result.train_loss[r] < result.train_loss[r - 1]);
        }
    }
}

TEST_CASE("a stump has the closed form -G / (H + lambda) on both sides") {
    tests::BoostExample example(200, 1, 2, false);
    std::vector<double> target(200);
    double sum[2] = {};
    double count[2] = {};
    for (std::size_t i = 0; i < 200; ++i) {
        target[i] = example.codes[i] == 0 ? 1.25 : -3.5;
        sum[example.codes[i]] += target[i];
        ++count[example.codes[i]];
    }
    BoostOptions options;
    options.n_rounds = 1;
    options.rate = 1;
    options.tree.l2 = 5;
    options.tree.l1 = 2;
    const std::vector<double> start{0.0};
    const BoostTable table(example.view(), 1);
    const BoostResult result =
        BoostRun(table, {target, {}}, {}, start, example.n_levels, options).run(go_on);
    REQUIRE(result.nodes.value.size() == 2);
    CHECK(result.nodes.value[0] == doctest::Approx((sum[0] - 2) / (count[0] + 5)).epsilon(1e-12));
    CHECK(result.nodes.value[1] == doctest::Approx((sum[1] + 2) / (count[1] + 5)).epsilon(1e-12));
}

TEST_CASE("a run that is asked to end does") {
    const tests::BoostExample example(500, 3, 10, false);
    const std::vector<double> target = target_of(example, Loss::squared);
    BoostOptions options;
    options.n_rounds = 50;
    const std::vector<double> start{0.0};
    const BoostTable table(example.view(), 1);
    BoostRun run(table, {target, {}}, {}, start, example.n_levels, options);
    const BoostResult result = run.run([](std::size_t round, double, double) { return round < 4; });
    CHECK(result.n_rounds == 5);
}

TEST_CASE("bundled columns part the rows as their codes say, drawn or not") {
    // Eight columns of a one-hot coding, the first of them missing here and there.
    tests::BoostExample example(6000, 10, 20, false);
    example.make_one_hot(8, 9);
    for (std::size_t i = 0; i < example.rows; i += 2) {
        example.codes[i] = example.codes[i] == 1 ? 2 : example.codes[i];
    }
    example.has_missing[0] = 1;
    std::vector<double> target = target_of(example, Loss::squared);
    for (std::size_t i = 0; i < example.rows; ++i) {
        for (std::size_t f = 0; f < 8; ++f) {
            target[i] += example.codes[f * example.rows + i] * (0.3 * static_cast<double>(f) - 1);
        }
    }
    for (const std::size_t n_rows : {std::size_t{0}, std::size_t{3000}}) {
        BoostOptions options;
        options.n_rounds = 5;
        options.n_rows = n_rows;
        const std::vector<double> start{0.1};
        const BoostTable table(example.view(), 1);
        REQUIRE(table.has_bundles());
        const BoostResult result =
            BoostRun(table, {target, {}}, {}, start, example.n_levels, options).run(go_on);
        const Nodes& nodes = result.nodes;
        double loss = 0;
        std::size_t bundled_splits = 0;
        for (std::size_t row = 0; row < example.rows; ++row) {
            double score = start[0];
            for (std::size_t tree = 0; tree + 1 < nodes.start.size(); ++tree) {
                const auto first = static_cast<std::size_t>(nodes.start[tree]);
                std::size_t i = first;
                while (nodes.left[i] != 0) {
                    const auto f = static_cast<std::size_t>(nodes.feature[i]);
                    const std::uint8_t code = example.codes[f * example.rows + row];
                    const bool left = code == example.n_bins[f] ? nodes.missing_left[i] != 0
                                                                : code <= nodes.threshold[i];
                    bundled_splits += f < 8 ? 1 : 0;
                    i = first + static_cast<std::size_t>(nodes.left[i]) + (left ? 0 : 1);
                }
                score += nodes.value[static_cast<std::size_t>(nodes.slot[i])];
            }
            loss += 0.5 * (target[row] - score) * (target[row] - score);
        }
        CHECK(bundled_splits > example.rows);
        CHECK(loss / static_cast<double>(example.rows) ==
              doctest::Approx(result.train_loss.back()).epsilon(1e-12));
    }
}

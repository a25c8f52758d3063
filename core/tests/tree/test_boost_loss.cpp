// Gradients are the derivatives of the losses, words hold them, and levels agree.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/random.hpp"
#include "assay/tree/boost_loss.hpp"

using namespace assay;
using namespace assay::tree;

namespace {

struct Table {
    std::vector<double> target, weight, score;
};

Table table(Loss loss, std::size_t n, std::size_t n_classes = 1) {
    RandomStream random(7, static_cast<std::uint64_t>(loss));
    Table out;
    for (std::size_t i = 0; i < n; ++i) {
        const bool binary = loss == Loss::logistic || loss == Loss::exponential;
        out.target.push_back(loss == Loss::softmax ? random.below(3U)
                             : binary              ? random.below(2U)
                                                   : 0.1 + 5 * random.uniform());
        out.weight.push_back(0.5 + random.uniform());
    }
    for (std::size_t i = 0; i < n * n_classes; ++i) {
        out.score.push_back(random.normal());
    }
    return out;
}

GradientSums run(const GradientRows& rows, const std::vector<GradientUnits>& units) {
    std::vector<GradientSums> sums(rows.n_classes);
    std::vector<double> scratch(8 * rows.n_classes);
    dispatch([&](auto level) {
        using Kernel = BoostLoss<decltype(level)>;
        if (rows.loss == Loss::softmax) {
            Kernel::softmax(rows, units.data(), 0, rows.rows, sums.data(), scratch.data());
        } else {
            Kernel::run(rows, units[0], 0, rows.rows, sums[0]);
        }
    });
    return sums[0];
}

constexpr Loss all[] = {Loss::squared,  Loss::absolute,    Loss::huber,
                        Loss::quantile, Loss::poisson,     Loss::gamma,
                        Loss::logistic, Loss::exponential, Loss::softmax};

}  // namespace

TEST_CASE("gradients are the finite differences of the loss") {
    for (const Loss loss : all) {
        CAPTURE(static_cast<int>(loss));
        const std::size_t k = loss == Loss::softmax ? 3 : 1;
        const std::size_t n = 13;  // a tail that does not fill a vector
        Table data = table(loss, n, k);
        std::vector<double> g(n * k), h(n * k);
        GradientRows rows;
        rows.loss = loss;
        rows.param = loss == Loss::huber ? 0.8 : 0.3;
        rows.target = data.target.data();
        rows.weight = data.weight.data();
        rows.score = data.score.data();
        rows.rows = n;
        rows.n_classes = k;
        const std::vector<GradientUnits> units(k);
        const double before = run(rows, units).loss;
        CHECK(std::isfinite(before));
        rows.gradient = g.data();
        rows.hessian = h.data();
        run(rows, units);
        rows.gradient = rows.hessian = nullptr;
        for (std::size_t i = 0; i < n * k; ++i) {
            const double at = data.score[i];
            const double step = 1e-5;
            data.score[i] = at + step;
            const double up = run(rows, units).loss;
            data.score[i] = at - step;
            const double down = run(rows, units).loss;
            data.score[i] = at;
            CHECK(g[i] == doctest::Approx((up - down) / (2 * step)).epsilon(1e-5));
            if (!has_unit_hessian(loss)) {
                const double curve = (up - 2 * before + down) / (step * step);
                CHECK(h[i] == doctest::Approx(curve).epsilon(2e-3));
            } else {
                CHECK(h[i] == data.weight[i]);
            }
        }
    }
}

TEST_CASE("words hold the rounded gradients, and their sums do not run into each other") {
    const std::size_t n = 1000;
    const Table data = table(Loss::logistic, n);
    std::vector<double> g(n), h(n);
    std::vector<std::int64_t> word(n);
    GradientRows rows;
    rows.loss = Loss::logistic;
    rows.target = data.target.data();
    rows.score = data.score.data();
    rows.rows = n;
    std::vector<GradientUnits> units(1);
    const GradientSums sums = run(rows, units);
    units[0].g_scale = power_scale(sums.abs_gradient, units[0].g_room(n));
    units[0].h_scale = power_scale(sums.hessian, units[0].h_room(n));
    CHECK(sums.abs_gradient * units[0].g_scale > units[0].g_room(n) / 2);
    rows.word = word.data();
    rows.gradient = g.data();
    rows.hessian = h.data();
    run(rows, units);
    std::int64_t total = 0;
    std::int64_t g_total = 0;
    std::int64_t h_total = 0;
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(std::abs(static_cast<double>(units[0].gradient(word[i])) - g[i] * units[0].g_scale) <=
              0.5);
        CHECK(std::abs(static_cast<double>(units[0].hessian(word[i])) - h[i] * units[0].h_scale) <=
              0.5);
        total += word[i];
        g_total += units[0].gradient(word[i]);
        h_total += units[0].hessian(word[i]);
    }
    CHECK(units[0].gradient(total) == g_total);
    CHECK(units[0].hessian(total) == h_total);
}

TEST_CASE("every level of the processor gives the same bits") {
    for (const Loss loss : all) {
        CAPTURE(static_cast<int>(loss));
        const std::size_t k = loss == Loss::softmax ? 3 : 1;
        const std::size_t n = 103;
        const Table data = table(loss, n, k);
        std::vector<GradientUnits> units(k);
        for (GradientUnits& each : units) {
            each.g_scale = each.h_scale = 0x1p16;
        }
        std::vector<std::vector<std::int64_t>> words;
        std::vector<double> losses;
        for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
            limit_cpu(level);
            words.emplace_back(n * k);
            GradientRows rows;
            rows.loss = loss;
            rows.param = 0.5;
            rows.target = data.target.data();
            rows.weight = data.weight.data();
            rows.score = data.score.data();
            rows.rows = n;
            rows.n_classes = k;
            rows.word = words.back().data();
            losses.push_back(run(rows, units).loss);
        }
        limit_cpu(std::nullopt);
        CHECK(words[0] == words[1]);
        CHECK(words[0] == words[2]);
        CHECK(losses[0] == losses[1]);
        CHECK(losses[0] == losses[2]);
    }
}

TEST_CASE("power_scale is the largest power of two that fits") {
    CHECK(power_scale(1.0, 1024.0) == 1024.0);
    CHECK(power_scale(3.0, 1024.0) == 256.0);
    CHECK(power_scale(0.0, 1024.0) == 1.0);
    CHECK(power_scale(1e6, 1000.0) * 1e6 <= 1000.0);
}

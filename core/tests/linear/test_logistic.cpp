#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/logistic.hpp"
#include "logistic_example.hpp"

using namespace assay;
using namespace assay::linear::logit;

TEST_CASE("no small change of the user's coefficients lowers the objective") {
    reference::provide();
    for (const std::size_t n_classes : {2U, 3U}) {
        for (const LogisticPenalty penalty :
             {LogisticPenalty{0, 0.02}, LogisticPenalty{0.02, 0}, LogisticPenalty{0.01, 0.01}}) {
            const example::LogisticTable table(300, 5, n_classes);
            const std::vector<LogisticPenalty> penalties{penalty};
            const auto fit = fit_logistic(table.view(), true, table.codes, table.weight, n_classes,
                                          penalties, nullptr, {}, 1)[0];
            CHECK(fit.outcome.stop == Stop::converged);
            CHECK(fit.outcome.gap < 1e-13);
            const auto objective = [&](const std::vector<double>& coef,
                                       const std::vector<double>& intercept) {
                double sum = table.loss(coef, intercept);
                for (const double w : coef) {
                    sum += penalty.l1 * std::abs(w) + penalty.l2 / 2 * w * w;
                }
                return sum;
            };
            const double best = objective(fit.coef, fit.intercept);
            CHECK(best == doctest::Approx(fit.outcome.objective).epsilon(1e-12));
            for (std::size_t j = 0; j < fit.coef.size(); ++j) {
                for (const double by : {1e-3, -1e-3}) {
                    auto coef = fit.coef;
                    coef[j] += by;
                    CHECK(objective(coef, fit.intercept) > best);
                }
            }
            if (n_classes == 2) {
                CHECK(objective(fit.coef, {fit.intercept[0] + 1e-3}) > best);
            }
        }
    }
}

TEST_CASE("penalties in turn give what each gives alone") {
    reference::provide();
    const example::LogisticTable table(300, 5, 3);
    const std::vector<LogisticPenalty> penalties{
        {0, 1}, {0, 0.01}, {0.05, 0}, {0.01, 0.01}, {0, 0}};
    const auto together =
        fit_logistic(table.view(), true, table.codes, table.weight, 3, penalties, nullptr, {}, 1);
    for (std::size_t i = 0; i < penalties.size(); ++i) {
        const auto alone = fit_logistic(table.view(), true, table.codes, table.weight, 3,
                                        std::span(&penalties[i], 1), nullptr, {}, 1)[0];
        for (std::size_t j = 0; j < alone.coef.size(); ++j) {
            CHECK(std::abs(alone.coef[j] - together[i].coef[j]) < 1e-10);
        }
    }
}

TEST_CASE("a long table starts from a sample of its rows, and ends where zero leads") {
    reference::provide();
    for (const std::size_t n_classes : {2U, 3U}) {
        const example::LogisticTable table(17000, 3, n_classes);
        const RowSample sample(table.view(), table.codes, table.weight, n_classes);
        CHECK(sample.rows == 17000 / RowSample::every);
        double total = 0;
        for (const double each : sample.weight) {
            total += each;
        }
        CHECK(total == doctest::Approx(1.0));
        const std::vector<LogisticPenalty> penalties{{0, 1e-4}};
        const std::size_t n_outputs = n_classes == 2 ? 1 : n_classes;
        const LogisticFit zero{
            std::vector<double>(3 * n_outputs), std::vector<double>(n_outputs), {}};
        const auto fit = [&](const LogisticFit* start, int n_threads) {
            return fit_logistic(table.view(), true, table.codes, table.weight, n_classes, penalties,
                                start, {}, n_threads)[0];
        };
        const auto found = fit(nullptr, 1);
        const auto slow = fit(&zero, 1);
        CHECK(found.outcome.stop == Stop::converged);
        CHECK(found.outcome.n_iter < slow.outcome.n_iter);
        for (std::size_t j = 0; j < found.coef.size(); ++j) {
            CHECK(std::abs(found.coef[j] - slow.coef[j]) < 1e-10);
        }
        CHECK(fit(nullptr, 2).coef == found.coef);
    }
}

TEST_CASE("no sample is drawn from a short table, nor one that lacks a class") {
    const example::LogisticTable table(15000, 3, 2);
    CHECK(RowSample(table.view(), table.codes, table.weight, 2).rows == 0);
    const example::LogisticTable longer(17000, 3, 2);
    std::vector<std::int32_t> codes(17000, 0);
    codes[16999] = 1;  // beyond the last sixteen
    CHECK(RowSample(longer.view(), codes, longer.weight, 2).rows == 0);
}

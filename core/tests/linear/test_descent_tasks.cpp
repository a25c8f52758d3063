#include <doctest/doctest.h>

#include <vector>

#include "assay/linear/descent_tasks.hpp"
#include "descent_table.hpp"

using namespace assay;
using namespace assay::linear;

TEST_CASE("targets of one class against the others, with class weights") {
    const std::vector<double> codes = {0, 1, 2, 1}, weight = {1, 2, 1, 0};
    const std::vector<double> positives = {0, 1, 2}, up = {3, 1, 1}, down = {1, 1, 1};
    const Targets targets{codes, weight, positives, up, down};
    std::vector<double> y, s;
    targets.fill(0, true, y, s);
    CHECK(y == std::vector<double>{1, -1, -1, -1});
    CHECK(s == std::vector<double>{0.5, 2.0 / 6, 1.0 / 6, 0});
    targets.fill(1, false, y, s);
    CHECK(y == std::vector<double>{-1, 1, -1, 1});
    CHECK(s == weight);
    CHECK(Targets{codes, weight, {}, {}, {}}.count() == 1);
}

TEST_CASE("problems do not depend on the number of threads") {
    const testing::Table table;
    std::vector<double> codes(table.n);
    for (std::size_t i = 0; i < table.n; ++i) {
        codes[i] = static_cast<double>(i % 3);
    }
    const std::vector<double> positives = {0, 1, 2}, ones(3, 1.0);
    const Targets targets{codes, table.s, positives, ones, ones};
    DescentOptions options{Logistic{}, L2{0.1}, {ScheduleKind::constant, 0.1, 0.5}};
    options.max_iter = 4;
    std::vector<std::vector<double>> found;
    for (const int n_threads : {1, 3}) {
        std::vector<double> coef(3 * table.d), b(3), mean(3 * table.d), mean_b(3);
        const auto results = descend_all(
            table.dense(), targets, DescentMethod::stochastic, options,
            {{coef.data(), 3, table.d}, b, {mean.data(), 3, table.d}, mean_b}, n_threads);
        CHECK(results.size() == 3);
        found.push_back(coef);
        std::vector<double> w(3 * table.d), c(3);
        PerceptronOptions plain;
        plain.max_iter = 3;
        CHECK(learn_all(table.dense(), targets, {}, plain, {w.data(), 3, table.d}, c, n_threads)
                  .size() == 3);
        found.back().insert(found.back().end(), w.begin(), w.end());
    }
    CHECK(found[0] == found[1]);
}

#include <doctest/doctest.h>

#include <vector>

#include "assay/linear/svc_tasks.hpp"
#include "svc_brute.hpp"

using namespace assay;
using namespace assay::linear;

TEST_CASE("every solver of a problem finds the same minimum, one class against the others") {
    const testing::SvcTable table(80, 5);
    std::vector<double> codes(table.n);
    for (std::size_t i = 0; i < table.n; ++i) {
        codes[i] = static_cast<double>((i + (table.labels[i] > 0 ? 1 : 0)) % 3);
    }
    const std::vector<double> weight(table.n, 1.0), positives = {0, 1, 2}, up = {1, 2, 0.5},
                                                    down(3, 1.0);
    const Targets targets{codes, weight, positives, up, down};
    for (const bool squared : {false, true}) {
        SvcOptions options;
        options.squared = squared;
        options.tol = 1e-8;
        options.max_iter = 200000;
        std::vector<double> few(15), many(15), b(3), c(3), again(15);
        options.solver = 1;
        const auto first = solve_svc(table.dense(), targets, options, {few.data(), 3, 5}, b, 1);
        static_cast<void>(solve_svc(table.dense(), targets, options, {again.data(), 3, 5}, c, 3));
        CHECK(few == again);
        options.solver = 2;
        const auto second = solve_svc(table.sparse(), targets, options, {many.data(), 3, 5}, c, 2);
        for (std::size_t k = 0; k < 3; ++k) {
            CHECK(first[k].objective == doctest::Approx(second[k].objective).epsilon(1e-7));
            CHECK(b[k] == doctest::Approx(c[k]).epsilon(1e-3).scale(1e-2));
        }
    }
}

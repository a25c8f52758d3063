#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/linear/least_sweep.hpp"

namespace {

double sweep(const std::vector<double>& gram, double l1, double l2, bool positive,
             std::vector<double>& w, std::vector<double>& g) {
    return assay::dispatch([&](auto level) {
        return assay::linear::LeastSweep<decltype(level)>::run(gram.data(), w.size(), l1, l2,
                                                               positive, w.data(), g.data());
    });
}

}  // namespace

TEST_CASE("independent columns reach their minimum in one sweep") {
    const std::vector<double> gram = {2, 0, 0, 0, 4, 0, 0, 0, 0};  // the last is a constant column
    for (const bool positive : {false, true}) {
        std::vector<double> w = {0, 0, 0};
        std::vector<double> g = {3, -9, 0.5};
        const double change = sweep(gram, 1.0, 0.0, positive, w, g);
        CHECK(w == std::vector<double>{1, positive ? 0.0 : -2.0, 0});
        CHECK(g == std::vector<double>{1, positive ? -9.0 : -1.0, 0.5});
        CHECK(change == doctest::Approx(positive ? std::sqrt(2.0) : 4.0));
        CHECK(sweep(gram, 1.0, 0.0, positive, w, g) == 0);
    }
}

TEST_CASE("a sweep keeps g = c - G w and shrinks with l2") {
    const std::vector<double> gram = {2, 1, 1, 3};
    const std::vector<double> c = {4, 5};
    std::vector<double> w = {0, 0};
    std::vector<double> g = c;
    sweep(gram, 0.5, 1.0, false, w, g);
    CHECK(w[0] == doctest::Approx(3.5 / 3));
    CHECK(w[1] == doctest::Approx((5 - 3.5 / 3 - 0.5) / 4));
    for (std::size_t j = 0; j < 2; ++j) {
        CHECK(g[j] == doctest::Approx(c[j] - gram[j * 2] * w[0] - gram[j * 2 + 1] * w[1]));
    }
}

#include <doctest/doctest.h>

#include <vector>

#include "assay/linear/correlate.hpp"
#include "small_tables.hpp"

TEST_CASE("correlate multiplies every column, the same bits for any number of threads") {
    const std::size_t n = 37;
    const std::size_t p = 2500;
    const auto x = small_tables::numbers<double>(n * p, 1);
    const auto shift = small_tables::numbers<double>(p, 2);
    const auto u = small_tables::numbers<double>(n, 3);
    std::vector<double> one(p);
    std::vector<double> three(p, 9.0);
    assay::linear::correlate(small_tables::view(x, p), shift, u, one, 1);
    assay::linear::correlate(small_tables::view(x, p), shift, u, three, 3);
    CHECK(one == three);
    for (std::size_t j = 0; j < p; ++j) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
            sum += u[i] * (x[i * p + j] - shift[j]);
        }
        CHECK(one[j] == doctest::Approx(sum).epsilon(1e-12));
    }
}

#include <doctest/doctest.h>

#include <vector>

#include "assay/linear/predict_scores.hpp"
#include "small_tables.hpp"

TEST_CASE("predict_scores are products and offsets, the same bits for any number of threads") {
    const std::size_t n = 600;
    const std::size_t p = 19;
    const auto x = small_tables::numbers<float>(n * p, 1);
    const auto coef = small_tables::numbers<double>(2 * p, 2);
    const std::vector<double> offset = {1.0, -3.0};
    std::vector<double> one(2 * n);
    std::vector<double> three(2 * n);
    assay::linear::predict_scores(small_tables::view(x, p), small_tables::view(coef, p), offset,
                                  {one.data(), n, 2}, 1);
    assay::linear::predict_scores(small_tables::view(x, p), small_tables::view(coef, p), offset,
                                  {three.data(), n, 2}, 3);
    CHECK(one == three);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t t = 0; t < 2; ++t) {
            double sum = offset[t];
            for (std::size_t j = 0; j < p; ++j) {
                sum += static_cast<double>(x[i * p + j]) * coef[t * p + j];
            }
            CHECK(one[i * 2 + t] == doctest::Approx(sum).epsilon(1e-12));
        }
    }
}

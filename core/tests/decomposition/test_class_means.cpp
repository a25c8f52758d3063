#include <doctest/doctest.h>

#include <vector>

#include "assay/decomposition/class_means.hpp"
#include "scatter_table.hpp"

namespace {

template <class T>
void check_means(std::size_t n, std::size_t d, std::size_t n_classes, double centre,
                 bool weighted) {
    const auto x = scatter_table::numbers<T>(n * d, n + d, centre);
    const auto codes = scatter_table::codes(n, n_classes);
    const auto w = weighted ? scatter_table::numbers<double>(n, 9, 2.0) : std::vector<double>{};
    const auto expected = scatter_table::means(x, d, codes, w, n_classes);
    for (const int n_threads : {1, 3}) {
        std::vector<double> total(n_classes);
        std::vector<double> mean(n_classes * d);
        assay::decomposition::class_means(scatter_table::view(x, d), std::span(codes), std::span(w),
                                          std::span(total), {mean.data(), n_classes, d}, n_threads);
        double sum = 0;
        for (const double each : total) {
            sum += each;
        }
        double weight = 0;
        for (std::size_t i = 0; i < n; ++i) {
            weight += w.empty() ? 1.0 : w[i];
        }
        CHECK(sum == doctest::Approx(weight).epsilon(1e-12));
        for (std::size_t t = 0; t < mean.size(); ++t) {
            CHECK(mean[t] == doctest::Approx(expected[t]).epsilon(1e-13));
        }
    }
}

}  // namespace

TEST_CASE("class means are the weighted sums over the weights") {
    for (const bool weighted : {false, true}) {
        check_means<double>(2, 1, 2, 0.5, weighted);
        check_means<double>(5000, 4, 3, 1e8, weighted);
        check_means<float>(3000, 17, 11, -2.0, weighted);
    }
}

TEST_CASE("a column that is constant in a class has exactly that mean") {
    const std::vector<double> x(3000, 0.1);
    const auto codes = scatter_table::codes(3000, 2);
    std::vector<double> total(2);
    std::vector<double> mean(2);
    assay::decomposition::class_means(scatter_table::view(x, 1), std::span(codes),
                                      std::span<const double>{}, std::span(total),
                                      {mean.data(), 2, 1}, 2);
    CHECK(mean == std::vector<double>{0.1, 0.1});
}

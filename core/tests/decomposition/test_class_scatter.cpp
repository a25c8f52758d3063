#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/decomposition/class_scatter.hpp"
#include "scatter_table.hpp"

namespace {

template <class T>
void check_scatter(std::size_t n, std::size_t d, std::size_t n_classes, bool weighted,
                   bool listed) {
    auto x = scatter_table::numbers<T>(n * d, n + d);
    const auto codes = scatter_table::codes(n, n_classes);
    for (std::size_t i = 0; i < n; ++i) {
        x[i * d] += static_cast<T>(1000 * codes[i]);  // classes far apart
    }
    const auto w = weighted ? scatter_table::numbers<double>(n, 9, 2.0) : std::vector<double>{};
    const auto mean = scatter_table::means(x, d, codes, w, n_classes);
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; listed && i < n; i += 3) {
        rows.push_back(static_cast<std::int64_t>(i));
    }
    std::vector<double> once(d * d);
    std::vector<double> threads(d * d);
    for (const int n_threads : {1, 3}) {
        auto& out = n_threads == 1 ? once : threads;
        assay::decomposition::class_scatter(
            scatter_table::view(x, d), std::span<const std::int64_t>(rows), std::span(codes),
            std::span(w), scatter_table::view(mean, d), {out.data(), d, d}, n_threads);
    }
    CHECK(once == threads);
    for (std::size_t a = 0; a < d; ++a) {
        for (std::size_t b = 0; b < d; ++b) {
            long double sum = 0;
            for (std::size_t i = 0; i < n; i += listed ? 3 : 1) {
                const double* m = mean.data() + static_cast<std::size_t>(codes[i]) * d;
                const long double weight = w.empty() ? 1.0L : static_cast<long double>(w[i]);
                sum += weight * (static_cast<long double>(x[i * d + a]) - m[a]) *
                       (static_cast<long double>(x[i * d + b]) - m[b]);
            }
            CHECK(std::abs(once[a * d + b] - static_cast<double>(sum)) <=
                  1e-12 * static_cast<double>(n));
        }
    }
}

}  // namespace

TEST_CASE("the scatter within classes is the sum of squares of differences") {
    reference::provide();
    const assay::BlasScope scope;
    for (const bool weighted : {false, true}) {
        for (const bool listed : {false, true}) {
            check_scatter<double>(3, 1, 2, weighted, listed);
            check_scatter<double>(2500, 6, 3, weighted, listed);
            check_scatter<float>(4000, 9, 4, weighted, listed);
        }
    }
}

#include <doctest/doctest.h>

#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/decomposition/project.hpp"
#include "scatter_table.hpp"

namespace {

template <class T>
void check_projection(std::size_t n, std::size_t d, std::size_t k, double centre) {
    const auto x = scatter_table::numbers<T>(n * d, n + d, centre);
    const auto axes = scatter_table::numbers<double>(k * d, k);
    const std::vector<double> shift(d, centre);
    std::vector<double> once(n * k);
    std::vector<double> threads(n * k);
    assay::decomposition::project(scatter_table::view(x, d), std::span(shift),
                                  scatter_table::view(axes, d), {once.data(), n, k}, 1);
    assay::decomposition::project(scatter_table::view(x, d), std::span(shift),
                                  scatter_table::view(axes, d), {threads.data(), n, k}, 3);
    CHECK(once == threads);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t a = 0; a < k; ++a) {
            long double sum = 0;
            for (std::size_t j = 0; j < d; ++j) {
                sum += (static_cast<long double>(x[i * d + j]) - shift[j]) * axes[a * d + j];
            }
            CHECK(once[i * k + a] == doctest::Approx(static_cast<double>(sum)).epsilon(1e-12));
        }
    }
}

}  // namespace

TEST_CASE("rows are projected as the formula says, beside a large mean too") {
    reference::provide();
    const assay::BlasScope scope;
    check_projection<double>(1, 1, 1, 0.0);
    check_projection<double>(700, 5, 3, 1e8);
    check_projection<float>(1500, 40, 7, 3.0);
}

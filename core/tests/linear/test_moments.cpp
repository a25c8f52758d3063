#include <doctest/doctest.h>

#include <vector>

#include "../common/reference_blas.hpp"
#include "assay/linear/moments.hpp"
#include "small_tables.hpp"

namespace {

struct Found {
    double total;
    std::vector<double> mean;
    std::vector<double> product;
};

template <class T>
Found found(const std::vector<T>& x, std::size_t p, const std::vector<double>& y,
            const std::vector<double>& w, bool centre, int n_threads = 1) {
    const std::size_t width = p + 1;
    Found out{0, std::vector<double>(width), std::vector<double>(width * width)};
    out.total =
        assay::linear::moments(small_tables::view(x, p), small_tables::view(y, 1), w, centre,
                               out.mean, {out.product.data(), width, width}, n_threads);
    return out;
}

// Means first, products of differences then: two passes in long double.
template <class T>
Found definition(const std::vector<T>& x, std::size_t p, const std::vector<double>& y,
                 const std::vector<double>& w, bool centre) {
    const std::size_t width = p + 1;
    const std::size_t n = y.size();
    const auto z = [&](std::size_t i, std::size_t j) -> long double {
        return j < p ? static_cast<long double>(x[i * p + j]) : static_cast<long double>(y[i]);
    };
    const auto weight = [&](std::size_t i) { return w.empty() ? 1.0 : w[i]; };
    Found out{0, std::vector<double>(width), std::vector<double>(width * width)};
    std::vector<long double> mean(width, 0);
    for (std::size_t i = 0; i < n; ++i) {
        out.total += weight(i);
        for (std::size_t j = 0; j < width; ++j) {
            mean[j] += weight(i) * z(i, j);
        }
    }
    for (std::size_t j = 0; j < width; ++j) {
        mean[j] = centre ? mean[j] / out.total : 0;
        out.mean[j] = static_cast<double>(mean[j]);
    }
    for (std::size_t a = 0; a < width; ++a) {
        for (std::size_t b = 0; b < width; ++b) {
            long double sum = 0;
            for (std::size_t i = 0; i < n; ++i) {
                sum += weight(i) * (z(i, a) - mean[a]) * (z(i, b) - mean[b]);
            }
            out.product[a * width + b] = static_cast<double>(sum);
        }
    }
    return out;
}

void check_same(const Found& a, const Found& b, double tolerance) {
    CHECK(a.total == doctest::Approx(b.total));
    for (std::size_t t = 0; t < a.mean.size(); ++t) {
        CHECK(a.mean[t] == doctest::Approx(b.mean[t]).epsilon(1e-13));
    }
    double scale = 0;
    for (const double value : b.product) {
        scale = std::max(scale, std::abs(value));
    }
    for (std::size_t t = 0; t < a.product.size(); ++t) {
        CHECK(std::abs(a.product[t] - b.product[t]) <= tolerance * scale);
    }
}

}  // namespace

TEST_CASE("moments are means and centred products") {
    reference::provide();
    const assay::BlasScope scope;
    for (const std::size_t n : {1U, 2U, 40U, 3000U}) {
        for (const std::size_t p : {1U, 5U}) {
            for (const bool centre : {true, false}) {
                for (const bool weighted : {true, false}) {
                    const auto x = small_tables::numbers<double>(n * p, n + p, 4.0);
                    const auto y = small_tables::numbers<double>(n, n, -2.0);
                    const auto w =
                        weighted ? small_tables::numbers<double>(n, 5, 2.0) : std::vector<double>{};
                    const auto once = found(x, p, y, w, centre);
                    check_same(once, definition(x, p, y, w, centre), 1e-12);
                    const auto threads = found(x, p, y, w, centre, 3);
                    CHECK(once.product == threads.product);
                    CHECK(once.mean == threads.mean);
                }
            }
        }
    }
}

TEST_CASE("moments keep their digits beside a large mean and in sorted columns") {
    reference::provide();
    const assay::BlasScope scope;
    const std::size_t n = 2000;
    auto x = small_tables::numbers<double>(n, 1, 1e8);
    const auto y = small_tables::numbers<double>(n, 2);
    check_same(found(x, 1, y, {}, true), definition(x, 1, y, {}, true), 1e-12);
    // Rows the guess never sees: nearly all of the column sits elsewhere.
    for (std::size_t i = 0; i < n; ++i) {
        x[i] += i % (n / 32) == 0 ? 1e9 : 0.0;
    }
    check_same(found(x, 1, y, {}, true), definition(x, 1, y, {}, true), 1e-11);
}

TEST_CASE("moments of a constant column are exactly zero") {
    reference::provide();
    const assay::BlasScope scope;
    const std::vector<float> x(1000, 0.1F);
    const auto y = small_tables::numbers<double>(1000, 3, 7.0);
    const auto constant = found(x, 1, y, {}, true);
    CHECK(constant.product[0] == 0.0);
    CHECK(constant.product[1] == 0.0);
    CHECK(constant.mean[0] == static_cast<double>(0.1F));
}

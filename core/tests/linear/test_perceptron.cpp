#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/linear/perceptron.hpp"
#include "descent_table.hpp"

using namespace assay;
using namespace assay::linear;

namespace {

// Rows of the square with labels by a known line of the given margin.
struct Separable {
    std::vector<double> X, y, s;
    double radius = 0;

    Separable(std::size_t n, double margin, std::uint64_t seed) : s(n, 1.0) {
        RandomStream stream(seed, 0);
        while (y.size() < n) {
            const double a = 2 * stream.uniform() - 1, b = 2 * stream.uniform() - 1;
            const double f = 0.6 * a + 0.8 * b;  // unit normal, through the origin
            if (std::abs(f) >= margin) {
                X.insert(X.end(), {a, b});
                y.push_back(f > 0 ? 1 : -1);
                radius = std::max(radius, std::sqrt(a * a + b * b));
            }
        }
    }
    [[nodiscard]] MatrixView<const double> rows() const { return {X.data(), y.size(), 2}; }
};

}  // namespace

TEST_CASE("a perceptron never makes more mistakes than R^2 / gamma^2") {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const double margin = 0.02 + 0.01 * static_cast<double>(seed % 10);
        const Separable table(200, margin, seed);
        PerceptronOptions options;
        options.fit_intercept = false;
        options.seed = seed;
        std::vector<double> w(2);
        double b = 0;
        const auto result = learn_from_mistakes(table.rows(), table.y, table.s, {}, options, w, b);
        CHECK(result.separated);
        CHECK(static_cast<double>(result.n_mistakes) <=
              table.radius * table.radius / (margin * margin));
        for (std::size_t i = 0; i < table.y.size(); ++i) {
            CHECK_FALSE(
                is_mistake(table.y[i], dot(table.rows(), i, std::span<const double>(w)) + b));
        }
    }
}

TEST_CASE("one correction is w += eta y x, b += eta y, and normalising gives length 1") {
    const std::vector<double> X = {3, 4}, y = {-1}, s = {1};
    const MatrixView<const double> rows{X.data(), 1, 2};
    std::vector<double> w(2);
    double b = 0;
    PerceptronOptions options;
    options.schedule.eta0 = 0.5;
    options.max_iter = 1;
    static_cast<void>(learn_from_mistakes(rows, y, s, {}, options, w, b));
    CHECK(w == std::vector<double>{-1.5, -2});
    CHECK(b == -0.5);
    options.normalize = true;
    w = {0, 0};
    b = 0;
    static_cast<void>(learn_from_mistakes(rows, y, s, {}, options, w, b));
    CHECK(w[0] * w[0] + w[1] * w[1] + b * b == doctest::Approx(1));
}

TEST_CASE("centring is the same as centred rows") {
    const testing::Table table(50, 3);
    std::vector<double> mean(3, 0.25), moved = table.X;
    for (std::size_t k = 0; k < moved.size(); ++k) {
        moved[k] -= 0.25;
    }
    const std::vector<double> ones(50, 1.0);
    PerceptronOptions options;
    options.fit_intercept = false;
    options.max_iter = 5;
    std::vector<double> w(3), v(3);
    double b = 0, c = 0;
    const auto dense = learn_from_mistakes(MatrixView<const double>{moved.data(), 50, 3},
                                           table.labels, ones, {}, options, w, b);
    const auto sparse =
        learn_from_mistakes(table.sparse(), table.labels, ones, mean, options, v, c);
    CHECK(dense.n_mistakes == sparse.n_mistakes);
    for (std::size_t j = 0; j < 3; ++j) {
        CHECK(w[j] == doctest::Approx(v[j]).epsilon(1e-9));
    }
}

TEST_CASE("a score of zero is the positive side") {
    CHECK_FALSE(is_mistake(1, 0));
    CHECK(is_mistake(-1, 0));
}

TEST_CASE("patience ends passes over rows that no line separates") {
    const std::vector<double> X = {0, 0, 0, 1, 1, 0, 1, 1}, y = {-1, 1, 1, -1}, s(4, 1.0);
    PerceptronOptions options;
    options.patience = 10;
    std::vector<double> w(2);
    double b = 0;
    const auto result =
        learn_from_mistakes(MatrixView<const double>{X.data(), 4, 2}, y, s, {}, options, w, b);
    CHECK_FALSE(result.separated);
    CHECK(result.n_iter < 200);
}

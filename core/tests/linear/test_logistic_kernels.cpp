#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/random.hpp"
#include "assay/linear/logistic_kernels.hpp"

using namespace assay;
using namespace assay::linear::logit;

namespace {

struct Tile {
    std::size_t rows;
    std::size_t stride;
    std::vector<double> x;
    std::vector<double> w;
    std::vector<double> d;

    Tile(std::size_t rows_, std::size_t stride_)
        : rows(rows_), stride(stride_), x(rows * stride), w(stride), d(rows) {
        RandomStream stream(3, rows + stride);
        for (auto* each : {&x, &w}) {
            for (double& value : *each) {
                value = stream.normal();
            }
        }
        for (double& value : d) {
            value = 0.1 + std::abs(stream.normal());
        }
    }
};

// The result at the level in use and at the baseline, which must be the same bits.
template <class Run>
std::vector<double> at_every_level(const Run& run) {
    const auto got = dispatch([&](auto level) { return run(level); });
    CHECK(got == run(Baseline{}));
    return got;
}

}  // namespace

TEST_CASE("centred rows keep what is beyond their columns, with the same bits at every level") {
    for (const std::size_t cols : {1U, 7U, 8U, 20U}) {
        const Tile tile(9, 24);  // as 9 rows of fewer columns
        const auto out = at_every_level([&](auto level) {
            std::vector<double> to(9 * 24, 5.0);
            LogisticKernels<decltype(level)>::centred(tile.x.data(), cols, 9, tile.w.data(),
                                                      tile.x.data() + 60, to.data(), 24);
            return to;
        });
        for (std::size_t i = 0; i < 9; ++i) {
            for (std::size_t j = 0; j < 24; ++j) {
                const double want =
                    j < cols ? (tile.x[i * cols + j] - tile.w[j]) * tile.x[60 + j] : 5.0;
                CHECK(out[i * 24 + j] == want);
            }
        }
    }
}

TEST_CASE("products of a tile equal their definition, with the same bits at every level") {
    for (const std::size_t rows : {1U, 7U, 128U}) {
        for (const std::size_t stride : {8U, 24U, 40U, 64U}) {
            const Tile tile(rows, stride);
            const auto f = at_every_level([&](auto level) {
                std::vector<double> out(rows);
                LogisticKernels<decltype(level)>::dots(tile.x.data(), stride, rows, tile.w.data(),
                                                       out.data());
                return out;
            });
            const auto g = at_every_level([&](auto level) {
                std::vector<double> out(stride, 1.0);
                LogisticKernels<decltype(level)>::add_gradient(tile.x.data(), stride, rows,
                                                               tile.d.data(), out.data());
                return out;
            });
            const auto h = at_every_level([&](auto level) {
                std::vector<double> out(stride * stride, 2.0);
                std::vector<double> scratch(rows * stride);
                LogisticKernels<decltype(level)>::add_gram(
                    tile.x.data(), stride, rows, tile.d.data(), out.data(), scratch.data());
                for (std::size_t j = 0; j < stride; ++j) {  // above the diagonal: undefined
                    for (std::size_t k = j + 1; k < stride; ++k) {
                        out[j * stride + k] = 0;
                    }
                }
                return out;
            });
            for (std::size_t i = 0; i < rows; ++i) {
                double sum = 0;
                for (std::size_t j = 0; j < stride; ++j) {
                    sum += tile.x[i * stride + j] * tile.w[j];
                }
                CHECK(f[i] == doctest::Approx(sum).epsilon(1e-12));
            }
            for (std::size_t j = 0; j < stride; ++j) {
                double sum = 1;
                for (std::size_t i = 0; i < rows; ++i) {
                    sum += tile.d[i] * tile.x[i * stride + j];
                }
                CHECK(g[j] == doctest::Approx(sum).epsilon(1e-12));
                for (std::size_t k = 0; k <= j; ++k) {
                    double gram = 2;
                    for (std::size_t i = 0; i < rows; ++i) {
                        gram += tile.d[i] * tile.x[i * stride + j] * tile.x[i * stride + k];
                    }
                    CHECK(h[j * stride + k] == doctest::Approx(gram).epsilon(1e-12));
                }
            }
        }
    }
}

TEST_CASE("the logistic loss keeps its digits on both sides, at every level") {
    const std::vector<double> f{0, 1, -1, 40, -40, 700, -700, 5, 0.1, -3};
    const std::vector<double> y{1, 1, 1, 1, 1, 1, 1, -1, -1, -1};
    std::vector<double> s(f.size(), 0.5);
    s[9] = 0;
    const auto got = at_every_level([&](auto level) {
        std::vector<double> out(2 * f.size() + 3);
        TileSums sums;
        LogisticKernels<decltype(level)>::logistic(f.data(), nullptr, y.data(), s.data(), f.size(),
                                                   out.data(), out.data() + f.size(), sums);
        out[2 * f.size()] = sums.loss;
        out[2 * f.size() + 1] = sums.least_margin;
        out[2 * f.size() + 2] = sums.moved;
        return out;
    });
    double loss = 0;
    for (std::size_t i = 0; i < f.size(); ++i) {
        const double z = y[i] * f[i];
        const double wrong = 1 / (1 + std::exp(z));
        CHECK(got[i] == doctest::Approx(-s[i] * y[i] * wrong).epsilon(1e-13));
        CHECK(got[f.size() + i] ==
              doctest::Approx(s[i] * wrong / (1 + std::exp(-z))).epsilon(1e-13));
        loss += s[i] * (std::log1p(std::exp(-std::abs(z))) + std::max(-z, 0.0));
    }
    CHECK(got[2 * f.size()] == doctest::Approx(loss).epsilon(1e-14));
    CHECK(got[2 * f.size() + 1] == -700);  // the row of weight 0 does not count
    CHECK(got[2 * f.size() + 2] == 0);
}

TEST_CASE("softmax of two classes is the logistic function, at every level") {
    constexpr std::size_t n = 11;
    RandomStream stream(5, 0);
    std::vector<double> f(2 * n);
    std::vector<double> before(2 * n);
    std::vector<double> s(n, 0.25);
    std::vector<std::int32_t> y(n);
    for (std::size_t i = 0; i < n; ++i) {
        f[i] = 0;
        f[n + i] = 4 * stream.normal();
        y[i] = static_cast<std::int32_t>(i % 2);
    }
    const auto got = at_every_level([&](auto level) {
        std::vector<double> out(4 * n + 3);
        TileSums sums;
        LogisticKernels<decltype(level)>::softmax(f.data(), before.data(), y.data(), s.data(), n, 2,
                                                  out.data(), out.data() + 2 * n, sums);
        out[4 * n] = sums.loss;
        out[4 * n + 1] = sums.moved;
        out[4 * n + 2] = sums.least_margin;
        return out;
    });
    double loss = 0;
    double moved = 0;
    double least = 1e300;
    for (std::size_t i = 0; i < n; ++i) {
        const double share = 1 / (1 + std::exp(-f[n + i]));
        CHECK(got[n + i] == doctest::Approx(share).epsilon(1e-14));
        CHECK(got[3 * n + i] == doctest::Approx(0.25 * (share - y[i])).epsilon(1e-12));
        CHECK(got[2 * n + i] == doctest::Approx(-got[3 * n + i]).epsilon(1e-12));
        loss -= 0.25 * std::log(y[i] == 1 ? share : 1 - share);
        moved = std::max(moved, std::abs(f[n + i]));
        least = std::min(least, y[i] == 1 ? f[n + i] : -f[n + i]);
    }
    CHECK(got[4 * n] == doctest::Approx(loss).epsilon(1e-13));
    CHECK(got[4 * n + 1] == moved);
    CHECK(got[4 * n + 2] == least);
}

TEST_CASE("softmax_turn is the curvature of softmax times a vector") {
    constexpr std::size_t n = 70;
    constexpr std::size_t k = 3;
    RandomStream stream(6, 0);
    std::vector<double> p(n * k);
    std::vector<double> a(n * k);
    std::vector<double> s(n, 0.5);
    for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t c = 0; c < k; ++c) {
            p[c * n + i] = std::exp(stream.normal());
            a[c * n + i] = stream.normal();
            sum += p[c * n + i];
        }
        for (std::size_t c = 0; c < k; ++c) {
            p[c * n + i] /= sum;
        }
    }
    const auto v = at_every_level([&](auto level) {
        std::vector<double> out(n * k);
        LogisticKernels<decltype(level)>::softmax_turn(p.data(), s.data(), a.data(), n, k,
                                                       out.data());
        return out;
    });
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t c = 0; c < k; ++c) {
            double want = 0;
            for (std::size_t l = 0; l < k; ++l) {
                want += 0.5 * p[c * n + i] * ((c == l ? 1 : 0) - p[l * n + i]) * a[l * n + i];
            }
            CHECK(v[c * n + i] == doctest::Approx(want).epsilon(1e-12));
        }
    }
}

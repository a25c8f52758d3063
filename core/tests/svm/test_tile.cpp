#include <doctest/doctest.h>

#include <vector>

#include "assay/svm/rows.hpp"
#include "assay/svm/tile.hpp"
#include "samples.hpp"

using namespace assay::svm;
using assay::MatrixView;

namespace {

template <class T>
std::vector<T> all_pairs(const KernelFunction& k, const std::vector<T>& X, std::size_t n,
                         std::size_t d) {
    const DenseRows<T> rows{MatrixView<const T>{X.data(), n, d}};
    std::vector<std::uint32_t> which(n);
    std::vector<T> values(n * rows.padded());
    std::vector<T*> out(n);
    for (std::size_t i = 0; i < n; ++i) {
        which[i] = static_cast<std::uint32_t>(i);
        out[i] = values.data() + i * rows.padded();
    }
    rows.fill(k, rows, which, 0, n, out.data());
    std::vector<T> result;
    for (std::size_t i = 0; i < n; ++i) {
        result.insert(result.end(), out[i], out[i] + n);
    }
    return result;
}

}  // namespace

TEST_CASE_TEMPLATE("tile gives the kernel's formula, symmetric, with the same bits at every level",
                   T, float, double) {
    const double allowed = sizeof(T) == 4 ? 2e-5 : 1e-12;
    for (const KernelFunction& k : samples::kernels) {
        for (const std::size_t d : {1U, 3U, 20U, 64U, 65U, 150U}) {
            constexpr std::size_t n = 37;
            auto X = samples::normal<T>(n * d, d);
            for (T& value : X) {
                value = value / static_cast<T>(std::sqrt(static_cast<double>(d)));
            }
            std::vector<T> first;
            samples::at_every_level([&] {
                const auto values = all_pairs(k, X, n, d);
                if (first.empty()) {
                    first = values;
                }
                CHECK(values == first);
            });
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    const double exact = samples::value(k, X.data() + i * d, X.data() + j * d, d);
                    CHECK(static_cast<double>(first[i * n + j]) ==
                          doctest::Approx(exact).epsilon(allowed));
                    CHECK(first[i * n + j] == first[j * n + i]);
                }
                if (k.kind == KernelKind::rbf) {
                    CHECK(first[i * n + i] == T{1});
                }
            }
        }
    }
}

TEST_CASE("shape_all is shape on every value, at every level") {
    const auto X = samples::normal<double>(45, 3);
    for (const KernelFunction& k : samples::kernels) {
        samples::at_every_level([&] {
            auto values = X;
            assay::dispatch([&](auto level) {
                ShapeAll<decltype(level), double>::run(k, values.data(), values.size());
            });
            for (std::size_t j = 0; j < X.size(); ++j) {
                CHECK(values[j] == shape<double>(k, X[j]));
            }
        });
    }
}

TEST_CASE_TEMPLATE("add_rows adds in order, for any number of rows", T, float, double) {
    constexpr std::size_t n = 100;
    const auto values = samples::normal<T>(7 * n, 1);
    const auto coef = samples::normal<double>(7, 2);
    for (std::size_t n_rows = 0; n_rows <= 7; ++n_rows) {
        std::vector<const T*> rows;
        for (std::size_t r = 0; r < n_rows; ++r) {
            rows.push_back(values.data() + r * n);
        }
        samples::at_every_level([&] {
            std::vector<double> sum(n, 0.5);
            assay::dispatch([&](auto level) {
                AddRows<decltype(level), T>::run(rows.data(), coef.data(), n_rows, 3, n - 2,
                                                 sum.data());
            });
            for (std::size_t j = 0; j < n; ++j) {
                double expected = 0.5;
                for (std::size_t r = 0; r < n_rows && j >= 3 && j < n - 2; ++r) {
                    expected = expected + coef[r] * static_cast<double>(rows[r][j]);
                }
                CHECK(sum[j] == expected);
            }
        });
    }
}

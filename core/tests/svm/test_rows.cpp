#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "assay/svm/rows.hpp"
#include "samples.hpp"

using namespace assay::svm;
using assay::MatrixView;

namespace {

constexpr std::size_t n = 50;
constexpr std::size_t d = 9;

template <class T>
std::vector<T> row_of(const Rows<T>& rows, const KernelFunction& k, const Rows<T>& from,
                      std::uint32_t which) {
    std::vector<T> values(rows.padded());
    T* out[] = {values.data()};
    rows.fill(k, from, {&which, 1}, 0, rows.size(), out);
    values.resize(rows.size());
    return values;
}

}  // namespace

TEST_CASE_TEMPLATE("dense, sparse and gram rows give the formula, and taken rows the same bits", T,
                   float, double) {
    auto X = samples::normal<double>(n * d, 5);
    std::vector<double> stored;
    std::vector<std::int64_t> columns;
    std::vector<std::int64_t> offsets = {0};
    for (std::size_t i = 0; i < n * d; ++i) {
        X[i] = X[i] < 0.3 ? 0.0 : X[i];
        if (X[i] != 0) {
            stored.push_back(X[i]);
            columns.push_back(static_cast<std::int64_t>(i % d));
        }
        if (i % d == d - 1) {
            offsets.push_back(static_cast<std::int64_t>(stored.size()));
        }
    }
    const SparseView sparse{stored, columns, offsets, n, d};
    REQUIRE(is_sound(sparse));
    for (const KernelFunction& k : samples::kernels) {
        std::vector<double> gram(n * n);
        for (std::size_t i = 0; i < n * n; ++i) {
            gram[i] = samples::value(k, X.data() + i / n * d, X.data() + i % n * d, d);
        }
        std::vector<std::unique_ptr<Rows<T>>> forms;
        forms.push_back(std::make_unique<DenseRows<T>>(MatrixView<const double>{X.data(), n, d}));
        forms.push_back(std::make_unique<SparseRows<T>>(sparse));
        forms.push_back(
            std::make_unique<GramRows<T, double>>(MatrixView<const double>{gram.data(), n, n}));
        for (std::size_t form = 0; form < forms.size(); ++form) {
            const KernelFunction used =
                form == 2 ? KernelFunction{KernelKind::precomputed, 1.0, 0.0, 1} : k;
            const Rows<T>& rows = *forms[form];
            const std::vector<std::uint32_t> some = {41, 3, 3, 49, 0};
            const auto taken = rows.take(some);
            for (std::uint32_t i = 0; i < n; i += 7) {
                const auto values = row_of(rows, used, rows, i);
                const auto part = row_of(*taken, used, rows, i);
                for (std::size_t j = 0; j < n; ++j) {
                    CHECK(static_cast<double>(values[j]) ==
                          doctest::Approx(gram[i * n + j]).epsilon(sizeof(T) == 4 ? 1e-5 : 1e-12));
                }
                for (std::size_t j = 0; j < some.size(); ++j) {
                    CHECK(part[j] == values[some[j]]);
                    CHECK(row_of(rows, used, *taken, static_cast<std::uint32_t>(j))[i] ==
                          values[some[j]]);
                }
            }
        }
    }
}

TEST_CASE("sparse rows that point out of bounds are not sound") {
    const std::vector<double> values = {1, 2};
    const std::vector<std::int64_t> good_columns = {0, 1};
    const std::vector<std::int64_t> good_offsets = {0, 1, 2};
    const auto sound = [&](const std::vector<std::int64_t>& columns,
                           const std::vector<std::int64_t>& offsets) {
        return is_sound({values, columns, offsets, 2, 2});
    };
    CHECK(sound(good_columns, good_offsets));
    CHECK_FALSE(sound({0, 2}, good_offsets));
    CHECK_FALSE(sound({0, -1}, good_offsets));
    CHECK_FALSE(sound({0}, good_offsets));
    CHECK_FALSE(sound(good_columns, {0, 3, 2}));
    CHECK_FALSE(sound(good_columns, {1, 1, 2}));
    CHECK_FALSE(sound(good_columns, {0, 1, 1}));
}

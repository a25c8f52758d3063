// The baseline vectors; those of the other levels are tested through the kernels.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "assay/common/simd.hpp"

TEST_CASE_TEMPLATE("simd computes lane by lane", T, float, double) {
    using Vector = assay::Simd<T, assay::Baseline>;
    T a[Vector::size];
    T b[Vector::size];
    for (std::size_t i = 0; i < Vector::size; ++i) {
        a[i] = static_cast<T>(i) - T{0.7F};
        b[i] = T{1.3F} * static_cast<T>(i + 1);
    }
    const Vector x = Vector::load(a);
    const Vector y = Vector::load(b);
    const auto check = [&](Vector got, auto expected) {
        T out[Vector::size];
        got.store(out);
        for (std::size_t i = 0; i < Vector::size; ++i) {
            CHECK(out[i] == static_cast<T>(expected(a[i], b[i])));
        }
    };
    check(x + y, [](T p, T q) { return p + q; });
    check(x - y, [](T p, T q) { return p - q; });
    check(x * y, [](T p, T q) { return p * q; });
    check(abs(x), [](T p, T) { return std::abs(p); });
    check(fmax(x, y), [](T p, T q) { return std::max(p, q); });
    check(sqrt(y), [](T, T q) { return std::sqrt(q); });
    check(Vector::all(T{3}), [](T, T) { return 3; });
    check(minus_product(x, y, y), [](T p, T q) { return p - q * q; });
}

TEST_CASE_TEMPLATE("not_above is true where a comparison cannot be made", T, float, double) {
    using Vector = assay::Simd<T, assay::Baseline>;
    T a[Vector::size] = {};
    a[0] = std::numeric_limits<T>::quiet_NaN();
    a[1] = 2;
    CHECK((not_above(Vector::load(a), Vector::all(1)) & 3U) == 1U);
    CHECK((not_above(Vector::load(a), Vector::all(2)) & 3U) == 3U);
}

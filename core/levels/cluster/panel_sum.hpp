// Squared distances (common/distance.hpp) of one row to a vector of centres, or to one centre.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "assay/cluster/centroid_panels.hpp"
#include "assay/common/distance.hpp"
#include "assay/common/simd.hpp"

namespace assay::cluster {
namespace {

// Stands for a `rest` that the compiler does not know. Sanitized builds use no other: the many
// variants take a quarter of an hour to compile with checks.
constexpr std::size_t unknown = lanes;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool one_variant = true;
#else
constexpr bool one_variant = false;
#endif

// The sum of common/distance.hpp for one row and one vector of centres. `rest` = d mod 8 and
// whether there is a full block are known to the compiler: sums that would stay zero are left
// out, which changes no bit (x + 0 = x).
template <class Level, std::size_t rest, bool blocks, class T>
[[gnu::always_inline]] inline Simd<double, Level> sum(const T* row, const double* panel,
                                                      std::size_t d) noexcept {
    using Vector = Simd<double, Level>;
    constexpr std::size_t used = blocks ? lanes : rest;
    Vector partial[lanes];
    const auto term = [&](std::size_t j) __attribute__((always_inline)) {
        const Vector gap =
            Vector::all(static_cast<double>(row[j])) - Vector::load(panel + j * lanes);
        return gap * gap;
    };
    if constexpr (rest == unknown) {
        for (std::size_t l = 0; l < lanes; ++l) {
            partial[l] = Vector::all(0);
        }
        for (std::size_t j = 0; j < d; ++j) {
            partial[j % lanes] = partial[j % lanes] + term(j);
        }
    } else {
#pragma GCC unroll 8
        for (std::size_t l = 0; l < used; ++l) {
            partial[l] = term(l);
        }
    }
    if constexpr (blocks && rest != unknown) {
        std::size_t j = lanes;
        for (; j + lanes <= d; j += lanes) {
#pragma GCC unroll 8
            for (std::size_t l = 0; l < lanes; ++l) {
                partial[l] = partial[l] + term(j + l);
            }
        }
#pragma GCC unroll 8
        for (std::size_t l = 0; l < rest; ++l) {
            partial[l] = partial[l] + term(j + l);
        }
    }
    // ((0+4)+(2+6)) + ((1+5)+(3+7)), without the missing ones.
    const auto add = [&](Vector a, std::size_t l) __attribute__((always_inline)) {
        return l < used ? a + partial[l < used ? l : 0] : a;
    };
    Vector even = add(partial[0], 4);
    if constexpr (used > 2) {
        even = even + add(partial[2], 6);
    }
    if constexpr (used > 1) {
        Vector odd = add(partial[1], 5);
        if constexpr (used > 3) {
            odd = odd + add(partial[3], 7);
        }
        even = even + odd;
    }
    return even;
}

// The same sum for one centre.
template <class Level, std::size_t rest, bool blocks, class T>
[[gnu::always_inline]] inline double single(const T* row, const double* centre,
                                            std::size_t d) noexcept {
    std::array<double, n_partials> partial{};
    const auto term = [&](std::size_t j) __attribute__((always_inline)) {
        const double gap = static_cast<double>(row[j]) - centre[j];
        return gap * gap;
    };
    std::size_t j = 0;
    if constexpr (rest == unknown) {
        for (; j < d; ++j) {
            partial[j % lanes] += term(j);
        }
        return join_partials(Euclidean{}, partial);
    }
    if constexpr (blocks) {
#pragma GCC unroll 8
        for (std::size_t l = 0; l < lanes; ++l) {
            partial[l] = term(l);
        }
        for (j = lanes; j + lanes <= d; j += lanes) {
#pragma GCC unroll 8
            for (std::size_t l = 0; l < lanes; ++l) {
                partial[l] += term(j + l);
            }
        }
    }
#pragma GCC unroll 8
    for (std::size_t l = 0; l < rest; ++l) {
        partial[l] += term(j + l);
    }
    return join_partials(Euclidean{}, partial);
}

// Calls visit(rest, blocks) with constants for this d.
template <class Visit>
[[gnu::always_inline]] inline void with_shape(std::size_t d, Visit&& visit) noexcept {
    [[maybe_unused]] const auto pick = [&](auto blocks) __attribute__((always_inline)) {
        switch (d % lanes) {
            case 0:
                return visit(std::integral_constant<std::size_t, 0>{}, blocks);
            case 1:
                return visit(std::integral_constant<std::size_t, 1>{}, blocks);
            case 2:
                return visit(std::integral_constant<std::size_t, 2>{}, blocks);
            case 3:
                return visit(std::integral_constant<std::size_t, 3>{}, blocks);
            case 4:
                return visit(std::integral_constant<std::size_t, 4>{}, blocks);
            case 5:
                return visit(std::integral_constant<std::size_t, 5>{}, blocks);
            case 6:
                return visit(std::integral_constant<std::size_t, 6>{}, blocks);
            default:
                return visit(std::integral_constant<std::size_t, 7>{}, blocks);
        }
    };
    if constexpr (one_variant) {
        visit(std::integral_constant<std::size_t, unknown>{}, std::true_type{});
    } else if (d >= lanes) {
        pick(std::true_type{});
    } else if (d > 0) {
        pick(std::false_type{});
    }
}

}  // namespace
}  // namespace assay::cluster

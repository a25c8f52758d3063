// assay/cluster/seed_scan.hpp, once per CPU level.
#include "assay/cluster/seed_scan.hpp"

#include "panel_sum.hpp"

namespace assay::cluster {

namespace {

template <class Vector>
[[gnu::always_inline]] inline Vector lesser(Vector a, Vector b) noexcept {
    return {a.value < b.value ? a.value : b.value};
}

// Lists the rows that may be nearer to what is offered. As good as random: no branch.
[[gnu::always_inline]] inline std::size_t open_rows(std::size_t n, const double* keep,
                                                    const double* nearest, const std::int32_t* home,
                                                    std::uint32_t* list) noexcept {
    std::size_t left = 0;
    for (std::size_t i = 0; i < n; ++i) {
        list[left] = static_cast<std::uint32_t>(i);
        left += nearest[i] < keep[home[i]] ? 0 : 1;
    }
    return left;
}

// Whether a < b, for numbers that are not negative, as all bits or none. It is as good as random,
// and the compiler would make a jump of a comparison: as integers they have the same order.
[[gnu::always_inline]] inline std::int32_t all_bits_if_less(double a, double b) noexcept {
    const auto gap = __builtin_bit_cast(std::int64_t, a) - __builtin_bit_cast(std::int64_t, b);
    return static_cast<std::int32_t>(gap >> 63);
}

// sum of w D, eight partial sums side by side.
template <class Level>
[[gnu::always_inline]] inline double total(std::size_t n, const double* nearest,
                                           const double* weight) noexcept {
    using Vector = Simd<double, Level>;
    constexpr std::size_t count = n_partials / Vector::size;
    Vector sums[count];
    for (std::size_t v = 0; v < count; ++v) {
        sums[v] = Vector::all(0);
    }
    std::size_t i = 0;
    for (; i + n_partials <= n; i += n_partials) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < count; ++v) {
            const Vector x = Vector::load(nearest + i + v * Vector::size);
            sums[v] =
                sums[v] + (weight == nullptr ? x : Vector::load(weight + i + v * Vector::size) * x);
        }
    }
    std::array<double, n_partials> partial;
    for (std::size_t v = 0; v < count; ++v) {
        sums[v].store(partial.data() + v * Vector::size);
    }
    for (std::size_t l = 0; i < n; ++i, ++l) {
        partial[l] += (weight == nullptr ? 1 : weight[i]) * nearest[i];
    }
    return join_partials(Euclidean{}, partial);
}

}  // namespace

template <class Level, class T>
double SeedScan<Level, T>::take(const T* rows, std::size_t n, std::size_t d, const double* seed,
                                std::int32_t newest, const double* keep, double* nearest,
                                std::int32_t* home, const double* weight) noexcept {
    std::uint32_t list[seed_chunk];
    const std::size_t left = open_rows(n, keep, nearest, home, list);
    with_shape(d, [&](auto rest, auto blocks) __attribute__((always_inline)) {
        for (std::size_t t = 0; t < left; ++t) {
            const std::size_t i = list[t];
            const double squared = single<Level, rest(), blocks()>(rows + i * d, seed, d);
            home[i] = squared < nearest[i] ? newest : home[i];
            nearest[i] = squared < nearest[i] ? squared : nearest[i];
        }
    });
    return total<Level>(n, nearest, weight);
}

template <class Level, class T>
void SeedScan<Level, T>::costs(const T* rows, std::size_t n, std::size_t d, const double* panels,
                               std::size_t n_panels, std::int32_t newest, const double* keep,
                               double* nearest, std::int32_t* home, const double* weight,
                               double* costs) noexcept {
    using Vector = Simd<double, Level>;
    constexpr std::size_t per_panel = lanes / Vector::size;
    std::uint32_t list[seed_chunk];
    const std::size_t left = open_rows(n, keep, nearest, home, list);
    for (std::size_t l = lanes; l < n_panels * lanes; ++l) {
        costs[l] = 0;
    }
    // What each lane would save, taken from the whole in the end.
    Vector saved[per_panel];
    for (std::size_t v = 0; v < per_panel; ++v) {
        saved[v] = Vector::all(0);
    }
    with_shape(d, [&](auto rest, auto blocks) __attribute__((always_inline)) {
        for (std::size_t t = 0; t < left; ++t) {
            const std::size_t i = list[t];
            // Rows left out in between: the processor does not see which come next.
            const T* soon = rows + list[t + 16 < left ? t + 16 : t] * d;
            __builtin_prefetch(soon);
            __builtin_prefetch(soon + d - 1);
            const T* row = rows + i * d;
            Vector squared = sum<Level, rest(), blocks()>(row, panels, d);
            const double offered = squared.value[0];
            home[i] ^= (home[i] ^ newest) & all_bits_if_less(offered, nearest[i]);
            const Vector limit = lesser(Vector::all(offered), Vector::all(nearest[i]));
            nearest[i] = limit.value[0];
            const Vector w = Vector::all(weight == nullptr ? 1 : weight[i]);
            saved[0] = saved[0] + w * (limit - lesser(squared, limit));
#pragma GCC unroll 4
            for (std::size_t v = 1; v < per_panel; ++v) {
                squared = sum<Level, rest(), blocks()>(row, panels + v * Vector::size, d);
                saved[v] = saved[v] + w * (limit - lesser(squared, limit));
            }
            for (std::size_t l = lanes; l < n_panels * lanes; l += Vector::size) {
                const double* panel = panels + l / lanes * lanes * d + l % lanes;
                squared = sum<Level, rest(), blocks()>(row, panel, d);
                (Vector::load(costs + l) + w * (limit - lesser(squared, limit))).store(costs + l);
            }
        }
    });
    for (std::size_t v = 0; v < per_panel; ++v) {
        saved[v].store(costs + v * Vector::size);
    }
    const double whole = total<Level>(n, nearest, weight);
    for (std::size_t l = 0; l < n_panels * lanes; ++l) {
        costs[l] = whole - costs[l];
    }
}

template struct SeedScan<ASSAY_LEVEL, float>;
template struct SeedScan<ASSAY_LEVEL, double>;

}  // namespace assay::cluster

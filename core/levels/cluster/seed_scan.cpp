// assay/cluster/seed_scan.hpp, once per CPU level.
#include "assay/cluster/seed_scan.hpp"

#include "panel_sum.hpp"

namespace assay::cluster {

namespace {

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

// sum of w D, eight partial sums side by side.
template <class Level>
[[gnu::always_inline]] inline double total(std::size_t n, const double* nearest,
                                           const double* weight) noexcept {
    std::array<double, n_partials> partial{};
    for (std::size_t i = 0; i < n; i += n_partials) {
#pragma GCC unroll 8
        for (std::size_t l = 0; l < n_partials; ++l) {
            if (i + l < n) {
                partial[l] += (weight == nullptr ? 1 : weight[i + l]) * nearest[i + l];
            }
        }
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
                               std::size_t n_panels, const double* keep, const double* nearest,
                               const std::int32_t* home, const double* weight,
                               double* costs) noexcept {
    using Vector = Simd<double, Level>;
    const std::size_t width = n_panels * lanes;
    std::uint32_t list[seed_chunk];
    const std::size_t left = open_rows(n, keep, nearest, home, list);
    const double before = total<Level>(n, nearest, weight);
    for (std::size_t l = 0; l < width; ++l) {
        costs[l] = 0;
    }
    // What each lane would save, taken from the whole in the end.
    with_shape(d, [&](auto rest, auto blocks) __attribute__((always_inline)) {
        for (std::size_t t = 0; t < left; ++t) {
            const std::size_t i = list[t];
            __builtin_prefetch(rows + list[t + 8 < left ? t + 8 : t] * d);
            const Vector w = Vector::all(weight == nullptr ? 1 : weight[i]);
            const auto limit = Vector::all(nearest[i]).value;
            for (std::size_t l = 0; l < width; l += Vector::size) {
                const double* panel = panels + l / lanes * lanes * d + l % lanes;
                const auto squared = sum<Level, rest(), blocks()>(rows + i * d, panel, d).value;
                const Vector saved{limit - (squared < limit ? squared : limit)};
                (Vector::load(costs + l) + w * saved).store(costs + l);
            }
        }
    });
    for (std::size_t l = 0; l < width; ++l) {
        costs[l] = before - costs[l];
    }
}

template struct SeedScan<ASSAY_LEVEL, float>;
template struct SeedScan<ASSAY_LEVEL, double>;

}  // namespace assay::cluster

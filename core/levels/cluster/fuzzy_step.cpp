// assay/cluster/fuzzy_step.hpp, once per CPU level.
#include "assay/cluster/fuzzy_step.hpp"

#include <limits>

#include "panel_sum.hpp"

namespace assay::cluster {
namespace {

// Writes S of all lanes, then P of all lanes.
template <class Level, std::size_t rest, bool blocks, class T>
[[gnu::always_inline]] inline void member(const T* row, const ScanTable& table, double m,
                                          double* squared, double* share) noexcept {
    using Vector = Simd<double, Level>;
    const std::size_t width = table.n_panels * lanes;
    auto least = Vector::all(std::numeric_limits<double>::infinity()).value;
    for (std::size_t l = 0; l < width; l += Vector::size) {
        const double* panel = table.panels + l / lanes * lanes * table.d + l % lanes;
        const Vector s = sum<Level, rest, blocks>(row, panel, table.d);
        s.store(squared + l);
        least = s.value < least ? s.value : least;
    }
    double floor = least[0];
    for (std::size_t v = 1; v < Vector::size; ++v) {
        floor = least[v] < floor ? least[v] : floor;
    }
    const auto one = Vector::all(1).value;
    const Vector numerator = Vector::all(floor);
    for (std::size_t l = 0; l < width; l += Vector::size) {
        const auto s = Vector::load(squared + l).value;
        Vector ratio{s == numerator.value ? one : numerator.value / s};
        if (m != 2) {
            ratio = pow(ratio, 1 / (m - 1));
        }
        ratio.store(share + l);
    }
    // In the order of the lanes, whatever the level. Lanes without a centre count nothing.
    double total = 0;
    for (std::size_t l = 0; l < width; ++l) {
        if (table.index[l] == std::numeric_limits<std::int32_t>::max()) {
            share[l] = 0;
            squared[l] = 0;
        }
        total += share[l];
    }
    for (std::size_t l = 0; l < width; l += Vector::size) {
        Vector{Vector::load(share + l).value / Vector::all(total).value}.store(share + l);
    }
}

}  // namespace

template <class Level, class T>
void FuzzyStep<Level, T>::gather(const T* rows, std::size_t n, const ScanTable& table,
                                 FuzzyRule rule, const double* weight, double* scratch,
                                 FuzzySums& sums) noexcept {
    using Vector = Simd<double, Level>;
    const std::size_t width = table.n_panels * lanes;
    double* squared = scratch;
    double* share = scratch + width;
    with_shape(table.d, [&](auto rest, auto blocks) __attribute__((always_inline)) {
        for (std::size_t i = 0; i < n; ++i) {
            const T* row = rows + i * table.d;
            member<Level, rest(), blocks()>(row, table, rule.m, squared, share);
            const Vector w = Vector::all(weight == nullptr ? 1 : weight[i]);
            double cost = 0;
            for (std::size_t l = 0; l < width; l += Vector::size) {
                const Vector p = Vector::load(share + l);
                const Vector power = w * (rule.m == 2 ? p * p : pow(p, rule.m));
                (power * Vector::load(squared + l)).store(squared + l);
                const Vector pull = rule.literal ? w * p : power;
                (Vector::load(sums.mass + l) + pull).store(sums.mass + l);
                double* moments = sums.moments + l / lanes * lanes * table.d + l % lanes;
                for (std::size_t j = 0; j < table.d; ++j) {
                    const Vector x = Vector::all(static_cast<double>(row[j]));
                    (Vector::load(moments + j * lanes) + pull * x).store(moments + j * lanes);
                }
            }
            for (std::size_t l = 0; l < width; ++l) {
                cost += squared[l];
            }
            sums.objective += cost;
        }
    });
}

template <class Level, class T>
void FuzzyStep<Level, T>::memberships(const T* rows, std::size_t n, const ScanTable& table,
                                      FuzzyRule rule, double* out) noexcept {
    const std::size_t width = table.n_panels * lanes;
    with_shape(table.d, [&](auto rest, auto blocks) __attribute__((always_inline)) {
        // The distances of a row go where its successor's memberships will be.
        for (std::size_t i = 0; i < n; ++i) {
            member<Level, rest(), blocks()>(rows + i * table.d, table, rule.m,
                                            out + (i + 1) * width, out + i * width);
        }
    });
}

template struct FuzzyStep<ASSAY_LEVEL, float>;
template struct FuzzyStep<ASSAY_LEVEL, double>;

}  // namespace assay::cluster

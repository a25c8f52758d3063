// assay/tree/boost_loss.hpp, once per CPU level.
//
// Sums are kept in eight lanes, row i in lane i mod 8, and added in a fixed order: the same
// bits at every level.
#include "assay/tree/boost_loss.hpp"

#include <cstring>

#include "assay/common/dispatch.hpp"
#include "assay/common/exp_log.hpp"
#include "assay/common/simd.hpp"

namespace assay::tree {
namespace {

constexpr std::size_t group = 8;
constexpr double to_integer = 0x1.8p52;
constexpr std::uint64_t to_integer_bits = std::bit_cast<std::uint64_t>(to_integer);

template <class Level>
using Real = typename Simd<double, Level>::Register;
template <class Level>
using Bits = typename Simd<double, Level>::Bits;

template <class Vector, class T>
[[gnu::always_inline]] inline Vector load(const T* from) noexcept {
    Vector value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

template <class Vector, class T>
[[gnu::always_inline]] inline void store(T* to, const Vector& value) noexcept {
    __builtin_memcpy(to, &value, sizeof value);
}

template <class R>
struct Terms {
    R g, h, loss;
};

template <Loss kind, class R, class B>
[[gnu::always_inline]] inline Terms<R> terms(R y, R f, double param) noexcept {
    const R one = R{} + 1.0;
    const R zero = R{};
    if constexpr (kind == Loss::squared) {
        const R r = f - y;
        return {r, one, r * r * 0.5};
    } else if constexpr (kind == Loss::absolute) {
        const R r = f - y;
        const R size = r < 0.0 ? -r : r;
        return {r < 0.0 ? -one : (r > 0.0 ? one : zero), one, size};
    } else if constexpr (kind == Loss::huber) {
        const R r = f - y;
        const R size = r < 0.0 ? -r : r;
        const R delta = R{} + param;
        const R cut = size > delta ? delta : size;
        return {r < 0.0 ? -cut : cut, one, cut * (size - cut * 0.5)};
    } else if constexpr (kind == Loss::quantile) {
        const R r = f - y;
        const R above = R{} + (1 - param);
        const R below = R{} - param;
        const R g = r > 0.0 ? above : below;
        return {g, one, g * r};
    } else if constexpr (kind == Loss::poisson) {
        const R e = exp_of<R, B>(f);
        return {e - y, e, e - y * f};
    } else if constexpr (kind == Loss::gamma) {
        const R e = y * exp_of<R, B>(-f);
        return {one - e, e, f + e};
    } else if constexpr (kind == Loss::logistic) {
        const R size = f < 0.0 ? -f : f;
        const R t = exp_of<R, B>(-size);
        const R inverse = one / (one + t);
        const R p = f < 0.0 ? t * inverse : inverse;
        const R positive = f > 0.0 ? f : zero;
        return {p - y, t * inverse * inverse, log_of<R, B>(one + t) + positive - y * f};
    } else {
        static_assert(kind == Loss::exponential);
        const R sign = one - y * 2.0;
        const R e = exp_of<R, B>(sign * f);
        return {sign * e, e, e};
    }
}

template <class R, class B>
[[gnu::always_inline]] inline B packed(R g, R h, const GradientUnits& units) noexcept {
    const B gradient = std::bit_cast<B>(g * units.g_scale + to_integer) - to_integer_bits;
    const B hessian = units.unit_hessian
                          ? B{} + 1
                          : std::bit_cast<B>(h * units.h_scale + to_integer) - to_integer_bits;
    return (gradient << units.shift) + hessian;
}

template <class R>
[[gnu::always_inline]] inline R size_of(R x) noexcept {
    return x < 0.0 ? -x : x;
}

// Sums in eight lanes.
template <class Level>
struct Lanes {
    static constexpr std::size_t parts = group * sizeof(double) / Level::vector_bytes;
    Real<Level> part[parts] = {};

    [[gnu::always_inline]] double total() const noexcept {
        double lane[group];
        __builtin_memcpy(lane, part, sizeof lane);
        return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
               ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    }
};

template <class Level, Loss kind>
void run_kind(const GradientRows& rows, const GradientUnits& units, std::size_t begin,
              std::size_t end, GradientSums& sums) noexcept {
    using R = Real<Level>;
    using B = Bits<Level>;
    constexpr std::size_t width = Level::vector_bytes / sizeof(double);
    Lanes<Level> abs_g;
    Lanes<Level> sum_h;
    Lanes<Level> loss;
    double y_tail[group] = {};
    double f_tail[group] = {};
    double w_tail[group] = {};
    std::uint64_t word_tail[group];
    double g_tail[group];
    double h_tail[group];
    for (std::size_t i = begin; i < end; i += group) {
        const std::size_t count = end - i < group ? end - i : group;
        const bool whole = count == group;
        const double* y = rows.target + i;
        const double* f = rows.score + i;
        const double* w = rows.weight == nullptr ? nullptr : rows.weight + i;
        if (!whole) {  // the lanes beyond the end weigh nothing
            for (std::size_t lane = 0; lane < group; ++lane) {
                const bool in = lane < count;
                y_tail[lane] = in ? y[lane] : 1;
                f_tail[lane] = in ? f[lane] : 0;
                w_tail[lane] = in ? (w == nullptr ? 1 : w[lane]) : 0;
            }
            y = y_tail;
            f = f_tail;
            w = w_tail;
        }
        for (std::size_t p = 0; p < Lanes<Level>::parts; ++p) {
            const std::size_t at = p * width;
            Terms<R> t = terms<kind, R, B>(load<R>(y + at), load<R>(f + at), rows.param);
            if (w != nullptr) {
                const R weight = load<R>(w + at);
                t = {t.g * weight, t.h * weight, t.loss * weight};
            }
            abs_g.part[p] += size_of(t.g);
            sum_h.part[p] += t.h;
            loss.part[p] += t.loss;
            if (rows.word != nullptr) {
                const B word = packed<R, B>(t.g, t.h, units);
                store(whole ? reinterpret_cast<std::uint64_t*>(rows.word) + i + at : word_tail + at,
                      word);
            }
            if (rows.gradient != nullptr) {
                store(whole ? rows.gradient + i + at : g_tail + at, t.g);
                store(whole ? rows.hessian + i + at : h_tail + at, t.h);
            }
        }
        if (!whole) {
            for (std::size_t lane = 0; lane < count; ++lane) {
                if (rows.word != nullptr) {
                    rows.word[i + lane] = static_cast<std::int64_t>(word_tail[lane]);
                }
                if (rows.gradient != nullptr) {
                    rows.gradient[i + lane] = g_tail[lane];
                    rows.hessian[i + lane] = h_tail[lane];
                }
            }
        }
    }
    sums.abs_gradient += abs_g.total();
    sums.hessian += sum_h.total();
    sums.loss += loss.total();
}

}  // namespace

template <class Level>
void BoostLoss<Level>::run(const GradientRows& rows, const GradientUnits& units, std::size_t begin,
                           std::size_t end, GradientSums& sums) noexcept {
    switch (rows.loss) {
        case Loss::squared:
            return run_kind<Level, Loss::squared>(rows, units, begin, end, sums);
        case Loss::absolute:
            return run_kind<Level, Loss::absolute>(rows, units, begin, end, sums);
        case Loss::huber:
            return run_kind<Level, Loss::huber>(rows, units, begin, end, sums);
        case Loss::quantile:
            return run_kind<Level, Loss::quantile>(rows, units, begin, end, sums);
        case Loss::poisson:
            return run_kind<Level, Loss::poisson>(rows, units, begin, end, sums);
        case Loss::gamma:
            return run_kind<Level, Loss::gamma>(rows, units, begin, end, sums);
        case Loss::logistic:
            return run_kind<Level, Loss::logistic>(rows, units, begin, end, sums);
        case Loss::exponential:
            return run_kind<Level, Loss::exponential>(rows, units, begin, end, sums);
        case Loss::softmax:
            return;
    }
}

template <class Level>
void BoostLoss<Level>::softmax(const GradientRows& rows, const GradientUnits* units,
                               std::size_t begin, std::size_t end, GradientSums* sums,
                               double* scratch) noexcept {
    using R = Real<Level>;
    using B = Bits<Level>;
    constexpr std::size_t width = Level::vector_bytes / sizeof(double);
    const std::size_t n_classes = rows.n_classes;
    Lanes<Level> loss;
    for (std::size_t i = begin; i < end; i += group) {
        const std::size_t count = end - i < group ? end - i : group;
        double y[group];
        double w[group];
        for (std::size_t lane = 0; lane < group; ++lane) {
            const bool in = lane < count;
            y[lane] = in ? rows.target[i + lane] : 0;
            w[lane] = in ? (rows.weight == nullptr ? 1 : rows.weight[i + lane]) : 0;
        }
        for (std::size_t k = 0; k < n_classes; ++k) {
            const double* f = rows.score + k * rows.rows + i;
            if (count == group) {
                __builtin_memcpy(scratch + k * group, f, group * sizeof(double));
            } else {
                for (std::size_t lane = 0; lane < group; ++lane) {
                    scratch[k * group + lane] = lane < count ? f[lane] : 0;
                }
            }
        }
        for (std::size_t p = 0; p < Lanes<Level>::parts; ++p) {
            const std::size_t at = p * width;
            const R label = load<R>(y + at);
            const R weight = load<R>(w + at);
            R highest = load<R>(scratch + at);
            for (std::size_t k = 1; k < n_classes; ++k) {
                const R f = load<R>(scratch + k * group + at);
                highest = f > highest ? f : highest;
            }
            R total = R{};
            R own = R{};
            for (std::size_t k = 0; k < n_classes; ++k) {
                const R f = load<R>(scratch + k * group + at) - highest;
                const R e = exp_of<R, B>(f);
                total += e;
                own = label == static_cast<double>(k) ? f : own;
                store(scratch + k * group + at, e);
            }
            loss.part[p] += weight * (log_of<R, B>(total) - own);
            const R inverse = (R{} + 1.0) / total;
            for (std::size_t k = 0; k < n_classes; ++k) {
                const R share = load<R>(scratch + k * group + at) * inverse;
                store(scratch + k * group + at, share);
            }
        }
        for (std::size_t k = 0; k < n_classes; ++k) {
            double abs_g[group];
            double sum_h[group];
            std::uint64_t word[group];
            double g_out[group];
            double h_out[group];
            for (std::size_t p = 0; p < Lanes<Level>::parts; ++p) {
                const std::size_t at = p * width;
                const R share = load<R>(scratch + k * group + at);
                const R weight = load<R>(w + at);
                const R is_own = load<R>(y + at) == static_cast<double>(k) ? R{} + 1.0 : R{};
                const R g = weight * (share - is_own);
                const R h = weight * (share * ((R{} + 1.0) - share));
                store(abs_g + at, size_of(g));
                store(sum_h + at, h);
                store(g_out + at, g);
                store(h_out + at, h);
                store(word + at, packed<R, B>(g, h, units[k]));
            }
            sums[k].abs_gradient += ((abs_g[0] + abs_g[1]) + (abs_g[2] + abs_g[3])) +
                                    ((abs_g[4] + abs_g[5]) + (abs_g[6] + abs_g[7]));
            sums[k].hessian += ((sum_h[0] + sum_h[1]) + (sum_h[2] + sum_h[3])) +
                               ((sum_h[4] + sum_h[5]) + (sum_h[6] + sum_h[7]));
            const std::size_t first = k * rows.rows + i;
            if (rows.word != nullptr) {
                __builtin_memcpy(rows.word + first, word, count * sizeof(double));
            }
            if (rows.gradient != nullptr) {
                __builtin_memcpy(rows.gradient + first, g_out, count * sizeof(double));
                __builtin_memcpy(rows.hessian + first, h_out, count * sizeof(double));
            }
        }
    }
    sums[0].loss += loss.total();
}

template struct BoostLoss<ASSAY_LEVEL>;

}  // namespace assay::tree

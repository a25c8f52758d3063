// assay/cluster/mixture_panel.hpp, once per CPU level.
#include "assay/cluster/mixture_panel.hpp"

#include "assay/common/dispatch.hpp"
#include "assay/common/exp_log.hpp"
#include "assay/common/simd.hpp"

namespace assay::cluster {
namespace {

template <class Level>
using Real = typename Simd<double, Level>::Register;
template <class Level>
using Bits = typename Simd<double, Level>::Bits;

template <class R>
[[gnu::always_inline]] inline R load(const double* from) noexcept {
    R value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

template <class R>
[[gnu::always_inline]] inline void store(double* to, const R& value) noexcept {
    __builtin_memcpy(to, &value, sizeof value);
}

template <class Level>
inline constexpr std::size_t width_of = Level::vector_bytes / sizeof(double);

// How many columns of a tile, and how many vectors of rows, the registers of the level hold.
template <class Level>
inline constexpr bool has_many_registers = Level::vector_bytes == 64;
template <class Level>
inline constexpr std::size_t tile_vectors = has_many_registers<Level> ? 4 : 2;
template <class Level>
inline constexpr std::size_t tile_columns = has_many_registers<Level> ? 4 : 2;

// q += squares of the whitened columns j .. j + n_j - 1; z begins at the first row of the tile.
template <class Level, std::size_t n_j>
[[gnu::always_inline]] inline void whiten_tile(const double* z, const double* factor, std::size_t d,
                                               std::size_t j,
                                               Real<Level> (&q)[tile_vectors<Level>]) noexcept {
    using R = Real<Level>;
    constexpr std::size_t n_v = tile_vectors<Level>;
    R y[n_j][n_v] = {};
    for (std::size_t i = 0; i < j + n_j; ++i) {
        R one[n_v];
        for (std::size_t v = 0; v < n_v; ++v) {
            one[v] = load<R>(z + i * panel_rows + v * width_of<Level>);
        }
        for (std::size_t a = 0; a < n_j; ++a) {
            const R weight = factor[i * d + j + a] - R{};
            for (std::size_t v = 0; v < n_v; ++v) {
                y[a][v] += weight * one[v];
            }
        }
    }
    for (std::size_t a = 0; a < n_j; ++a) {
        for (std::size_t v = 0; v < n_v; ++v) {
            q[v] += y[a][v] * y[a][v];
        }
    }
}

// A density that overflows, or that is not a number, is as small as a number can be.
template <class R>
[[gnu::always_inline]] inline R bounded(const R& square) noexcept {
    return square < 1e300 ? square : R{} + 1e300;
}

// Adds left_a right_b over the rows of a panel to the lanes of pairs (a, b).
template <class Level, std::size_t n_a, std::size_t n_b>
[[gnu::always_inline]] inline void product_tile(const double* left, const double* right,
                                                double* sums) noexcept {
    using R = Real<Level>;
    constexpr std::size_t width = width_of<Level>;
    for (std::size_t part = 0; part < panel_lanes; part += width) {
        R sum[n_a][n_b];
        for (std::size_t a = 0; a < n_a; ++a) {
            for (std::size_t b = 0; b < n_b; ++b) {
                sum[a][b] = load<R>(sums + (a * block_side + b) * panel_lanes + part);
            }
        }
        for (std::size_t i = part; i < panel_rows; i += panel_lanes) {
            R other[n_b];
            for (std::size_t b = 0; b < n_b; ++b) {
                other[b] = load<R>(right + b * panel_rows + i);
            }
            for (std::size_t a = 0; a < n_a; ++a) {
                const R one = load<R>(left + a * panel_rows + i);
                for (std::size_t b = 0; b < n_b; ++b) {
                    sum[a][b] += one * other[b];
                }
            }
        }
        for (std::size_t a = 0; a < n_a; ++a) {
            for (std::size_t b = 0; b < n_b; ++b) {
                store(sums + (a * block_side + b) * panel_lanes + part, sum[a][b]);
            }
        }
    }
}

template <class Level, std::size_t n_a>
[[gnu::always_inline]] inline void product_block(const double* left, const double* right,
                                                 std::size_t n_b, double* sums) noexcept {
    constexpr std::size_t step = tile_columns<Level>;
    std::size_t b = 0;
    for (; b + step <= n_b; b += step) {
        product_tile<Level, n_a, step>(left, right + b * panel_rows, sums + b * panel_lanes);
    }
    for (; b < n_b; ++b) {
        product_tile<Level, n_a, 1>(left, right + b * panel_rows, sums + b * panel_lanes);
    }
}

template <class Level>
[[gnu::always_inline]] inline bool nobody(const double* r) noexcept {
    using R = Real<Level>;
    R top = R{};
    for (std::size_t i = 0; i < panel_rows; i += width_of<Level>) {
        const R value = load<R>(r + i);
        top = value > top ? value : top;
    }
    double lanes[width_of<Level>];
    store(lanes, top);
    bool none = true;
    for (const double lane : lanes) {
        none = none && lane == 0;
    }
    return none;
}

template <class Level>
[[gnu::always_inline]] inline void add_rows(const double* values, double* lanes) noexcept {
    using R = Real<Level>;
    for (std::size_t part = 0; part < panel_lanes; part += width_of<Level>) {
        R sum = load<R>(lanes + part);
        for (std::size_t i = part; i < panel_rows; i += panel_lanes) {
            sum += load<R>(values + i);
        }
        store(lanes + part, sum);
    }
}

}  // namespace

template <class Level>
void MixturePanel<Level>::dense(const double* x, std::size_t d, const double* mean,
                                const double* factor, double constant, double* z,
                                double* out) noexcept {
    using R = Real<Level>;
    constexpr std::size_t n_v = tile_vectors<Level>;
    constexpr std::size_t width = width_of<Level>;
    for (std::size_t j = 0; j < d; ++j) {
        for (std::size_t i = 0; i < panel_rows; i += width) {
            store(z + j * panel_rows + i, load<R>(x + j * panel_rows + i) - mean[j]);
        }
    }
    for (std::size_t i = 0; i < panel_rows; i += n_v * width) {
        R q[n_v] = {};
        std::size_t j = 0;
        for (; j + 4 <= d; j += 4) {
            whiten_tile<Level, 4>(z + i, factor, d, j, q);
        }
        if (j + 2 <= d) {
            whiten_tile<Level, 2>(z + i, factor, d, j, q);
            j += 2;
        }
        if (j < d) {
            whiten_tile<Level, 1>(z + i, factor, d, j, q);
        }
        for (std::size_t v = 0; v < n_v; ++v) {
            store(out + i + v * width, constant - bounded(q[v]) * 0.5);
        }
    }
}

template <class Level>
void MixturePanel<Level>::diagonal(const double* x, std::size_t d, const double* mean,
                                   const double* factor, double constant, double* out) noexcept {
    using R = Real<Level>;
    constexpr std::size_t width = width_of<Level>;
    for (std::size_t i = 0; i < panel_rows; i += width) {
        R q = R{};
        for (std::size_t j = 0; j < d; ++j) {
            const R y = (load<R>(x + j * panel_rows + i) - mean[j]) * factor[j];
            q += y * y;
        }
        store(out + i, constant - bounded(q) * 0.5);
    }
}

template <class Level>
void MixturePanel<Level>::share(double* f, std::size_t k, const double* use,
                                double* norm) noexcept {
    using R = Real<Level>;
    using B = Bits<Level>;
    for (std::size_t i = 0; i < panel_rows; i += width_of<Level>) {
        R top = load<R>(f + i);
        for (std::size_t c = 1; c < k; ++c) {
            const R value = load<R>(f + c * panel_rows + i);
            top = value > top ? value : top;
        }
        R sum = R{};
        for (std::size_t c = 0; c < k; ++c) {
            const R below = load<R>(f + c * panel_rows + i) - top;
            const R e = exp_of<R, B>(below);
            const R kept = below < -690.0 ? R{} : e;
            store(f + c * panel_rows + i, kept);
            sum += kept;
        }
        store(norm + i, top + log_of<R, B>(sum));
        const R scale = load<R>(use + i) / sum;
        for (std::size_t c = 0; c < k; ++c) {
            store(f + c * panel_rows + i, load<R>(f + c * panel_rows + i) * scale);
        }
    }
}

template <class Level>
void MixturePanel<Level>::add_dense(const double* x, std::size_t d, const double* mean,
                                    const double* r, double* z, double* weighted, double* count,
                                    double* first, double* second) noexcept {
    using R = Real<Level>;
    if (nobody<Level>(r)) {
        return;
    }
    add_rows<Level>(r, count);
    for (std::size_t j = 0; j < d; ++j) {
        double* at = z + j * panel_rows;
        double* to = weighted + j * panel_rows;
        for (std::size_t i = 0; i < panel_rows; i += width_of<Level>) {
            const R gap = load<R>(x + j * panel_rows + i) - mean[j];
            store(at + i, gap);
            store(to + i, gap * load<R>(r + i));
        }
        add_rows<Level>(to, first + j * panel_lanes);
    }
    for (std::size_t a = 0; a < d; a += block_side) {
        const std::size_t n_a = d - a < block_side ? d - a : block_side;
        const double* left = weighted + a * panel_rows;
        for (std::size_t b = 0; b <= a; b += block_side) {
            const std::size_t n_b = d - b < block_side ? d - b : block_side;
            const double* right = z + b * panel_rows;
            double* sums = second + block_position(a, b);
            switch (n_a) {
                case 1:
                    product_block<Level, 1>(left, right, n_b, sums);
                    break;
                case 2:
                    product_block<Level, 2>(left, right, n_b, sums);
                    break;
                case 3:
                    product_block<Level, 3>(left, right, n_b, sums);
                    break;
                default:
                    product_block<Level, 4>(left, right, n_b, sums);
            }
        }
    }
}

template <class Level>
void MixturePanel<Level>::add_diagonal(const double* x, std::size_t d, const double* mean,
                                       const double* r, double* count, double* first,
                                       double* second) noexcept {
    using R = Real<Level>;
    if (nobody<Level>(r)) {
        return;
    }
    add_rows<Level>(r, count);
    for (std::size_t j = 0; j < d; ++j) {
        for (std::size_t part = 0; part < panel_lanes; part += width_of<Level>) {
            R one = load<R>(first + j * panel_lanes + part);
            R two = load<R>(second + j * panel_lanes + part);
            for (std::size_t i = part; i < panel_rows; i += panel_lanes) {
                const R gap = load<R>(x + j * panel_rows + i) - mean[j];
                const R weighted = gap * load<R>(r + i);
                one += weighted;
                two += weighted * gap;
            }
            store(first + j * panel_lanes + part, one);
            store(second + j * panel_lanes + part, two);
        }
    }
}

template struct MixturePanel<ASSAY_LEVEL>;

}  // namespace assay::cluster

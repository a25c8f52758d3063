// assay/linear/logistic_kernels.hpp, once per CPU level.
#include "assay/linear/logistic_kernels.hpp"

#include "assay/common/dispatch.hpp"
#include "assay/common/exp_log.hpp"
#include "assay/common/simd.hpp"

namespace assay::linear::logit {
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

// Eight numbers, in as many registers as the level needs.
template <class Level>
struct Lanes {
    static constexpr std::size_t parts = lane_count * sizeof(double) / Level::vector_bytes;
    static constexpr std::size_t width = Level::vector_bytes / sizeof(double);
    Real<Level> part[parts] = {};

    [[gnu::always_inline]] double sum() const noexcept {
        double lane[lane_count];
        __builtin_memcpy(lane, part, sizeof lane);
        return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
               ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    }
    [[gnu::always_inline]] double least() const noexcept {
        double lane[lane_count];
        __builtin_memcpy(lane, part, sizeof lane);
        double found = lane[0];
        for (std::size_t i = 1; i < lane_count; ++i) {
            found = lane[i] < found ? lane[i] : found;
        }
        return found;
    }
    [[gnu::always_inline]] double largest() const noexcept {
        double lane[lane_count];
        __builtin_memcpy(lane, part, sizeof lane);
        double found = lane[0];
        for (std::size_t i = 1; i < lane_count; ++i) {
            found = lane[i] > found ? lane[i] : found;
        }
        return found;
    }
};

// The sums of eight registers of eight numbers, each in the order of Lanes::sum().
template <class Level>
[[gnu::always_inline]] inline Real<Level> row_sums(const Real<Level> (&row)[lane_count]) noexcept {
    using R = Real<Level>;
    R two[4];
    for (std::size_t k = 0; k < 4; ++k) {
        const R a = row[2 * k];
        const R b = row[2 * k + 1];
        two[k] = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
                 __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    }
    R four[2];
    for (std::size_t k = 0; k < 2; ++k) {
        const R a = two[2 * k];
        const R b = two[2 * k + 1];
        four[k] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
                  __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
    return __builtin_shufflevector(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15);
}

// Eight numbers of a row array; beyond the end: `filler`.
struct Tail {
    double value[lane_count];

    [[gnu::always_inline]] const double* of(const double* from, std::size_t count,
                                            double filler) noexcept {
        for (std::size_t i = 0; i < lane_count; ++i) {
            value[i] = i < count ? from[i] : filler;
        }
        return value;
    }
};

[[gnu::always_inline]] inline void keep(double* to, const double* from,
                                        std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        to[i] = from[i];
    }
}

// Columns j .. j + n_j - 1 of the lower triangle against n_v vectors of columns from k on.
template <class Level, std::size_t n_j, std::size_t n_v>
[[gnu::always_inline]] inline void gram_tile(const double* x, const double* weighted,
                                             std::size_t stride, std::size_t rows, double* gram,
                                             std::size_t j, std::size_t k) noexcept {
    using R = Real<Level>;
    constexpr std::size_t width = Level::vector_bytes / sizeof(double);
    R sum[n_j][n_v];
    for (std::size_t a = 0; a < n_j; ++a) {
        for (std::size_t v = 0; v < n_v; ++v) {
            sum[a][v] = load<R>(gram + (j + a) * stride + k + v * width);
        }
    }
    const double* left = weighted + j;
    const double* right = x + k;
    for (std::size_t i = 0; i < rows; ++i) {
        R other[n_v];
        for (std::size_t v = 0; v < n_v; ++v) {
            other[v] = load<R>(right + v * width);
        }
        for (std::size_t a = 0; a < n_j; ++a) {
            const R one = left[a] - R{};
            for (std::size_t v = 0; v < n_v; ++v) {
                sum[a][v] += one * other[v];
            }
        }
        left += stride;
        right += stride;
    }
    for (std::size_t a = 0; a < n_j; ++a) {
        for (std::size_t v = 0; v < n_v; ++v) {
            store(gram + (j + a) * stride + k + v * width, sum[a][v]);
        }
    }
}

}  // namespace

template <class Level>
void LogisticKernels<Level>::centred(const double* x, std::size_t cols, std::size_t rows,
                                     const double* centre, const double* factor,
                                     double* __restrict out, std::size_t stride) noexcept {
    using R = Real<Level>;
    constexpr std::size_t width = Level::vector_bytes / sizeof(double);
    const auto some = [&](std::size_t j) {
        store(out + j, (load<R>(x + j) - load<R>(centre + j)) * load<R>(factor + j));
    };
    for (std::size_t i = 0; i < rows; ++i) {
        if (cols < width) {
            for (std::size_t j = 0; j < cols; ++j) {
                out[j] = (x[j] - centre[j]) * factor[j];
            }
        } else {
            for (std::size_t j = 0; j + width < cols; j += width) {
                some(j);
            }
            some(cols - width);  // the last ones, some of them again
        }
        x += cols;
        out += stride;
    }
}

template <class Level>
void LogisticKernels<Level>::dots(const double* x, std::size_t stride, std::size_t rows,
                                  const double* w, double* f, const double* next,
                                  std::size_t ahead) noexcept {
    using R = Real<Level>;
    using L = Lanes<Level>;
    constexpr std::size_t line = 64 / sizeof(double);
    const std::size_t share = ahead > 0 && rows >= lane_count ? ahead / (rows / lane_count) + 1 : 0;
    const auto dot = [&](std::size_t i) {
        const double* row = x + i * stride;
        L sum;
        for (std::size_t j = 0; j < stride; j += lane_count) {
            for (std::size_t p = 0; p < L::parts; ++p) {
                sum.part[p] += load<R>(row + j + p * L::width) * load<R>(w + j + p * L::width);
            }
        }
        return sum;
    };
    std::size_t i = 0;
    if constexpr (L::parts == 1) {
        for (; i + lane_count <= rows; i += lane_count) {
            R sums[lane_count];
            for (std::size_t k = 0; k < lane_count; ++k) {
                sums[k] = dot(i + k).part[0];
            }
            store(f + i, row_sums<Level>(sums));
            for (std::size_t k = 0; k < share; k += line) {
                __builtin_prefetch(next + i / lane_count * share + k, 0, 2);
            }
        }
    }
    for (; i < rows; ++i) {
        f[i] = dot(i).sum();
    }
}

template <class Level>
void LogisticKernels<Level>::add_gradient(const double* x, std::size_t stride, std::size_t rows,
                                          const double* r, double* g) noexcept {
    using R = Real<Level>;
    using L = Lanes<Level>;
    std::size_t j = 0;
    for (; j + 3 * lane_count <= stride; j += 3 * lane_count) {
        L a;
        L b;
        L c;
        for (std::size_t p = 0; p < L::parts; ++p) {
            a.part[p] = load<R>(g + j + p * L::width);
            b.part[p] = load<R>(g + j + lane_count + p * L::width);
            c.part[p] = load<R>(g + j + 2 * lane_count + p * L::width);
        }
        for (std::size_t i = 0; i < rows; ++i) {
            const double* row = x + i * stride + j;
            const R scale = r[i] - R{};
            for (std::size_t p = 0; p < L::parts; ++p) {
                a.part[p] += scale * load<R>(row + p * L::width);
                b.part[p] += scale * load<R>(row + lane_count + p * L::width);
                c.part[p] += scale * load<R>(row + 2 * lane_count + p * L::width);
            }
        }
        for (std::size_t p = 0; p < L::parts; ++p) {
            store(g + j + p * L::width, a.part[p]);
            store(g + j + lane_count + p * L::width, b.part[p]);
            store(g + j + 2 * lane_count + p * L::width, c.part[p]);
        }
    }
    for (; j < stride; j += lane_count) {
        L a;
        for (std::size_t p = 0; p < L::parts; ++p) {
            a.part[p] = load<R>(g + j + p * L::width);
        }
        for (std::size_t i = 0; i < rows; ++i) {
            const R scale = r[i] - R{};
            for (std::size_t p = 0; p < L::parts; ++p) {
                a.part[p] += scale * load<R>(x + i * stride + j + p * L::width);
            }
        }
        for (std::size_t p = 0; p < L::parts; ++p) {
            store(g + j + p * L::width, a.part[p]);
        }
    }
}

template <class Level>
void LogisticKernels<Level>::add_gram(const double* x, std::size_t stride, std::size_t rows,
                                      const double* d, double* gram, double* scratch) noexcept {
    using R = Real<Level>;
    constexpr std::size_t width = Level::vector_bytes / sizeof(double);
    for (std::size_t i = 0; i < rows; ++i) {
        const R scale = d[i] - R{};
        for (std::size_t j = 0; j < stride; j += width) {
            store(scratch + i * stride + j, scale * load<R>(x + i * stride + j));
        }
    }
    // As many sums as the level has registers for.
    constexpr std::size_t n_j = width == 8 ? 8 : 4;
    for (std::size_t j = 0; j < stride; j += n_j) {
        const std::size_t end = (j / lane_count + 1) * lane_count;  // up to the diagonal
        std::size_t k = 0;
        for (; k + 2 * width <= end; k += 2 * width) {
            gram_tile<Level, n_j, 2>(x, scratch, stride, rows, gram, j, k);
        }
        for (; k < end; k += width) {
            gram_tile<Level, n_j, 1>(x, scratch, stride, rows, gram, j, k);
        }
    }
}

template <class Level>
void LogisticKernels<Level>::logistic(const double* f, const double* before, const double* y,
                                      const double* s, std::size_t rows, double* r, double* d,
                                      TileSums& sums) noexcept {
    using R = Real<Level>;
    using B = Bits<Level>;
    using L = Lanes<Level>;
    L loss;
    L least;
    L moved;
    for (std::size_t p = 0; p < L::parts; ++p) {
        least.part[p] = R{} + sums.least_margin;
        moved.part[p] = R{} + sums.moved;
    }
    Tail f_tail;
    Tail b_tail;
    Tail y_tail;
    Tail s_tail;
    double r_tail[lane_count];
    double d_tail[lane_count];
    for (std::size_t i = 0; i < rows; i += lane_count) {
        const std::size_t count = rows - i < lane_count ? rows - i : lane_count;
        const bool whole = count == lane_count;
        const double* fi = whole ? f + i : f_tail.of(f + i, count, 0);
        const double* yi = whole ? y + i : y_tail.of(y + i, count, 1);
        const double* si = whole ? s + i : s_tail.of(s + i, count, 0);
        const double* bi =
            before == nullptr ? fi : (whole ? before + i : b_tail.of(before + i, count, 0));
        double* ri = whole ? r + i : r_tail;
        double* di = whole ? d + i : d_tail;
        for (std::size_t p = 0; p < L::parts; ++p) {
            const std::size_t at = p * L::width;
            const R score = load<R>(fi + at);
            const R sign = load<R>(yi + at);
            const R weight = load<R>(si + at);
            const R z = score * sign;
            const R size = z < 0.0 ? -z : z;
            const R e = exp_of<R, B>(-size);
            const R near = 1.0 / (1.0 + e);  // sigma(|z|)
            const R far = e * near;
            const R wrong = z < 0.0 ? near : far;
            store(ri + at, -(weight * sign * wrong));
            store(di + at, weight * near * far);
            loss.part[p] += weight * (log1p_of<R, B>(e) + (z < 0.0 ? size : R{}));
            const R margin = weight > 0.0 ? z : R{} + 1e300;
            least.part[p] = margin < least.part[p] ? margin : least.part[p];
            R step = score - load<R>(bi + at);
            step = step < 0.0 ? -step : step;
            moved.part[p] = step > moved.part[p] ? step : moved.part[p];
        }
        if (!whole) {
            keep(r + i, r_tail, count);
            keep(d + i, d_tail, count);
        }
    }
    sums.loss += loss.sum();
    sums.least_margin = least.least();
    sums.moved = moved.largest();
}

template <class Level>
void LogisticKernels<Level>::softmax(const double* f, const double* before, const std::int32_t* y,
                                     const double* s, std::size_t rows, std::size_t n_classes,
                                     double* p, double* r, TileSums& sums) noexcept {
    using R = Real<Level>;
    using B = Bits<Level>;
    using L = Lanes<Level>;
    constexpr std::size_t width = L::width;
    L loss;
    L least;
    L moved;
    for (std::size_t part = 0; part < L::parts; ++part) {
        least.part[part] = R{} + sums.least_margin;
        moved.part[part] = R{} + sums.moved;
    }
    Tail tail;
    Tail s_tail;
    double label[lane_count];
    for (std::size_t i = 0; i < rows; i += lane_count) {
        const std::size_t count = rows - i < lane_count ? rows - i : lane_count;
        const bool whole = count == lane_count;
        for (std::size_t lane = 0; lane < lane_count; ++lane) {
            label[lane] = lane < count ? static_cast<double>(y[i + lane]) : 0.0;
        }
        const double* si = whole ? s + i : s_tail.of(s + i, count, 0);
        for (std::size_t part = 0; part < L::parts; ++part) {
            const std::size_t at = part * width;
            const auto read = [&](const double* from, std::size_t k) {
                const double* start = from + k * rows + i;
                return load<R>((whole ? start : tail.of(start, count, 0)) + at);
            };
            const auto write = [&](double* to, std::size_t k, R value) {
                if (whole) {
                    store(to + k * rows + i + at, value);
                } else {
                    double lanes[width];
                    store(lanes, value);
                    for (std::size_t lane = 0; lane < width && at + lane < count; ++lane) {
                        to[k * rows + i + at + lane] = lanes[lane];
                    }
                }
            };
            const R own = load<R>(label + at);
            const R weight = load<R>(si + at);
            R top = R{} - 1e300;    // of all classes
            R other = R{} - 1e300;  // of the other classes
            R right = R{};          // the score of the row's class
            R step = moved.part[part];
            for (std::size_t k = 0; k < n_classes; ++k) {
                const R score = read(f, k);
                const auto mine = own == static_cast<double>(k);
                top = score > top ? score : top;
                const R rest = mine ? R{} - 1e300 : score;
                other = rest > other ? rest : other;
                right = mine ? score : right;
                if (before != nullptr) {
                    R change = score - read(before, k);
                    change = change < 0.0 ? -change : change;
                    step = change > step ? change : step;
                }
            }
            moved.part[part] = step;
            R sum = R{};
            R rest = R{};
            for (std::size_t k = 0; k < n_classes; ++k) {
                const R e = exp_of<R, B>(read(f, k) - top);
                write(p, k, e);
                sum += e;
                rest += own == static_cast<double>(k) ? R{} : e;
            }
            const R scale = 1.0 / sum;
            for (std::size_t k = 0; k < n_classes; ++k) {
                const R share = read(p, k) * scale;
                write(p, k, share);
                const R wrong = weight * share;
                write(r, k, own == static_cast<double>(k) ? -(weight * (rest * scale)) : wrong);
            }
            // ln(sum) - (f_y - top): from the small side where the row's class leads.
            const R lead = log1p_of<R, B>(rest);
            const R late = log_of<R, B>(sum) + (top - right);
            loss.part[part] += weight * (right == top ? lead : late);
            const R margin = weight > 0.0 ? right - other : R{} + 1e300;
            least.part[part] = margin < least.part[part] ? margin : least.part[part];
        }
    }
    sums.loss += loss.sum();
    sums.least_margin = least.least();
    sums.moved = moved.largest();
}

template <class Level>
void LogisticKernels<Level>::softmax_turn(const double* p, const double* s, const double* a,
                                          std::size_t rows, std::size_t n_classes,
                                          double* v) noexcept {
    constexpr std::size_t block = 64;
    double mean[block];
    for (std::size_t begin = 0; begin < rows; begin += block) {
        const std::size_t count = rows - begin < block ? rows - begin : block;
        for (std::size_t i = 0; i < count; ++i) {
            mean[i] = 0;
        }
        for (std::size_t k = 0; k < n_classes; ++k) {
            const std::size_t at = k * rows + begin;
            for (std::size_t i = 0; i < count; ++i) {
                mean[i] += p[at + i] * a[at + i];
            }
        }
        for (std::size_t k = 0; k < n_classes; ++k) {
            const std::size_t at = k * rows + begin;
            for (std::size_t i = 0; i < count; ++i) {
                v[at + i] = s[begin + i] * p[at + i] * (a[at + i] - mean[i]);
            }
        }
    }
}

template struct LogisticKernels<ASSAY_LEVEL>;

}  // namespace assay::linear::logit

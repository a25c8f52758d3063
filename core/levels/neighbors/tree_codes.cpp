// assay/neighbors/tree_kernels.hpp for codes, once per CPU level.
#include <bit>

#include "assay/common/simd.hpp"
#include "assay/neighbors/tree_kernels.hpp"

namespace assay::neighbors {
namespace {

template <class Level>
struct Lanes {
    using Vector = Simd<double, Level>;
    static constexpr std::size_t count = 2;  // vectors side by side: additions wait for each other
    static constexpr std::size_t rows = count * Vector::size;

    // The terms of one column for the rows in the lanes of one vector.
    [[gnu::always_inline]] static Vector term(const CodeColumn& column, Vector x,
                                              const double* codes) noexcept {
        const Vector q = Vector::all(column.value);
        if (column.kind == CodeColumn::number) {
            return abs(q - x);
        }
        if (column.kind == CodeColumn::level) {
            const Vector weight = Vector::all(column.weight);
            const Vector zero = Vector::all(0.0);
            return {x.value == q.value ? zero.value : weight.value};
        }
        double terms[Vector::size];
        for (std::size_t lane = 0; lane < Vector::size; ++lane) {
            const double code = codes[lane];
            terms[lane] = code >= 0 ? column.terms[static_cast<std::size_t>(code)] : 0.0;
        }
        return Vector::load(terms);
    }
};

}  // namespace

template <class Level, class Query>
std::uint32_t TreeKernels<Level, Query>::bounds(const Query& query, const double* box, double limit,
                                                double* low) noexcept {
    double sum[fan_out] = {};
    for (std::size_t i = 0; i < query.n_columns; ++i) {
        const CodeColumn& column = query.columns[i];
        const double* side = box + std::size_t{column.column} * 2 * fan_out;
        if (column.kind == CodeColumn::number) {
            const double x = column.value;
            for (std::size_t c = 0; c < fan_out; ++c) {
                const double below = side[c] - x;
                const double above = x - side[fan_out + c];
                const double gap = below > above ? below : above;
                sum[c] += gap > 0 ? gap : 0.0;
            }
        } else {
            const auto bit = static_cast<std::uint64_t>(column.value) % 64;
            const double inside = column.inside;
            const double outside = column.outside;
            for (std::size_t c = 0; c < fan_out; ++c) {
                const auto levels = __builtin_bit_cast(std::uint64_t, side[c]);
                // All bits: rows below miss the value, which then adds nothing.
                const double there = levels == ~std::uint64_t{0} ? 0.0 : inside;
                sum[c] += (levels >> bit & 1) != 0 ? there : outside;
            }
        }
    }
    std::uint32_t near = 0;
    for (std::size_t c = 0; c < fan_out; ++c) {
        low[c] = query.weight > 0 ? sum[c] / query.weight : 0.0;
        near |= (low[c] <= limit ? 1U : 0U) << c;
    }
    return near;
}

template <class Level, class Query>
std::size_t TreeKernels<Level, Query>::scan(const Query& query, const double* leaf,
                                            std::size_t lanes, std::size_t rows, double limit,
                                            LeafHit* hits) noexcept {
    using Step = Lanes<Level>;
    using Vector = typename Step::Vector;
    const Vector zero = Vector::all(0.0);
    const Vector one = Vector::all(1.0);
    std::size_t found = 0;
    for (std::size_t first = 0; first < rows; first += Step::rows) {
        // The last step may be half outside the leaf, which has room for 8 rows at a time.
        const std::size_t count = first + Step::rows <= lanes ? Step::count : 1;
        Vector sum[Step::count];
        Vector weight[Step::count];
        for (std::size_t v = 0; v < Step::count; ++v) {
            sum[v] = zero;
            weight[v] = Vector::all(query.plain_weight);
        }
        for (std::size_t i = 0; i < query.n_plain; ++i) {
            const CodeColumn& column = query.columns[i];
            const double* codes = leaf + column.column * lanes + first;
#pragma GCC unroll 2
            for (std::size_t v = 0; v < count; ++v) {
                const Vector x = Vector::load(codes + v * Vector::size);
                sum[v] = sum[v] + Step::term(column, x, codes + v * Vector::size);
            }
        }
        for (std::size_t i = query.n_plain; i < query.n_columns; ++i) {
            const CodeColumn& column = query.columns[i];
            const double* codes = leaf + column.column * lanes + first;
            const Vector share = Vector::all(column.weight);
#pragma GCC unroll 2
            for (std::size_t v = 0; v < count; ++v) {
                const Vector x = Vector::load(codes + v * Vector::size);
                const Vector term = Step::term(column, x, codes + v * Vector::size);
                sum[v].value += x.value == x.value ? term.value : zero.value;
                weight[v].value += x.value == x.value ? share.value : zero.value;
            }
        }
        for (std::size_t v = 0; v < count; ++v) {
            const std::size_t start = first + v * Vector::size;
            if (start >= rows) {
                break;
            }
            const Vector distance = {weight[v].value > zero.value ? sum[v].value / weight[v].value
                                                                  : one.value};
            std::uint32_t rest = not_above(distance, Vector::all(limit));
            if (start + Vector::size > rows) {
                rest &= (1U << (rows - start)) - 1;
            }
            if (rest == 0) {
                continue;
            }
            double distances[Vector::size];
            distance.store(distances);
            for (; rest != 0; rest &= rest - 1) {
                const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
                hits[found++] = {distances[lane], static_cast<std::uint32_t>(start + lane)};
            }
        }
    }
    return found;
}

template struct TreeKernels<ASSAY_LEVEL, CodeQuery>;

}  // namespace assay::neighbors

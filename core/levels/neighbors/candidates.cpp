// assay/neighbors/candidates.hpp, once per CPU level.
#include "assay/neighbors/candidates.hpp"

#include <bit>
#include <limits>
#include <type_traits>

#include "assay/common/distance.hpp"
#include "assay/common/simd.hpp"
#include "point_total.hpp"

namespace assay::neighbors {
namespace {

template <class Vector>
[[gnu::always_inline]] inline Vector lesser(Vector a, Vector b) noexcept {
    return {a.value < b.value ? a.value : b.value};
}

// b with its lanes moved up by one, and the last lane of a in front.
template <class Vector>
[[gnu::always_inline]] inline Vector shift_in(Vector a, Vector b) noexcept {
    if constexpr (Vector::size == 2) {
        return {__builtin_shufflevector(a.value, b.value, 1, 2)};
    } else if constexpr (Vector::size == 4) {
        return {__builtin_shufflevector(a.value, b.value, 3, 4, 5, 6)};
    } else {
        static_assert(Vector::size == 8);
        return {__builtin_shufflevector(a.value, b.value, 7, 8, 9, 10, 11, 12, 13, 14)};
    }
}

// D columns (0: as many as the query says), W sums.
template <std::size_t D, std::size_t W, class Level, class Metric>
[[gnu::always_inline]] inline void scan(const PointQuery<Metric>& query, const double* leaf,
                                        std::size_t lanes, std::size_t rows, std::uint32_t place,
                                        Candidates& candidates) noexcept {
    using Vector = Simd<double, Level>;
    constexpr std::size_t n = W / Vector::size;
    const Vector slack = Vector::all(candidates.slack);
    const Vector lowest = Vector::all(-std::numeric_limits<double>::infinity());
    Vector limit = Vector::all(candidates.limit);
    Vector smallest[n];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < n; ++i) {
        smallest[i] = Vector::load(candidates.smallest + i * Vector::size);
    }
    std::size_t n_kept = candidates.n_kept;
    for (std::size_t first = 0; first < rows; first += Vector::size) {
        const auto difference = [&](std::size_t j) __attribute__((always_inline)) {
            return Vector::all(query.values[j]) - Vector::load(leaf + j * lanes + first);
        };
        const Vector sum = total<D, Vector>(query.metric, query.d, difference);
        std::uint32_t rest = not_above(sum, limit);
        if (first + Vector::size > rows) {
            rest &= (1U << (rows - first)) - 1;
        }
        if (rest == 0) {
            continue;
        }
        double sums[Vector::size];
        sum.store(sums);
        do {
            const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
            rest &= rest - 1;
            candidates.sums[n_kept] = sums[lane];
            candidates.places[n_kept++] = place + static_cast<std::uint32_t>(first + lane);
            const Vector found = Vector::all(sums[lane]);
#pragma GCC unroll 16
            for (std::size_t from_end = 0; from_end < n; ++from_end) {
                const std::size_t i = n - 1 - from_end;
                smallest[i] = fmax(shift_in(i > 0 ? smallest[i - 1] : lowest, smallest[i]),
                                   lesser(smallest[i], found));
            }
        } while (rest != 0);
        limit = Vector::all(smallest[n - 1].value[Vector::size - 1]) * slack;
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < n; ++i) {
        smallest[i].store(candidates.smallest + i * Vector::size);
    }
    candidates.limit = limit.value[0];
    candidates.n_kept = n_kept;
}

template <std::size_t D, class Level, class Metric>
[[gnu::always_inline]] inline void scan_width(const PointQuery<Metric>& query, const double* leaf,
                                              std::size_t lanes, std::size_t rows,
                                              std::uint32_t place,
                                              Candidates& candidates) noexcept {
    switch (candidates.width) {
        case 8:
            return scan<D, 8, Level>(query, leaf, lanes, rows, place, candidates);
        case 16:
            return scan<D, 16, Level>(query, leaf, lanes, rows, place, candidates);
        default:
            return scan<D, 32, Level>(query, leaf, lanes, rows, place, candidates);
    }
}

// Powers take so long that it does not matter whether the columns are known.
template <class Metric>
constexpr bool quick = std::is_empty_v<Metric>;

}  // namespace

template <class Level, class Query>
void CandidateScan<Level, Query>::run(const Query& query, const double* leaf, std::size_t lanes,
                                      std::size_t rows, std::uint32_t place,
                                      Candidates& candidates) noexcept {
    if constexpr (quick<std::remove_cvref_t<decltype(query.metric)>>) {
        switch (query.d) {
            case 2:
                return scan_width<2, Level>(query, leaf, lanes, rows, place, candidates);
            case 3:
                return scan_width<3, Level>(query, leaf, lanes, rows, place, candidates);
            case 4:
                return scan_width<4, Level>(query, leaf, lanes, rows, place, candidates);
            default:
                break;
        }
    }
    scan_width<0, Level>(query, leaf, lanes, rows, place, candidates);
}

template <class Level, class Query>
std::size_t CandidateScan<Level, Query>::rank(Candidates& candidates) noexcept {
    using Vector = Simd<double, Level>;
    const Vector limit = Vector::all(candidates.limit);
    const std::size_t width = candidates.width;
    const std::size_t before = width - candidates.k;
    std::size_t found = 0;
    for (std::size_t first = 0; first < candidates.n_kept; first += Vector::size) {
        std::uint32_t rest = not_above(Vector::load(candidates.sums + first), limit);
        if (first + Vector::size > candidates.n_kept) {
            rest &= (1U << (candidates.n_kept - first)) - 1;
        }
        for (; rest != 0; rest &= rest - 1) {
            const std::size_t at = first + static_cast<std::size_t>(std::countr_zero(rest));
            const Vector sum = Vector::all(candidates.sums[at]);
            std::size_t less = width;
            for (std::size_t i = 0; i < width; i += Vector::size) {
                less -= static_cast<std::size_t>(
                    std::popcount(not_above(sum, Vector::load(candidates.smallest + i))));
            }
            candidates.ranked[less - before] = candidates.places[at];
            ++found;
        }
    }
    return found;
}

template struct CandidateScan<ASSAY_LEVEL, PointQuery<Euclidean>>;
template struct CandidateScan<ASSAY_LEVEL, PointQuery<Manhattan>>;
template struct CandidateScan<ASSAY_LEVEL, PointQuery<Chebyshev>>;
template struct CandidateScan<ASSAY_LEVEL, PointQuery<HalfIntegerPower>>;
template struct CandidateScan<ASSAY_LEVEL, PointQuery<Power>>;

}  // namespace assay::neighbors

// assay/cluster/centroid_scan.hpp, once per CPU level.
#include "assay/cluster/centroid_scan.hpp"

#include <limits>

#include "assay/cluster/bounds.hpp"
#include "panel_sum.hpp"

namespace assay::cluster {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The best and the second best S seen, per lane, and the panel of the best.
template <class Level>
struct Leaders {
    using Vector = Simd<double, Level>;
    static constexpr std::size_t vectors = lanes / Vector::size;

    typename Vector::Register best[vectors];
    typename Vector::Register second[vectors];
    typename Vector::Register place[vectors];

    [[gnu::always_inline]] void clear() noexcept {
        for (std::size_t v = 0; v < vectors; ++v) {
            best[v] = Vector::all(infinity).value;
            second[v] = best[v];
            place[v] = Vector::all(0).value;
        }
    }
    [[gnu::always_inline]] void see(std::size_t v, typename Vector::Register s,
                                    double panel) noexcept {
        const auto closer = s < best[v];
        second[v] = closer ? best[v] : (s < second[v] ? s : second[v]);
        place[v] = closer ? Vector::all(panel).value : place[v];
        best[v] = closer ? s : best[v];
    }
};

struct Found {
    double best;
    double second;
    std::int32_t label;
    bool tie;
};

template <class Level>
[[gnu::always_inline]] inline Found finish(const Leaders<Level>& leaders,
                                           const std::int32_t* index) noexcept {
    using Vector = Simd<double, Level>;
    alignas(64) double best[lanes];
    alignas(64) double second[lanes];
    alignas(64) double place[lanes];
    for (std::size_t v = 0; v < Leaders<Level>::vectors; ++v) {
        Vector{leaders.best[v]}.store(best + v * Vector::size);
        Vector{leaders.second[v]}.store(second + v * Vector::size);
        Vector{leaders.place[v]}.store(place + v * Vector::size);
    }
    Found found{best[0], second[0], 0, false};
    std::size_t lane = 0;
#pragma GCC unroll 8
    for (std::size_t l = 1; l < lanes; ++l) {
        const double loser = best[l] < found.best ? found.best : best[l];
        found.second = found.second < second[l] ? found.second : second[l];
        found.second = found.second < loser ? found.second : loser;
        lane = best[l] < found.best ? l : lane;
        found.best = best[l] < found.best ? best[l] : found.best;
    }
    found.label = index[static_cast<std::size_t>(place[lane]) * lanes + lane];
    found.tie = found.best == found.second;
    return found;
}

// The smallest centre among those with the least S. Rare: centres that coincide, or rows halfway.
template <class Level, std::size_t rest, bool blocks, class T>
[[gnu::noinline]] std::int32_t first_of_ties(const T* row, const ScanTable& table,
                                             double best) noexcept {
    std::int32_t label = std::numeric_limits<std::int32_t>::max();
    for (std::size_t place = 0; place < table.n_panels * lanes; ++place) {
        const std::int32_t c = table.index[place];
        if (c < label) {
            const double* centre = table.centres + static_cast<std::size_t>(c) * table.d;
            label = single<Level, rest, blocks>(row, centre, table.d) == best ? c : label;
        }
    }
    return label;
}

template <class Level, std::size_t rest, bool blocks, class T>
[[gnu::always_inline]] inline void scan_panel(const T* row, const ScanTable& table, std::size_t g,
                                              Leaders<Level>& leaders) noexcept {
    using Vector = Simd<double, Level>;
    const double* panel = table.panels + g * table.d * lanes;
    for (std::size_t v = 0; v < Leaders<Level>::vectors; ++v) {
        leaders.see(v, sum<Level, rest, blocks>(row, panel + v * Vector::size, table.d).value,
                    static_cast<double>(g));
    }
}

template <class Level, std::size_t rest, bool blocks, class T>
[[gnu::always_inline]] inline Found scan_all(const T* row, const ScanTable& table) noexcept {
    Leaders<Level> leaders;
    leaders.clear();
    for (std::size_t g = 0; g < table.n_panels; ++g) {
        scan_panel<Level, rest, blocks>(row, table, g, leaders);
    }
    return finish(leaders, table.index);
}

template <class Level, std::size_t rest, bool blocks, class T>
[[gnu::always_inline]] inline void settle(Found& found, const T* row,
                                          const ScanTable& table) noexcept {
    if (found.tie) [[unlikely]] {
        found.label = first_of_ties<Level, rest, blocks>(row, table, found.best);
    }
}

}  // namespace

template <class Level, class T>
void CentroidScan<Level, T>::nearest(const T* rows, std::size_t n, const ScanTable& table,
                                     std::int32_t* label, double* best, double* second) noexcept {
    with_shape(table.d, [&](auto rest, auto blocks) __attribute__((always_inline)) {
        for (std::size_t i = 0; i < n; ++i) {
            const T* row = rows + i * table.d;
            Found found = scan_all<Level, rest(), blocks()>(row, table);
            settle<Level, rest(), blocks()>(found, row, table);
            label[i] = found.label;
            best[i] = found.best;
            if (second != nullptr) {
                second[i] = found.second;
            }
        }
    });
}

template <class Level, class T>
std::size_t CentroidScan<Level, T>::renew(const T* rows, std::size_t n, const ScanTable& table,
                                          const ScanBounds& bounds, std::int32_t* label,
                                          double* upper, double* lower) noexcept {
    // Which rows a test leaves open is as good as random: they are listed, not branched upon.
    const auto limits = DistanceBounds::of(table.d);
    double far[row_chunk];
    std::uint8_t open[row_chunk];
    std::uint32_t list[row_chunk];
    for (std::size_t i = 0; i < n; ++i) {
        const auto a = static_cast<std::size_t>(label[i]);
        const double u = DistanceBounds::moved_up(upper[i], bounds.shift[a]);
        const double l = DistanceBounds::moved_down(lower[i], bounds.other_shift[a]);
        const double half_gap = bounds.gap[a] / 2;
        upper[i] = u;
        lower[i] = l;
        far[i] = l > half_gap ? l : half_gap;
        open[i] = limits.decide(u, far[i]) ? 0 : 1;
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < n; ++i) {
        list[left] = static_cast<std::uint32_t>(i);
        left += open[i];
    }
    with_shape(table.d, [&](auto rest, auto blocks) __attribute__((always_inline)) {
        std::size_t still = 0;
        for (std::size_t t = 0; t < left; ++t) {
            const std::size_t i = list[t];
            const double* centre = table.centres + static_cast<std::size_t>(label[i]) * table.d;
            upper[i] =
                limits.above(single<Level, rest(), blocks()>(rows + i * table.d, centre, table.d));
            list[still] = list[t];
            still += limits.decide(upper[i], far[i]) ? 0 : 1;
        }
        left = still;
        for (std::size_t t = 0; t < left; ++t) {
            const std::size_t i = list[t];
            const auto a = static_cast<std::size_t>(label[i]);
            const T* row = rows + i * table.d;
            const double* gaps = bounds.panel_gaps + a * table.n_panels;
            const double reach = limits.reach(upper[i], bounds.gap[a]);
            const auto home = static_cast<std::size_t>(table.panel_of[a]);
            Leaders<Level> leaders;
            leaders.clear();
            for (std::size_t g = 0; g < table.n_panels; ++g) {
                if (gaps[g] <= reach || g == home) {
                    scan_panel<Level, rest(), blocks()>(row, table, g, leaders);
                }
            }
            Found found = finish(leaders, table.index);
            settle<Level, rest(), blocks()>(found, row, table);
            label[i] = found.label;
            upper[i] = limits.above(found.best);
            lower[i] = limits.below(found.second);
        }
    });
    return left;
}

template <class Level, class T>
void CentroidScan<Level, T>::own(const T* rows, std::size_t n, const ScanTable& table,
                                 const std::int32_t* label, double* squared) noexcept {
    with_shape(table.d, [&](auto rest, auto blocks) __attribute__((always_inline)) {
        for (std::size_t i = 0; i < n; ++i) {
            const double* centre = table.centres + static_cast<std::size_t>(label[i]) * table.d;
            squared[i] = single<Level, rest(), blocks()>(rows + i * table.d, centre, table.d);
        }
    });
}

template <class Level, class T>
void CentroidScan<Level, T>::all(const T* rows, std::size_t n, const ScanTable& table,
                                 double* squared) noexcept {
    using Vector = Simd<double, Level>;
    with_shape(table.d, [&](auto rest, auto blocks) __attribute__((always_inline)) {
        for (std::size_t i = 0; i < n; ++i) {
            const T* row = rows + i * table.d;
            double* out = squared + i * table.n_panels * lanes;
            for (std::size_t g = 0; g < table.n_panels; ++g) {
                for (std::size_t v = 0; v < lanes; v += Vector::size) {
                    sum<Level, rest(), blocks()>(row, table.panels + g * table.d * lanes + v,
                                                 table.d)
                        .store(out + g * lanes + v);
                }
            }
        }
    });
}

template <class Level>
void CentroidGaps<Level>::run(const double* centres, std::size_t first, std::size_t last,
                              const ScanTable& table, double* gaps) noexcept {
    using Vector = Simd<double, Level>;
    const auto limits = DistanceBounds::of(table.d);
    with_shape(table.d, [&](auto rest, auto blocks) __attribute__((always_inline)) {
        for (std::size_t a = first; a < last; ++a) {
            for (std::size_t g = 0; g < table.n_panels; ++g) {
                alignas(64) double squared[lanes];
                for (std::size_t v = 0; v < lanes; v += Vector::size) {
                    sum<Level, rest(), blocks()>(centres + a * table.d,
                                                 table.panels + g * table.d * lanes + v, table.d)
                        .store(squared + v);
                }
                double least = infinity;
                for (std::size_t l = 0; l < lanes; ++l) {
                    const bool other = table.index[g * lanes + l] != static_cast<std::int32_t>(a);
                    least = other && squared[l] < least ? squared[l] : least;
                }
                gaps[a * table.n_panels + g] = limits.below(least);
            }
        }
    });
}

template struct CentroidScan<ASSAY_LEVEL, float>;
template struct CentroidScan<ASSAY_LEVEL, double>;
template struct CentroidGaps<ASSAY_LEVEL>;

}  // namespace assay::cluster

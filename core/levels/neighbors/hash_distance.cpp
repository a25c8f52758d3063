// assay/neighbors/hash_distance.hpp, once per CPU level.
#include "assay/neighbors/hash_distance.hpp"

#include <array>
#include <limits>

#include "assay/common/distance.hpp"
#include "assay/common/simd.hpp"

namespace assay::neighbors {
namespace {

template <class Level>
[[gnu::always_inline]] inline Simd<double, Level> load(const double* from) noexcept {
    return Simd<double, Level>::load(from);
}

template <class Level>
[[gnu::always_inline]] inline Simd<double, Level> load(const float* from) noexcept {
    using Vector = Simd<double, Level>;
    typedef float Half
        __attribute__((vector_size(Level::vector_bytes / 2), aligned(alignof(float)), may_alias));
    return {
        __builtin_convertvector(*reinterpret_cast<const Half*>(from), typename Vector::Register)};
}

}  // namespace

template <class Level, class T>
void HashDistance<Level, T>::run(const double* query, const T* rows, std::size_t d,
                                 const std::uint32_t* candidate, std::size_t n, double limit,
                                 double* sum) noexcept {
    using Vector = Simd<double, Level>;
    constexpr std::size_t parts = n_partials / Vector::size;
    constexpr std::size_t ahead = 4;
    constexpr std::size_t stretch = 64;  // features between two looks at the limit
    constexpr Euclidean metric;
    const std::size_t whole = d / n_partials * n_partials;
    const std::size_t bytes = d * sizeof(T) < 512 ? d * sizeof(T) : 512;
    for (std::size_t c = 0; c < n; ++c) {
        if (c + ahead < n) {
            const char* next = reinterpret_cast<const char*>(rows + candidate[c + ahead] * d);
            for (std::size_t b = 0; b < bytes; b += 64) {
                __builtin_prefetch(next + b);
            }
        }
        const T* row = rows + candidate[c] * d;
        Vector partial[parts];
        for (std::size_t v = 0; v < parts; ++v) {
            partial[v] = Vector::all(0);
        }
        std::array<double, n_partials> lanes{};
        bool above = false;
        for (std::size_t j = 0; j < whole;) {
            const std::size_t end = whole - j < stretch ? whole : j + stretch;
            for (; j < end; j += n_partials) {
#pragma GCC unroll 4
                for (std::size_t v = 0; v < parts; ++v) {
                    const std::size_t at = j + v * Vector::size;
                    const Vector gap = load<Level>(query + at) - load<Level>(row + at);
                    partial[v] = partial[v] + gap * gap;
                }
            }
            for (std::size_t v = 0; v < parts; ++v) {
                partial[v].store(lanes.data() + v * Vector::size);
            }
            if (join_partials(metric, lanes) > limit) {
                above = true;
                break;
            }
        }
        if (!above) {
            for (std::size_t j = whole; j < d; ++j) {
                const double gap = query[j] - static_cast<double>(row[j]);
                lanes[j - whole] += gap * gap;
            }
        }
        const double total = join_partials(metric, lanes);
        sum[c] = above || total > limit ? std::numeric_limits<double>::infinity() : total;
    }
}

template struct HashDistance<ASSAY_LEVEL, float>;
template struct HashDistance<ASSAY_LEVEL, double>;

}  // namespace assay::neighbors

// assay/neighbors/screen.hpp, once per CPU level.
#include "assay/neighbors/screen.hpp"

#include <bit>

#include "assay/common/simd.hpp"
#include "assay/neighbors/panels.hpp"

namespace assay::neighbors {
namespace {

template <class Level>
struct Block {
    using Vector = Simd<float, Level>;

    // As many sums as the registers hold: 8 x 2 of 32, or 4 x 2 of 16.
    static constexpr std::size_t queries = Level::vector_bytes == 64 ? 8 : 4;
    static constexpr std::size_t vectors = 2;
    static constexpr std::size_t rows = vectors * Vector::size;

    // Bit (lane) of mask[query] for the rows of this block that may be near. Where there is
    // one, and if it is wanted, writes the sums.
    [[gnu::always_inline]] static std::uint32_t screen(const float* group, const float* panel,
                                                       const float* half_norms, std::size_t d,
                                                       const float* limit, std::uint32_t* mask,
                                                       float* sums) noexcept {
        Vector sum[queries][vectors];
        for (std::size_t v = 0; v < vectors; ++v) {
            const Vector start = Vector::load(half_norms + v * Vector::size);
            for (std::size_t q = 0; q < queries; ++q) {
                sum[q][v] = start;
            }
        }
        for (std::size_t j = 0; j < d; ++j) {
            Vector row[vectors];
            for (std::size_t v = 0; v < vectors; ++v) {
                row[v] = Vector::load(panel + j * panel_width + v * Vector::size);
            }
#pragma GCC unroll 8
            for (std::size_t q = 0; q < queries; ++q) {
                const Vector x = Vector::all(group[j * group_width + q]);
                for (std::size_t v = 0; v < vectors; ++v) {
                    sum[q][v] = minus_product(sum[q][v], x, row[v]);
                }
            }
        }
        std::uint32_t any = 0;
#pragma GCC unroll 8
        for (std::size_t q = 0; q < queries; ++q) {
            const Vector bound = Vector::all(limit[q]);
            mask[q] = 0;
            for (std::size_t v = 0; v < vectors; ++v) {
                mask[q] |= not_above(sum[q][v], bound) << (v * Vector::size);
            }
            any |= mask[q];
        }
        if (any != 0 && sums != nullptr) {
#pragma GCC unroll 8
            for (std::size_t q = 0; q < queries; ++q) {
                for (std::size_t v = 0; v < vectors; ++v) {
                    sum[q][v].store(sums + q * rows + v * Vector::size);
                }
            }
        }
        return any;
    }
};

template <class Level, bool scored>
[[gnu::always_inline]] inline std::size_t sift(const float* group, const float* panels,
                                               const float* half_norms, std::size_t d,
                                               std::size_t n_panels, const float* limit, Pair* hits,
                                               [[maybe_unused]] float* score) noexcept {
    using Step = Block<Level>;
    std::size_t count = 0;
    std::uint32_t mask[Step::queries];
    alignas(64) float sums[scored ? Step::queries * Step::rows : 1];
    for (std::size_t first = 0; first < n_panels * panel_width; first += Step::rows) {
        const std::size_t panel = first / panel_width;
        const float* rows = panels + panel * panel_width * d + first % panel_width;
        for (std::size_t query = 0; query < group_width; query += Step::queries) {
            if (Step::screen(group + query, rows, half_norms + first, d, limit + query, mask,
                             scored ? sums : nullptr) == 0) {
                continue;
            }
            for (std::size_t q = 0; q < Step::queries; ++q) {
                for (std::uint32_t rest = mask[q]; rest != 0; rest &= rest - 1) {
                    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
                    if constexpr (scored) {
                        score[count] = sums[q * Step::rows + lane];
                    }
                    hits[count++] = {static_cast<std::uint32_t>(first + lane),
                                     static_cast<std::uint32_t>(query + q)};
                }
            }
        }
    }
    return count;
}

}  // namespace

template <class Level>
std::size_t Screen<Level>::run(const float* group, const float* panels, const float* half_norms,
                               std::size_t d, std::size_t n_panels, const float* limit,
                               Pair* hits) noexcept {
    return sift<Level, false>(group, panels, half_norms, d, n_panels, limit, hits, nullptr);
}

template <class Level>
std::size_t Screen<Level>::run(const float* group, const float* panels, const float* half_norms,
                               std::size_t d, std::size_t n_panels, const float* limit, Pair* hits,
                               float* score) noexcept {
    return sift<Level, true>(group, panels, half_norms, d, n_panels, limit, hits, score);
}

template struct Screen<ASSAY_LEVEL>;

}  // namespace assay::neighbors

// assay/neighbors/select.hpp, once per CPU level.
#include "assay/neighbors/select.hpp"

#include "assay/common/dispatch.hpp"

namespace assay::neighbors {
namespace {

[[gnu::always_inline]] inline std::size_t count_up_to(const float* x, std::size_t n,
                                                      float limit) noexcept {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        count += x[i] <= limit ? 1U : 0U;
    }
    return count;
}

}  // namespace

template <class Level>
float Select<Level>::bound(const float* x, std::size_t n, std::size_t k) noexcept {
    float low = x[0];
    float high = x[0];
    for (std::size_t i = 0; i < n; ++i) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    const std::size_t enough = k + k / 16;  // close enough: fewer halvings
    for (int halving = 0; halving < 24; ++halving) {
        const float middle = low / 2 + high / 2;
        const std::size_t count = count_up_to(x, n, middle);
        if (count < k) {
            low = middle;
        } else {
            high = middle;
            if (count <= enough) {
                break;
            }
        }
    }
    return high;
}

template <class Level>
std::size_t Select<Level>::keep(float* x, std::uint32_t* row, std::size_t n, float limit) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const float value = x[i];
        x[kept] = value;
        row[kept] = row[i];
        kept += value <= limit ? 1 : 0;
    }
    return kept;
}

template <class Level>
void Select<Level>::ranks(const double* x, std::size_t n, std::uint32_t* rank) noexcept {
    for (std::size_t i = 0; i < n; ++i) {
        const double own = x[i];
        std::uint64_t before = 0;
        for (std::size_t j = 0; j < i; ++j) {
            before += x[j] <= own ? 1U : 0U;
        }
        for (std::size_t j = i + 1; j < n; ++j) {
            before += x[j] < own ? 1U : 0U;
        }
        rank[i] = static_cast<std::uint32_t>(before);
    }
}

template struct Select<ASSAY_LEVEL>;

}  // namespace assay::neighbors

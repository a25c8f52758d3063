// assay/tree/small_sort.hpp, once per CPU level.
#include "assay/tree/small_sort.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
// GCC 12 takes the undefined lanes inside its own intrinsics for ours (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "sort_network.hpp"

namespace assay::tree {

template <class Level>
void SmallSort<Level>::run(std::uint32_t* keys, std::size_t n) noexcept {
#ifdef __AVX512F__
    for (std::size_t i = n; i % 16 != 0; ++i) {
        keys[i] = 0xFFFFFFFFU;
    }
    const __m512i x = in_order(_mm512_loadu_si512(keys));
    if (n <= 16) {
        _mm512_storeu_si512(keys, x);
        return;
    }
    const __m512i y = neighbours<15>(in_order(_mm512_loadu_si512(keys + 16)));
    _mm512_storeu_si512(keys, merged(_mm512_min_epu32(x, y)));
    _mm512_storeu_si512(keys + 16, merged(_mm512_max_epu32(x, y)));
#else
    for (std::size_t i = 1; i < n; ++i) {
        const std::uint32_t key = keys[i];
        std::size_t j = i;
        for (; j > 0 && keys[j - 1] > key; --j) {
            keys[j] = keys[j - 1];
        }
        keys[j] = key;
    }
#endif
}

template struct SmallSort<ASSAY_LEVEL>;

}  // namespace assay::tree

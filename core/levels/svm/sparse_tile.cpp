// assay/svm/sparse_tile.hpp, once per CPU level.
#include "assay/svm/sparse_tile.hpp"

#include <cstddef>
#include <cstdint>

#include "assay/common/dispatch.hpp"
#include "assay/common/simd.hpp"

namespace assay::svm {

template <class Level>
void SparseTile<Level>::run(const double* values, const std::int64_t* columns,
                            const std::int64_t* offsets, const std::uint32_t* index, std::size_t n,
                            const double* table, const double* norms, const double* query_norms,
                            double* out) noexcept {
    using V = Simd<double, Level>;
    constexpr std::size_t parts = sparse_queries / V::size;
    for (std::size_t j = 0; j < n; ++j) {
        typename V::Register sum[parts] = {};
        for (std::int64_t t = offsets[index[j]]; t < offsets[index[j] + 1]; ++t) {
            const double* query = table + static_cast<std::size_t>(columns[t]) * sparse_queries;
            for (std::size_t p = 0; p < parts; ++p) {
                sum[p] = sum[p] + V::load(query + p * V::size).value * values[t];
            }
        }
        for (std::size_t p = 0; p < parts; ++p) {
            if (norms != nullptr) {
                const auto both = V::load(query_norms + p * V::size).value + norms[j];
                const auto apart = both - sum[p] * 2.0;
                sum[p] = apart > 0.0 ? apart : typename V::Register{};
            }
            V{sum[p]}.store(out + j * sparse_queries + p * V::size);
        }
    }
}

template struct SparseTile<ASSAY_LEVEL>;

}  // namespace assay::svm

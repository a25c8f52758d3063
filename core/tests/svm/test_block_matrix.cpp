#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "assay/svm/block_matrix.hpp"
#include "samples.hpp"

using namespace assay::svm;
using assay::MatrixView;

TEST_CASE_TEMPLATE("a block has its kernel values, whatever stayed and whatever is cached", T,
                   float, double) {
    for (const std::size_t d : {5U, 60U}) {  // computed only; read from the cache, too
        constexpr std::size_t n = 60;
        constexpr std::size_t size = 20;
        constexpr std::size_t stride = 32;
        const auto X = samples::normal<T>(n * d, d);
        const DenseRows<T> rows{MatrixView<const T>{X.data(), n, d}};
        const KernelFunction k{KernelKind::rbf, 0.02, 0, 1};
        std::vector<std::uint32_t> column(n);
        std::iota(column.begin(), column.end(), 0U);
        RowCache<T> cache(n, rows.padded(), 1 << 20);
        cache.begin();
        std::vector<std::vector<T>> all(n, std::vector<T>(rows.padded()));
        for (std::uint32_t i = 0; i < n; ++i) {
            T* out[] = {all[i].data()};
            rows.fill(k, rows, {&i, 1}, 0, n, out);
            if (i % 3 == 0) {
                std::copy(all[i].begin(), all[i].end(), cache.claim(i));
            }
        }
        BlockMatrix<T> matrix(size, stride);
        std::vector<std::uint32_t> members;
        for (std::size_t round = 0; round < 4; ++round) {
            const std::size_t stayed = round == 0 ? 0 : 8;
            std::vector<std::uint32_t> next(members.end() - static_cast<std::ptrdiff_t>(stayed),
                                            members.end());
            for (std::uint32_t i = 0; next.size() < size; ++i) {
                const auto row = static_cast<std::uint32_t>((i * 7 + round * 5) % n);
                if (std::find(next.begin(), next.end(), row) == next.end()) {
                    next.push_back(row);
                }
            }
            members = next;
            matrix.fill(k, rows, members, stayed, cache, column, 2);
            for (std::size_t w = 0; w < size; ++w) {
                for (std::size_t u = 0; u < stride; ++u) {
                    const T expected = u < size ? all[members[w]][members[u]] : T{0};
                    CHECK(matrix.data()[w * stride + u] == expected);
                }
            }
        }
    }
}

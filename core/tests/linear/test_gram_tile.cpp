#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/linear/gram_tile.hpp"
#include "small_tables.hpp"

using assay::linear::gram_lanes;
using assay::linear::GramTile;

TEST_CASE("GramTile adds products rounded once, in the order of the rows, at every level") {
    for (const std::size_t n : {0U, 1U, 5U, 33U}) {
        for (const std::size_t panels : {1U, 2U, 3U, 4U, 7U}) {
            CAPTURE(n);
            CAPTURE(panels);
            const std::size_t stride = panels * gram_lanes;
            const auto rows = small_tables::numbers<double>(n * stride + 1, n + panels);
            const auto before = small_tables::numbers<double>(stride * stride, 5);
            for (const auto level :
                 {assay::CpuLevel::baseline, assay::CpuLevel::avx2, assay::CpuLevel::avx512}) {
                assay::limit_cpu(level);
                auto gram = before;
                assay::dispatch([&](auto chosen) {
                    GramTile<decltype(chosen)>::add(rows.data(), n, stride, gram.data());
                });
                for (std::size_t a = 0; a < stride; ++a) {
                    for (std::size_t b = 0; b <= a; ++b) {
                        double sum = 0;
                        for (std::size_t i = 0; i < n; ++i) {
                            sum = std::fma(rows[i * stride + a], rows[i * stride + b], sum);
                        }
                        CHECK(gram[a * stride + b] == before[a * stride + b] + sum);
                    }
                    for (std::size_t b = (a / gram_lanes + 1) * gram_lanes; b < stride; ++b) {
                        CHECK(gram[a * stride + b] == before[a * stride + b]);
                    }
                }
            }
            assay::limit_cpu({});
        }
    }
}

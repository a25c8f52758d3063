#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "assay/common/distance.hpp"
#include "assay/neighbors/candidates.hpp"
#include "assay/neighbors/point_space.hpp"
#include "definition.hpp"
#include "scanned.hpp"

using assay::CpuLevel;
using assay::limit_cpu;
using namespace assay::neighbors;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the k nearest of scanned leaves are those of the definition, ties included") {
    for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
        limit_cpu(level);
        for (const auto kind : definition::all_kinds) {
            for (const std::size_t d : {1UL, 2UL, 3UL, 4UL, 5UL, 9UL}) {
                const std::size_t n = 150;
                const auto values = definition::table<double>(kind, n + 1, d, d);
                const assay::MatrixView<const double> all{values.data(), n + 1, d};
                for (const double p : {1.0, 1.7, 2.0, 3.0, infinity}) {
                    assay::with_metric(p, [&](auto metric) {
                        const PointSpace<decltype(metric)> space{metric, d};
                        for (const std::size_t k : {1UL, 7UL, 8UL, 9UL, 10UL, 16UL, 17UL, 32UL}) {
                            CHECK(scanned(space, values, n, k) ==
                                  definition::sorted(all.middle_rows(0, 1), all.middle_rows(1, n),
                                                     k, p));
                        }
                    });
                }
            }
        }
    }
    limit_cpu({});
}

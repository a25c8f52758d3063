#include <doctest/doctest.h>

#include <limits>
#include <span>
#include <vector>

#include "assay/neighbors/code_space.hpp"
#include "assay/neighbors/point_space.hpp"
#include "assay/neighbors/tree_kernels.hpp"
#include "definition.hpp"

using assay::CpuLevel;
using assay::limit_cpu;
using namespace assay::neighbors;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t lanes = 24;
constexpr std::size_t rows = 21;

}  // namespace

TEST_CASE("a scan gives the distance sums bit for bit at every level") {
    for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
        limit_cpu(level);
        for (std::size_t d = 1; d < 20; ++d) {
            const auto values = definition::table<double>(definition::Kind::normal, rows + 1, d, d);
            std::vector<double> leaf(d * lanes);
            for (std::size_t r = 0; r < rows; ++r) {
                for (std::size_t j = 0; j < d; ++j) {
                    leaf[j * lanes + r] = values[(r + 1) * d + j];
                }
            }
            for (const double p : {1.0, 1.7, 2.0, 3.0, infinity}) {
                assay::with_metric(p, [&](auto metric) {
                    using Query = PointQuery<decltype(metric)>;
                    const Query query{metric, values.data(), d};
                    LeafHit hits[lanes];
                    const auto calls = TreeCalls<Query>::in_use();
                    const std::span<const double> first(values.data(), d);
                    REQUIRE(calls.scan(query, leaf.data(), lanes, rows, infinity, hits) == rows);
                    for (std::size_t r = 0; r < rows; ++r) {
                        const std::span<const double> row(values.data() + (r + 1) * d, d);
                        CHECK(hits[r].lane == r);
                        CHECK(hits[r].reduced == assay::reduced_distance(metric, first, row));
                    }
                    const double limit = hits[3].reduced;
                    const std::size_t n = calls.scan(query, leaf.data(), lanes, rows, limit, hits);
                    for (std::size_t i = 0; i < n; ++i) {
                        CHECK(hits[i].reduced <= limit);
                    }
                    CHECK(n >= 1);
                });
            }
        }
    }
    limit_cpu({});
}

TEST_CASE("no bound exceeds the distance to a row of its box") {
    for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::avx2, CpuLevel::avx512}) {
        limit_cpu(level);
        for (const auto kind : definition::all_kinds) {
            for (const std::size_t d : {1UL, 2UL, 3UL, 4UL, 5UL, 11UL}) {
                const auto values = definition::table<double>(kind, 1 + 8 * 5, d, d);
                for (const double p : {1.0, 1.7, 2.0, 2.5, infinity}) {
                    assay::with_metric(p, [&](auto metric) {
                        const PointSpace<decltype(metric)> space{metric, d};
                        std::vector<double> box(2 * d * fan_out);
                        for (std::size_t child = 0; child < fan_out; ++child) {
                            space.open_box(box.data() + child, fan_out);
                            for (std::size_t r = 0; r < 5; ++r) {
                                for (std::size_t j = 0; j < d; ++j) {
                                    space.add_to_box(box.data() + child, fan_out, j,
                                                     values[(1 + child * 5 + r) * d + j]);
                                }
                            }
                        }
                        using Query = PointQuery<decltype(metric)>;
                        double low[fan_out];
                        const auto bounds = TreeCalls<Query>::in_use().bounds;
                        const Query query{metric, values.data(), d};
                        bounds(query, box.data(), 0.0, low);
                        const double limit = low[3];
                        const std::uint32_t near = bounds(query, box.data(), limit, low);
                        for (std::size_t child = 0; child < fan_out; ++child) {
                            CHECK((near >> child & 1) == (low[child] <= limit ? 1 : 0));
                        }
                        for (std::size_t r = 0; r < 40; ++r) {
                            CHECK(low[r / 5] <=
                                  assay::reduced_distance(
                                      metric, std::span<const double>(values.data(), d),
                                      std::span<const double>(values.data() + (1 + r) * d, d)));
                        }
                    });
                }
            }
        }
    }
    limit_cpu({});
}

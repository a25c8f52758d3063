#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/distance.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/random.hpp"
#include "assay/neighbors/pairs.hpp"

using namespace assay::neighbors;
using assay::MatrixView;

TEST_CASE_TEMPLATE("pairs gives the sums of distance.hpp bit for bit", T, float, double) {
    assay::RandomStream stream(8, 0);
    for (const double p : {2.0, 1.0, std::numeric_limits<double>::infinity(), 3.0, 1.5, 1.7}) {
        for (const std::size_t d : {0U, 1U, 7U, 8U, 9U, 20U, 33U}) {
            std::vector<T> values(30 * d);
            for (T& value : values) {
                value = static_cast<T>(stream.normal());
            }
            const MatrixView<const T> rows{values.data(), 30, d};
            std::vector<Pair> pairs;
            for (int i = 0; i < 50; ++i) {
                pairs.push_back({stream.below(std::uint32_t{30}), stream.below(std::uint32_t{30})});
            }
            std::vector<double> sum(pairs.size());
            assay::with_metric(p, [&](auto metric) {
                assay::dispatch([&](auto level) {
                    Pairs<decltype(level), T, decltype(metric)>::run(
                        metric, rows.data, rows.data, d, pairs.data(), pairs.size(), sum.data());
                });
                for (std::size_t i = 0; i < pairs.size(); ++i) {
                    CHECK(sum[i] == assay::reduced_distance(metric, rows.row(pairs[i].query),
                                                            rows.row(pairs[i].row)));
                }
            });
        }
    }
}

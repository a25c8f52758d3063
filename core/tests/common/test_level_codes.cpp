#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "assay/common/level_codes.hpp"

using assay::are_codes;
using assay::level_codes;

TEST_CASE("whole numbers become codes, others unseen, NaN stays") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    std::vector<double> rows = {3, 7, 1,  -0.0, 7, 0,   2,   7, nan,
                                4, 7, -1, 1.5,  7, inf, nan, 7, 1e300};
    const std::vector<double> first = {0, 9, 2, 1};
    const std::vector<double> last = {1, 0};
    level_codes({rows.data(), 6, 3}, {{0, first, 8}, {2, last, 2}});
    const std::vector<double> expected = {1, 7, 0, 0, 7, 1, 2, 7, nan, 8, 7, 2, 8, 7, 2, nan, 7, 2};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(i);
        CHECK((rows[i] == expected[i] || (std::isnan(rows[i]) && std::isnan(expected[i]))));
    }
}

TEST_CASE("a column without levels has none to be seen") {
    std::vector<double> rows = {0, 1};
    level_codes({rows.data(), 2, 1}, {{0, {}, 0}});
    CHECK(rows == std::vector<double>{0, 0});
    level_codes({rows.data(), 2, 1}, {});
    CHECK(rows == std::vector<double>{0, 0});
}

TEST_CASE("codes are whole, below the number of levels, or missing") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<std::int64_t> columns = {0, 2};
    const std::vector<double> n_levels = {3, 2};
    const auto holds = [&](double first, double last) {
        const std::vector<double> rows = {0, -9, 1, 2, 0.5, 0, first, 7, last};
        return are_codes({rows.data(), 3, 3}, columns, n_levels);
    };
    CHECK(holds(2, 1));
    CHECK(holds(nan, nan));
    CHECK(holds(-0.0, 0));
    for (const double wrong : {3.0, -1.0, 0.5, 1e300, std::numeric_limits<double>::infinity()}) {
        CHECK_FALSE(holds(wrong, 1));
        CHECK_FALSE(holds(2, wrong));
    }
    CHECK_FALSE(holds(1, 2));
}

#include <doctest/doctest.h>

#include <vector>

#include "assay/svm/active_set.hpp"

using namespace assay::svm;
using List = std::vector<std::uint32_t>;

namespace {

List list(std::span<const std::uint32_t> values) { return {values.begin(), values.end()}; }

}  // namespace

TEST_CASE("dropped rows keep their f and b, the others their order") {
    const std::vector<double> c(6);
    const std::vector<std::int32_t> row_of = {0, 1, 2, 0, 1, 2};  // two variables per row
    ActiveSet active({c, c, c, row_of}, 3);
    CHECK(list(active.vars()) == List{0, 1, 2, 3, 4, 5});
    std::vector<double> f = {10, 11, 12};
    const std::vector<double> b = {1, 2, 3, 4, 5, 6};
    CHECK(active.drop(std::vector<char>{1, 0, 1}, b, f) == List{0, 2});
    CHECK(list(active.rows()) == List{0, 2});
    CHECK(list(active.vars()) == List{0, 2, 3, 5});
    CHECK(active.column_of(5) == 1);
    CHECK(f == std::vector<double>{10, 12});
    REQUIRE(active.dropped().size() == 1);
    CHECK(active.dropped()[0].rows == List{1});
    CHECK(active.dropped()[0].f == std::vector<double>{11});
    CHECK(active.dropped()[0].b == b);
    CHECK(active.drop(std::vector<char>{0, 0, 1}, b, f) == List{1});
    CHECK(active.dropped().size() == 2);
    active.all();
    CHECK(list(active.rows()) == List{0, 1, 2});
    CHECK(active.column_of(4) == 1);
    CHECK(active.dropped().empty());
}

TEST_CASE("too few rows to drop are not dropped") {
    const std::vector<double> c(20);
    std::vector<std::int32_t> row_of;
    for (std::int32_t i = 0; i < 20; ++i) {
        row_of.push_back(i);
    }
    ActiveSet active({c, c, c, row_of}, 20);
    std::vector<double> f(20);
    std::vector<char> stays(20, 1);
    stays[3] = 0;
    CHECK(active.drop(stays, c, f).empty());
    CHECK(active.rows().size() == 20);
    CHECK(f.size() == 20);
}

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "assay/svm/working_set.hpp"

using namespace assay::svm;

TEST_CASE("the most violating pair is always in the block, and half of the last block stays") {
    const std::vector<std::uint32_t> vars = {0, 1, 2, 3, 4, 5, 6, 7};
    const std::vector<double> z = {5, 4, 3, 2, -2, -3, -4, -5};
    const auto yes = [](std::size_t) { return true; };
    WorkingSet set(8, 4);
    set.choose(vars, z, {5, -5}, yes, yes);
    CHECK(std::vector<std::uint32_t>(set.members().begin(), set.members().end()) ==
          std::vector<std::uint32_t>{0, 7, 1, 6});
    CHECK(set.stayed() == 0);
    set.choose(vars, z, {5, -5}, yes, yes);
    CHECK(set.stayed() == 2);
    CHECK(std::vector<std::uint32_t>(set.members().begin(), set.members().end()) ==
          std::vector<std::uint32_t>{1, 6, 0, 7});
}

TEST_CASE("variables that cannot move to violate are not chosen, ties go to the smaller one") {
    const std::vector<std::uint32_t> vars = {2, 3, 5, 7};
    const std::vector<double> z = {1, 1, 0, 0};
    WorkingSet set(8, 8);
    set.choose(
        vars, z, {1, 0}, [](std::size_t v) { return v == 3 || v == 2; },
        [](std::size_t v) { return v == 5; });
    CHECK(std::vector<std::uint32_t>(set.members().begin(), set.members().end()) ==
          std::vector<std::uint32_t>{2, 5, 3});
}

#include <doctest/doctest.h>

#include <vector>

#include "assay/svm/smo_problem.hpp"

using namespace assay::svm;

TEST_CASE("a variable knows its row and the size of its kernel value") {
    const std::vector<double> three = {0, 0, 0};
    const std::vector<std::int32_t> row_of = {1, 0, 1};
    const std::vector<double> diagonal = {2, -3};
    const SmoProblem plain{three, three, three, row_of};
    CHECK(plain.size() == 3);
    CHECK(plain.row(0) == 1);
    CHECK(plain.own(0) == 1);
    const SmoProblem scaled{three, three, three, row_of, diagonal};
    CHECK(scaled.own(0) == 3);
    CHECK(scaled.own(1) == 2);
}

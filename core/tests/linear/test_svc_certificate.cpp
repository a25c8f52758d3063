#include <doctest/doctest.h>

#include "assay/linear/svc_certificate.hpp"

TEST_CASE("a result that nobody filled in claims nothing") {
    const assay::linear::SvcResult result;
    CHECK(result.stop == assay::linear::SvcStop::max_iter);
    CHECK(result.n_iter == 0);
}

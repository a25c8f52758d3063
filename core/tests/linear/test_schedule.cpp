#include <doctest/doctest.h>

#include "assay/linear/schedule.hpp"

using namespace assay::linear;

TEST_CASE("schedules follow their formulas") {
    CHECK(Schedule{ScheduleKind::constant, 0.3, 0.5}.step(77) == 0.3);
    CHECK(Schedule{ScheduleKind::inverse_time, 3, 0.5}.step(0) == 3);
    CHECK(Schedule{ScheduleKind::inverse_time, 3, 0.5}.step(2) == 1);
    CHECK(Schedule{ScheduleKind::slow, 1, 0.5}.step(0) == 1);
    CHECK(Schedule{ScheduleKind::slow, 1, 0.5}.step(1000) == 0.5);
    CHECK(Schedule{ScheduleKind::inverse_scaling, 2, 0.5}.step(3) == 1);
    CHECK(Schedule{ScheduleKind::inverse_scaling, 2, 0}.step(3) == 2);
}

// Learning-rate schedules: the size of step t = 0, 1, 2, ...
//
//     constant           eta0
//     inverse_time       eta0 / (t + 1)
//     slow               eta0 1000 / (1000 + t)
//     inverse_scaling    eta0 / (t + 1)^power
//     line_search        found anew in each step; eta0 is not used
//
// Needs   eta0 > 0, power >= 0.
// Source  Russell and Norvig, Artificial Intelligence, 4th ed., section 19.6.4 (slow).
#pragma once

#include <cmath>
#include <cstdint>

namespace assay::linear {

enum class ScheduleKind : int { constant, inverse_time, slow, inverse_scaling, line_search };

struct Schedule {
    ScheduleKind kind = ScheduleKind::constant;
    double eta0 = 1;
    double power = 0.5;

    [[nodiscard]] double step(std::int64_t t) const noexcept {
        const auto time = static_cast<double>(t);
        switch (kind) {
            case ScheduleKind::inverse_time:
                return eta0 / (time + 1);
            case ScheduleKind::slow:
                return eta0 * 1000 / (1000 + time);
            case ScheduleKind::inverse_scaling:
                return eta0 / std::pow(time + 1, power);
            case ScheduleKind::constant:
            case ScheduleKind::line_search:
                break;
        }
        return eta0;
    }
};

}  // namespace assay::linear

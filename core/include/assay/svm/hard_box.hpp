// A hard margin as a box that grows.
//
// Infinite bounds become -box and box. A solution with no weight at the box is one without
// bounds; otherwise the box becomes a hundred times wider, and b goes as far along its own line
// as that is downhill: on classes that cannot be parted b grows without end in one direction.
//
// The convex hulls of the two sides are at most |w| / A apart, A the weight on either side. When
// that is less than the rounding of kernel values can tell, and f does not part the sides, the
// program is called unbounded.
//
// Needs   finite b. `at_box` and `is_unbounded` at a solution within the box.
// Cost    O(number of variables) per call.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "assay/svm/smo_problem.hpp"

namespace assay::svm {

class HardBox {
  public:
    HardBox(const SmoProblem& problem, std::span<const double> b)
        : problem_(problem), low_(problem.size()), high_(problem.size()) {
        double largest = 0;
        double mean = 0;
        for (std::size_t v = 0; v < problem.size(); ++v) {
            largest = std::max(largest, std::abs(b[v]));
            mean += problem.own(v) / static_cast<double>(problem.size());
        }
        box_ = std::max(2 * largest, mean > 0 ? first_box / mean : first_box);
        set();
    }

    [[nodiscard]] double low(std::size_t v) const noexcept { return low_[v]; }
    [[nodiscard]] double high(std::size_t v) const noexcept { return high_[v]; }

    [[nodiscard]] bool at_box(std::span<const double> b) const {
        for (std::size_t v = 0; v < b.size(); ++v) {
            if ((b[v] >= box_ && std::isinf(problem_.high[v])) ||
                (b[v] <= -box_ && std::isinf(problem_.low[v]))) {
                return true;
            }
        }
        return false;
    }

    void widen(std::span<double> b, std::span<double> f) {
        assert(b.size() == low_.size());
        double slope = 0;
        double curvature = 0;
        double room = wider;
        for (std::size_t v = 0; v < b.size(); ++v) {
            slope += b[v] * problem_.target[v];
            curvature += b[v] * f[problem_.row(v)];
            const double bound = b[v] > 0 ? problem_.high[v] : problem_.low[v];
            if (b[v] != 0 && !std::isinf(bound)) {
                room = std::min(room, bound / b[v]);
            }
        }
        const double factor =
            std::max(1.0, curvature > 0 ? std::min(room, slope / curvature) : room);
        for (double& value : b) {
            value *= factor;
        }
        for (double& value : f) {
            value *= factor;
        }
        box_ *= wider;
        set();
    }

    // `nothing`: the distance, relative to the rows, that the kernel values cannot tell from 0.
    [[nodiscard]] bool is_unbounded(std::span<const double> b, std::span<const double> f,
                                    double nothing) const {
        double squared = 0;
        double reach = 0;
        double least = std::numeric_limits<double>::infinity();
        double most = -least;
        for (std::size_t v = 0; v < b.size(); ++v) {
            const double value = f[problem_.row(v)];
            squared += b[v] * value;
            reach += 0.5 * std::abs(b[v]) * std::sqrt(problem_.own(v));
            least = std::isinf(problem_.high[v]) ? std::min(least, value) : least;
            most = std::isinf(problem_.low[v]) ? std::max(most, value) : most;
        }
        return !(least > most) && squared <= nothing * nothing * reach * reach;
    }

  private:
    static constexpr double first_box = 1000;
    static constexpr double wider = 100;

    void set() {
        for (std::size_t v = 0; v < low_.size(); ++v) {
            low_[v] = std::isinf(problem_.low[v]) ? -box_ : problem_.low[v];
            high_[v] = std::isinf(problem_.high[v]) ? box_ : problem_.high[v];
            assert(low_[v] <= high_[v]);
        }
    }

    SmoProblem problem_;
    double box_ = 0;
    std::vector<double> low_;
    std::vector<double> high_;
};

}  // namespace assay::svm

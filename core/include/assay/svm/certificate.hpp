// What proves how good a solution is.
//
//     objective  F = 1/2 b'f - c'b                            f = K b,  z = c - f
//     violation  max z(may rise) - min z(may fall)            0 at the optimum
//     bias       mean of z over the free variables; without any the middle of that interval
//     gap        sum (high - b) max(0, z - bias) + (b - low) max(0, bias - z)
//
// F - gap is a lower bound of the optimum for any bias (weak duality; K positive semidefinite):
// b is at most `gap` above it. Where `high` or `low` is infinite the bound is taken as ten times
// the largest |b| (and at least 1): the gap then holds among all solutions within that box.
//
// Cost    O(number of variables).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/svm/smo_problem.hpp"
#include "assay/svm/working_set.hpp"

namespace assay::svm {

struct Certificate {
    double objective = 0;
    double violation = 0;
    double bias = 0;
    double gap = 0;
};

[[nodiscard]] inline Certificate certify(const SmoProblem& problem, std::span<const double> b,
                                         std::span<const double> f) {
    Certificate proof;
    Violation now;
    double sum = 0;
    double count = 0;
    double largest = 0;
    const auto z_of = [&](std::size_t v) {
        return problem.target[v] - f[static_cast<std::size_t>(problem.row_of[v])];
    };
    for (std::size_t v = 0; v < b.size(); ++v) {
        const double z = z_of(v);
        const bool rises = b[v] < problem.high[v];
        const bool falls = b[v] > problem.low[v];
        now.top = rises ? std::max(now.top, z) : now.top;
        now.bottom = falls ? std::min(now.bottom, z) : now.bottom;
        if (rises && falls) {
            sum += z;
            count += 1;
        }
        largest = std::max(largest, std::abs(b[v]));
        proof.objective -= 0.5 * b[v] * (z + problem.target[v]);
    }
    proof.violation = now.size();
    if (count > 0) {
        proof.bias = sum / count;
    } else if (std::isfinite(now.top) && std::isfinite(now.bottom)) {
        proof.bias = 0.5 * (now.top + now.bottom);
    } else {
        proof.bias = std::isfinite(now.top) ? now.top : std::isfinite(now.bottom) ? now.bottom : 0;
    }
    const double box = std::max(1.0, 10 * largest);
    for (std::size_t v = 0; v < b.size(); ++v) {
        const double over = z_of(v) - proof.bias;
        const double room = over > 0 ? std::min(problem.high[v], box) - b[v]
                                     : b[v] - std::max(problem.low[v], -box);
        proof.gap += std::max(room, 0.0) * std::abs(over);
    }
    return proof;
}

}  // namespace assay::svm

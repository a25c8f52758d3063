// One machine per pair of classes, all pairs at once.
//
//     pair (a, b), a < b:   min 1/2 b'Kb - c'b over the rows of both classes, c = +1 for a, -1 for
//     b;   0 <= c b <= upper of the row
//
// Pairs run in parallel, each on one thread, and share the packed rows. The coefficient of row i
// (class a) in its pair with class b goes to coef[i][b < a ? b : b - 1]: libsvm's layout,
// transposed.
//
// Several programs over the same rows (one for each price C) are solved pair by pair, so that the
// kernel values of a pair are gathered once: row c of `upper` and the rows [c n, (c + 1) n) of coef
// belong to program c, result [c n_pairs + p] to its pair p.
//
// Needs   codes in [0, n_classes); coef zero or a start; every class has a row.
// Cost    that of the pairs; memory: `cache_bytes` for all threads together.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/svm/certificate.hpp"
#include "assay/svm/machine.hpp"

namespace assay::svm {

struct PairResult {
    MachineResult machine;
    Certificate proof;
};

inline std::vector<PairResult> solve_pairs(const Machine& machine,
                                           std::span<const std::int32_t> codes,
                                           std::size_t n_classes, MatrixView<const double> upper,
                                           MatrixView<double> coef, int n_threads) {
    assert(upper.cols == codes.size() && coef.rows == upper.rows * codes.size());
    assert(coef.cols + 1 == n_classes);
    std::vector<std::vector<std::uint32_t>> members(n_classes);
    for (std::size_t i = 0; i < codes.size(); ++i) {
        members[static_cast<std::size_t>(codes[i])].push_back(static_cast<std::uint32_t>(i));
    }
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t a = 0; a < n_classes; ++a) {
        for (std::size_t b = a + 1; b < n_classes; ++b) {
            pairs.emplace_back(a, b);
        }
    }
    const std::size_t n_rows = codes.size();
    std::vector<PairResult> results(upper.rows * pairs.size());
    parallel_chunks(pairs.size(), 1, n_threads, [&](Range range) {
        const auto [a, b] = pairs[range.begin];
        std::vector<std::uint32_t> rows = members[a];
        rows.insert(rows.end(), members[b].begin(), members[b].end());
        const std::size_t n = rows.size();
        const std::size_t n_first = members[a].size();
        std::vector<double> target(n);
        std::vector<double> low(n);
        std::vector<double> high(n);
        std::vector<double> weight(n);
        std::vector<double> f(n);
        std::vector<std::int32_t> row_of(n);
        std::iota(row_of.begin(), row_of.end(), 0);
        for (std::size_t i = 0; i < n; ++i) {
            target[i] = i < n_first ? 1.0 : -1.0;
        }
        std::optional<Machine> own;
        if (machine.is_known()) {
            own.emplace(machine.part(rows));
        }
        for (std::size_t c = 0; c < upper.rows; ++c) {
            const auto place = [&](std::size_t i) -> double& {
                return coef(c * n_rows + rows[i], i < n_first ? b - 1 : a);
            };
            for (std::size_t i = 0; i < n; ++i) {
                low[i] = i < n_first ? 0.0 : -upper(c, rows[i]);
                high[i] = i < n_first ? upper(c, rows[i]) : 0.0;
                weight[i] = place(i);
            }
            const SmoProblem problem{target, low, high, row_of};
            PairResult& result = results[c * pairs.size() + range.begin];
            result.machine =
                own ? own->solve({}, problem, weight, f) : machine.solve(rows, problem, weight, f);
            result.proof = certify(problem, weight, f);
            for (std::size_t i = 0; i < n; ++i) {
                place(i) = weight[i];
            }
        }
    });
    return results;
}

}  // namespace assay::svm

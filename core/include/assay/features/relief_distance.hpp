// Distances of some rows of a Relief table to all of its rows.
//
//     distance(i, j) = sum_a diff(i, j, a)
//
// Cost    O(q n p) time; one packed copy of the columns without gaps, made once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/parallel.hpp"
#include "assay/features/relief_loops.hpp"
#include "assay/features/relief_table.hpp"

namespace assay::features {

class ReliefDistance {
  public:
    ReliefDistance(const ReliefTable& table, int n_threads)
        : table_(table),
          n_panels_(chunk_count(table.n_rows(), panel_rows)),
          panels_(n_panels_ * panel_rows * table.complete.cols) {
        parallel_for(n_panels_, n_threads, [&](std::size_t p) { pack(p); });
    }

    // Values in a row of distances: those past the last row of the table mean nothing.
    [[nodiscard]] std::size_t stride() const noexcept { return n_panels_ * panel_rows; }

    // Writes one row of distances per query, `stride` values apart.
    void write(std::span<const std::int64_t> queries, float* distance) const {
        std::fill_n(distance, queries.size() * stride(), 0.0F);
        std::vector<const float*> rows(queries.size());
        for (std::size_t q = 0; q < queries.size(); ++q) {
            rows[q] = table_.complete.row(static_cast<std::size_t>(queries[q])).data();
        }
        dispatch([&](auto level) {
            using Loops = ReliefLoops<decltype(level)>;
            Loops::add_panels(rows.data(), rows.size(), panels_.data(), n_panels_, table_.n_numeric,
                              table_.complete.cols, distance, stride());
            for (std::size_t q = 0; q < queries.size(); ++q) {
                add_gaps<Loops>(static_cast<std::size_t>(queries[q]), distance + q * stride());
            }
        });
    }

  private:
    void pack(std::size_t p) noexcept {
        const std::size_t cols = table_.complete.cols;
        float* panel = panels_.data() + p * panel_rows * cols;
        for (std::size_t lane = 0; lane < panel_rows; ++lane) {
            const std::size_t row = std::min(p * panel_rows + lane, table_.n_rows() - 1);
            for (std::size_t a = 0; a < cols; ++a) {
                panel[a * panel_rows + lane] = table_.complete(row, a);
            }
        }
    }

    template <class Loops>
    void add_gaps(std::size_t i, float* distance) const noexcept {
        if (table_.gaps.rows == 0) {
            return;
        }
        const std::size_t own = table_.class_of(i);
        for (std::size_t a = 0; a < table_.gaps.rows; ++a) {
            const float value = table_.gaps(a, i);
            if (std::isnan(value)) {
                Loops::add_expected(table_.expected.row(own * table_.gaps.rows + a).data(),
                                    table_.n_rows(), distance);
                continue;
            }
            for (std::size_t c = 0; c < table_.n_classes(); ++c) {
                const std::size_t begin = table_.begin(c);
                Loops::add_gap(value, table_.expected(c * table_.gaps.rows + a, i),
                               a < table_.n_numeric_gaps, table_.gaps.row(a).data() + begin,
                               table_.end(c) - begin, distance + begin);
            }
        }
    }

    const ReliefTable& table_;
    std::size_t n_panels_;
    AlignedBuffer<float> panels_;
};

}  // namespace assay::features

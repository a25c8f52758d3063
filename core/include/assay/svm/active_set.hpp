// Which variables and rows take part while others are left out (shrinking).
//
//     drop     leaves out rows; remembers their f and the b for which it was right
//     dropped  the groups of rows that were left out together
//     all      everything takes part again
//
// Columns are numbered in ascending rows, so that what remains keeps its order.
//
// Needs   a row stays if one of its variables does.
// Cost    O(number of variables) per call, and a copy of b per drop.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "assay/svm/smo_problem.hpp"

namespace assay::svm {

class ActiveSet {
  public:
    struct Dropped {
        std::vector<std::uint32_t> rows;
        std::vector<double> f;
        std::vector<double> b;  // of all variables, when f was right
    };

    ActiveSet(const SmoProblem& problem, std::size_t n_rows)
        : problem_(problem), vars_(problem.size()), rows_(n_rows) {
        all();
    }

    [[nodiscard]] std::span<const std::uint32_t> vars() const noexcept { return vars_; }
    [[nodiscard]] std::span<const std::uint32_t> rows() const noexcept { return rows_; }
    [[nodiscard]] std::span<const std::uint32_t> columns() const noexcept { return column_; }
    [[nodiscard]] std::size_t column_of(std::size_t v) const noexcept {
        return column_[problem_.row(v)];
    }
    [[nodiscard]] const std::vector<Dropped>& dropped() const noexcept { return dropped_; }

    void all() {
        vars_.resize(problem_.size());
        std::iota(vars_.begin(), vars_.end(), 0U);
        rows_.resize(column_.empty() ? rows_.size() : column_.size());
        std::iota(rows_.begin(), rows_.end(), 0U);
        column_ = rows_;
        dropped_.clear();
    }

    // Leaves out the rows with stays[row] == 0 and shortens f; returns the columns that remain,
    // or nothing if too few would go.
    std::vector<std::uint32_t> drop(std::span<const char> stays, std::span<const double> b,
                                    std::vector<double>& f) {
        assert(f.size() == rows_.size() && stays.size() == column_.size());
        std::vector<std::uint32_t> kept;
        Dropped out;
        for (std::size_t j = 0; j < rows_.size(); ++j) {
            if (stays[rows_[j]] != 0) {
                kept.push_back(static_cast<std::uint32_t>(j));
            } else {
                out.rows.push_back(rows_[j]);
                out.f.push_back(f[j]);
            }
        }
        if (out.rows.size() * worth < rows_.size()) {
            return {};
        }
        out.b.assign(b.begin(), b.end());
        dropped_.push_back(std::move(out));
        for (std::size_t j = 0; j < kept.size(); ++j) {
            f[j] = f[kept[j]];
            rows_[j] = rows_[kept[j]];
            column_[rows_[j]] = static_cast<std::uint32_t>(j);
        }
        f.resize(kept.size());
        rows_.resize(kept.size());
        assert(std::is_sorted(rows_.begin(), rows_.end()));
        std::erase_if(vars_, [&](std::uint32_t v) { return stays[problem_.row(v)] == 0; });
        return kept;
    }

  private:
    static constexpr std::size_t worth = 10;  // at least a tenth of the rows

    SmoProblem problem_;
    std::vector<std::uint32_t> vars_;
    std::vector<std::uint32_t> rows_;    // ascending
    std::vector<std::uint32_t> column_;  // row -> its place among the active ones
    std::vector<Dropped> dropped_;
};

}  // namespace assay::svm

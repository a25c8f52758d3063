// Products of the columns that a solver has met so far, kept as more columns come.
//
// Needs   as Design::products; no more than `capacity` columns at a time.
// Cost    only products with new columns are made: n (new) (all).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "assay/common/matrix_view.hpp"

namespace assay::linear {

template <class Design>
class ProductCache {
  public:
    // 4096 columns: 134 MB of products.
    static constexpr std::size_t capacity = 4096;

    explicit ProductCache(const Design& design) : design_(design), place_(design.cols(), absent) {}

    // Writes the products of these columns with each other, row-major.
    void products(std::span<const std::size_t> columns, std::vector<double>& out) {
        assert(columns.size() <= capacity);
        add(columns);
        const std::size_t k = columns.size();
        out.resize(k * k);
        for (std::size_t a = 0; a < k; ++a) {
            assert(place_[columns[a]] < known_.size() && known_.size() <= stride_);
            const double* from = table_.data() + place_[columns[a]] * stride_;
            for (std::size_t b = 0; b < k; ++b) {
                out[a * k + b] = from[place_[columns[b]]];
            }
        }
    }

  private:
    static constexpr std::size_t absent = static_cast<std::size_t>(-1);

    void add(std::span<const std::size_t> columns) {
        std::vector<std::size_t> fresh;
        std::copy_if(columns.begin(), columns.end(), std::back_inserter(fresh),
                     [&](std::size_t j) { return place_[j] == absent; });
        if (known_.size() + fresh.size() > capacity) {
            for (const std::size_t j : known_) {
                place_[j] = absent;
            }
            known_.clear();
            fresh.assign(columns.begin(), columns.end());
        }
        if (fresh.empty()) {
            return;
        }
        const std::size_t before = known_.size();
        for (const std::size_t j : fresh) {
            place_[j] = known_.size();
            known_.push_back(j);
        }
        const std::size_t k = known_.size();
        grow(before, k);
        std::vector<double> rows(fresh.size() * k);
        design_.products(known_, MatrixView<double>{rows.data(), fresh.size(), k});
        for (std::size_t a = 0; a < fresh.size(); ++a) {
            for (std::size_t b = 0; b < k; ++b) {
                // Below the diagonal as computed, above it its mirror: symmetric to the bit.
                if (b <= before + a) {
                    table_[(before + a) * stride_ + b] = rows[a * k + b];
                    table_[b * stride_ + before + a] = rows[a * k + b];
                }
            }
        }
    }

    void grow(std::size_t before, std::size_t needed) {
        if (needed <= stride_) {
            return;
        }
        const std::size_t wider = std::min(capacity, std::max(needed, 2 * stride_));
        std::vector<double> table(wider * wider);
        for (std::size_t a = 0; a < before; ++a) {
            std::copy_n(table_.data() + a * stride_, before, table.data() + a * wider);
        }
        table_.swap(table);
        stride_ = wider;
    }

    const Design& design_;
    std::vector<std::size_t> place_;
    std::vector<std::size_t> known_;
    std::vector<double> table_;
    std::size_t stride_ = 0;
};

}  // namespace assay::linear

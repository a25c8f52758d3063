// The kernel matrix of a block, carried from block to block.
//
// Values among members that stayed are moved, rows that the cache holds are read, and only the
// values among the others are computed. A value has the same bits wherever it comes from.
//
// Needs   members whose rows have a column in the cached rows; `stayed` of them come first, in
//         the order in which they came last in the block before (working_set.hpp).
// Cost    O(size^2) copies; at most size x new members kernel values.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/parallel.hpp"
#include "assay/svm/row_cache.hpp"
#include "assay/svm/rows.hpp"

namespace assay::svm {

template <class T>
class BlockMatrix {
  public:
    BlockMatrix(std::size_t size, std::size_t stride) : stride_(stride), values_(size * stride) {}

    [[nodiscard]] const T* data() const noexcept { return values_.data(); }

    // `members`: the rows of the block; column[row]: the place of a row in a cached row.
    void fill(const KernelFunction& k, const Rows<T>& rows, RowList members, std::size_t stayed,
              const RowCache<T>& cache, RowList column, int n_threads) {
        const std::size_t size = members.size();
        assert(size <= stride_ && stayed <= last_.size() && stayed <= size);
        if (size > 0 && std::equal(members.begin(), members.end(), last_.begin(), last_.end())) {
            return;  // as it was: another program over the same rows begins like the one before
        }
        const std::size_t skipped = last_.size() - stayed;
        for (std::size_t w = 0; w < stayed && skipped > 0; ++w) {
            const T* from = values_.data() + (w + skipped) * stride_ + skipped;
            std::copy_n(from, stayed, values_.data() + w * stride_);
        }
        last_.assign(members.begin(), members.end());
        // Short rows are computed faster than gathered from memory.
        const bool read_cache = rows.products_per_value() > 48;
        new_.clear();
        lacking_.clear();
        for (std::size_t w = 0; w < size; ++w) {
            const T* cached = read_cache ? cache.peek(members[w]) : nullptr;
            if (cached != nullptr) {
                copy_cached(w, cached, stayed, members, column);
            } else {
                lacking_.push_back(static_cast<std::uint32_t>(w));
                if (w >= stayed) {
                    new_.push_back(static_cast<std::uint32_t>(w));
                }
            }
        }
        if (!new_.empty()) {
            compute(k, rows, members, n_threads);
        }
        for (std::size_t w = 0; w < size; ++w) {
            std::fill(values_.data() + w * stride_ + size, values_.data() + (w + 1) * stride_,
                      T{0});
        }
    }

  private:
    void copy_cached(std::size_t w, const T* cached, std::size_t stayed, RowList members,
                     RowList column) {
        T* to = values_.data() + w * stride_;
        for (std::size_t u = w < stayed ? stayed : 0; u < members.size(); ++u) {
            const T value = cached[column[members[u]]];
            to[u] = value;
            values_[u * stride_ + w] = value;
        }
    }

    // The new members that no cached row covers, against all such members.
    void compute(const KernelFunction& k, const Rows<T>& rows, RowList members, int n_threads) {
        lacking_rows_.clear();
        for (const std::uint32_t w : lacking_) {
            lacking_rows_.push_back(members[w]);
        }
        const auto own = rows.take(lacking_rows_);
        const std::size_t width = own->padded();
        if (new_.size() == members.size() && rows.at_hand()) {
            // All are new, and reading a value costs no more than moving it: straight into place.
            std::vector<T*> out(members.size());
            for (std::size_t w = 0; w < members.size(); ++w) {
                out[w] = values_.data() + w * stride_;
            }
            own->fill(k, rows, members, 0, own->size(), out.data());
            return;
        }
        if (computed_.size() < new_.size() * width) {
            computed_ = AlignedBuffer<T>(new_.size() * width);
        }
        constexpr std::size_t part = 32;
        parallel_chunks(new_.size(), part, n_threads, [&](Range range) {
            std::uint32_t which[part] = {};
            T* out[part] = {};
            for (std::size_t a = range.begin; a < range.end; ++a) {
                which[a - range.begin] = members[new_[a]];
                out[a - range.begin] = computed_.data() + a * width;
            }
            own->fill(k, rows, {which, range.end - range.begin}, 0, own->size(), out);
        });
        for (std::size_t a = 0; a < new_.size(); ++a) {
            const T* from = computed_.data() + a * width;
            for (std::size_t u = 0; u < lacking_.size(); ++u) {
                values_[new_[a] * stride_ + lacking_[u]] = from[u];
                values_[lacking_[u] * stride_ + new_[a]] = from[u];
            }
        }
    }

    std::size_t stride_;
    AlignedBuffer<T> values_;
    std::vector<std::uint32_t> last_;     // the members whose values are there
    std::vector<std::uint32_t> new_;      // members to compute ...
    std::vector<std::uint32_t> lacking_;  // ... against these
    std::vector<std::uint32_t> lacking_rows_;
    AlignedBuffer<T> computed_;
};

}  // namespace assay::svm

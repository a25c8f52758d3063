// Sums of kernel rows: the gradient of a step, and the prediction of many rows.
//
//     sum[j] += coef_0 k(x_0, z_j) + coef_1 k(x_1, z_j) + ...     x of `from`, z_j all own rows
//
// in float64 and in this order, whatever the number of threads. Rows that the cache holds are
// read; the others are computed chunk by chunk and kept if there is room.
//
// Cost    one kernel value per pair that is not in the cache, one product per pair.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/parallel.hpp"
#include "assay/svm/row_cache.hpp"
#include "assay/svm/rows.hpp"
#include "assay/svm/tile.hpp"

namespace assay::svm {

inline constexpr std::size_t sum_columns = 512;  // a chunk of columns: one task
inline constexpr std::size_t sum_rows = 32;      // rows whose chunk is in the cache at a time

namespace detail {

// The rows [0, n) in groups of up to sum_rows: computes those without a place in `ready`.
template <class T>
void sum_chunk(const KernelFunction& k, const Rows<T>& columns, const Rows<T>& from, RowList which,
               std::span<const double> coef, std::span<T* const> ready,
               std::span<const char> is_filled, Range range, double* sum) {
    AlignedBuffer<T> scratch;
    const T* rows[sum_rows] = {};
    T* missing_out[sum_rows] = {};
    std::uint32_t missing[sum_rows] = {};
    for (std::size_t first = 0; first < which.size(); first += sum_rows) {
        const std::size_t count = std::min(sum_rows, which.size() - first);
        std::size_t n_missing = 0;
        for (std::size_t r = 0; r < count; ++r) {
            rows[r] = columns.direct(k, from, which[first + r]);
            if (rows[r] != nullptr) {
                continue;
            }
            T* place = ready.empty() ? nullptr : ready[first + r];
            if (place == nullptr) {
                if (scratch.size() == 0) {
                    scratch = AlignedBuffer<T>(sum_rows * sum_columns);
                }
                // `fill` writes from column range.begin on.
                place = scratch.data() + r * sum_columns - range.begin;
            }
            if (is_filled.empty() || is_filled[first + r] == 0) {
                missing[n_missing] = which[first + r];
                missing_out[n_missing++] = place;
            }
            rows[r] = place;
        }
        if (n_missing > 0) {
            columns.fill(k, from, {missing, n_missing}, range.begin, range.end, missing_out);
        }
        dispatch([&](auto level) {
            AddRows<decltype(level), T>::run(rows, coef.data() + first, count, range.begin,
                                             range.end, sum);
        });
    }
}

}  // namespace detail

template <class T>
void add_kernel_rows(const KernelFunction& k, const Rows<T>& columns, const Rows<T>& from,
                     RowList which, std::span<const double> coef, std::span<double> sum,
                     int n_threads) {
    parallel_chunks(columns.size(), sum_columns, n_threads, [&](Range range) {
        detail::sum_chunk<T>(k, columns, from, which, coef, {}, {}, range, sum.data());
    });
}

// The same with a cache of rows over `columns`, keyed by their number in `from`. Returns how
// many rows were computed.
template <class T>
std::size_t add_kernel_rows(const KernelFunction& k, const Rows<T>& columns, const Rows<T>& from,
                            RowList which, std::span<const double> coef, std::span<double> sum,
                            RowCache<T>& cache, int n_threads) {
    assert(coef.size() == which.size() && sum.size() >= columns.size());
    std::vector<T*> ready(which.size());
    std::vector<char> is_filled(which.size());
    std::size_t computed = 0;
    cache.begin();
    for (std::size_t r = 0; r < which.size(); ++r) {
        ready[r] = cache.find(which[r]);
        is_filled[r] = ready[r] != nullptr ? 1 : 0;
        computed += is_filled[r] == 0 ? 1U : 0U;
    }
    for (std::size_t r = 0; r < which.size(); ++r) {
        if (is_filled[r] == 0) {
            ready[r] = cache.claim(which[r]);
        }
    }
    parallel_chunks(columns.size(), sum_columns, n_threads, [&](Range range) {
        detail::sum_chunk<T>(k, columns, from, which, coef, ready, is_filled, range, sum.data());
    });
    return computed;
}

}  // namespace assay::svm

// Hash tables over the rows: for each table the rows of every bin, side by side.
//
//     slots   n_tables x capacity open-addressing slots: key, and begin and end in `order`
//     order   n_tables x n row numbers, bin after bin, ascending within a bin
//
// Needs   n < 2^32. An empty slot has begin == end.
// Cost    O(n) per table besides the projections; tables are built in parallel, and the result
//         does not depend on n_threads.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "assay/common/dispatch.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"
#include "assay/neighbors/hash_probe.hpp"
#include "assay/neighbors/hash_projection.hpp"

namespace assay::neighbors {

// How rows are projected before they are hashed.
struct HashFrame {
    std::span<const double> centre;
    double scale = 1;
    MatrixView<const float> directions;  // d x width
    std::span<const float> shifts;       // one per direction
};

// One slot: two words, so that the table can be kept as an array of integers.
struct HashSlot {
    std::uint64_t key = 0;
    std::uint64_t range = 0;  // begin << 32 | end

    [[nodiscard]] std::uint32_t begin() const noexcept {
        return static_cast<std::uint32_t>(range >> 32);
    }
    [[nodiscard]] std::uint32_t end() const noexcept { return static_cast<std::uint32_t>(range); }
    [[nodiscard]] bool empty() const noexcept { return begin() == end(); }
};

struct HashTables {
    std::vector<HashSlot> slots;
    std::vector<std::uint32_t> order;
    std::size_t capacity = 0;
};

// The first slot for a key in a table of `capacity` = 2^s slots.
[[nodiscard]] constexpr std::size_t hash_slot(std::uint64_t key, std::size_t capacity) noexcept {
    assert(capacity != 0 && (capacity & (capacity - 1)) == 0);
    key ^= key >> 32;
    key *= 0x9E3779B97F4A7C15U;
    key ^= key >> 29;
    return static_cast<std::size_t>(key) & (capacity - 1);
}

template <class T>
void hash_project(MatrixView<const T> rows, const HashFrame& frame, float* room, float* out) {
    dispatch([&](auto level) {
        HashProjection<decltype(level), T>::run(
            rows.data, rows.rows, rows.cols, frame.centre.data(), frame.scale,
            frame.directions.data, frame.directions.cols, room, out);
    });
}

namespace detail {

// Groups equal keys: the number of each row's group, groups numbered as they are first met.
class HashGroups {
  public:
    explicit HashGroups(std::size_t n) : group(n) { grow(64); }

    std::vector<std::uint32_t> group;
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> sizes;

    void add(std::size_t row, std::uint64_t key) {
        std::size_t at = hash_slot(key, slots_.size());
        while (slots_[at] != 0 && keys[slots_[at] - 1] != key) {
            at = (at + 1) & (slots_.size() - 1);
        }
        if (slots_[at] == 0) {
            keys.push_back(key);
            sizes.push_back(0);
            slots_[at] = static_cast<std::uint32_t>(keys.size());
        }
        const std::uint32_t found = slots_[at] - 1;
        group[row] = found;
        ++sizes[found];
        if (2 * keys.size() > slots_.size()) {
            grow(2 * slots_.size());
        }
    }

  private:
    void grow(std::size_t capacity) {
        slots_.assign(capacity, 0);
        for (std::size_t g = 0; g < keys.size(); ++g) {
            std::size_t at = hash_slot(keys[g], capacity);
            while (slots_[at] != 0) {
                at = (at + 1) & (capacity - 1);
            }
            slots_[at] = static_cast<std::uint32_t>(g + 1);
        }
    }

    std::vector<std::uint32_t> slots_;  // group + 1; 0 = empty
};

}  // namespace detail

// Keys of all rows, table after table.
template <class T>
void hash_keys(MatrixView<const T> rows, const HashFrame& frame, const HashShape& shape,
               std::span<std::uint64_t> keys, int n_threads) {
    constexpr std::size_t chunk = 256;
    parallel_chunks(rows.rows, chunk, n_threads, [&](Range range) {
        const std::size_t count = range.end - range.begin;
        std::vector<float> room(HashProjection<Baseline, T>::block_rows * rows.cols);
        std::vector<float> projected(count * shape.width);
        hash_project(rows.middle_rows(range.begin, count), frame, room.data(), projected.data());
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t table = 0; table < shape.n_tables; ++table) {
                const std::size_t first = table * shape.n_projections;
                keys[table * rows.rows + range.begin + i] = hash_key(
                    shape, projected.data() + i * shape.width + first, frame.shifts.data() + first);
            }
        }
    });
}

// The tables of rows whose keys are known.
inline HashTables group_keys(std::span<const std::uint64_t> keys, std::size_t n_tables,
                             int n_threads) {
    const std::size_t n = keys.size() / n_tables;
    HashTables tables;
    tables.order.resize(n_tables * n);
    std::vector<std::vector<HashSlot>> found(n_tables);  // one entry per bin
    parallel_chunks(n_tables, 1, n_threads, [&](Range range) {
        const std::size_t table = range.begin;
        detail::HashGroups groups(n);
        for (std::size_t i = 0; i < n; ++i) {
            groups.add(i, keys[table * n + i]);
        }
        std::vector<std::uint32_t> place(groups.keys.size());
        auto& bins = found[table];
        bins.resize(groups.keys.size());
        std::uint64_t begin = 0;
        for (std::size_t g = 0; g < bins.size(); ++g) {
            const std::uint64_t end = begin + groups.sizes[g];
            bins[g] = {groups.keys[g], begin << 32 | end};
            place[g] = static_cast<std::uint32_t>(begin);
            begin = end;
        }
        assert(begin == n);  // every row is in one bin
        std::uint32_t* order = tables.order.data() + table * n;
        for (std::size_t i = 0; i < n; ++i) {
            order[place[groups.group[i]]++] = static_cast<std::uint32_t>(i);
        }
    });
    tables.capacity = 64;
    for (const auto& bins : found) {
        while (tables.capacity < 2 * bins.size()) {
            tables.capacity *= 2;
        }
    }
    tables.slots.resize(n_tables * tables.capacity);
    parallel_chunks(n_tables, 1, n_threads, [&](Range range) {
        HashSlot* slots = tables.slots.data() + range.begin * tables.capacity;
        for (const HashSlot& bin : found[range.begin]) {
            std::size_t at = hash_slot(bin.key, tables.capacity);
            while (!slots[at].empty()) {
                at = (at + 1) & (tables.capacity - 1);
            }
            slots[at] = bin;
        }
    });
    return tables;
}

template <class T>
[[nodiscard]] HashTables build_tables(MatrixView<const T> rows, const HashFrame& frame,
                                      const HashShape& shape, int n_threads) {
    std::vector<std::uint64_t> keys(shape.n_tables * rows.rows);
    hash_keys(rows, frame, shape, std::span<std::uint64_t>(keys), n_threads);
    return group_keys(keys, shape.n_tables, n_threads);
}

// The tables as the caller keeps them.
struct HashTablesView {
    std::span<const HashSlot> slots;
    std::span<const std::uint32_t> order;
    std::size_t n_rows = 0;
    std::size_t capacity = 0;

    // Rows of one bin, ascending; empty if no row is in it.
    [[nodiscard]] std::span<const std::uint32_t> bin(std::uint32_t table,
                                                     std::uint64_t key) const noexcept {
        const HashSlot* mine = slots.data() + table * capacity;
        for (std::size_t at = hash_slot(key, capacity);; at = (at + 1) & (capacity - 1)) {
            if (mine[at].empty()) {
                return {};
            }
            if (mine[at].key == key) {
                return order.subspan(table * n_rows + mine[at].begin(),
                                     mine[at].end() - mine[at].begin());
            }
        }
    }
};

}  // namespace assay::neighbors

// The binned table as boosting wants it: all codes of a row together, sparse columns bundled.
//
// Boosting looks at every column of every row, so rows are contiguous and padded to a power
// of two or a multiple of 16 bytes. Columns that are never away from their commonest code
// in the same row (the columns of a one-hot coding, say) share one byte: code 0 means "all
// of them common", the others tell which column is away and where. Their histograms are
// recovered exactly: the common code has what the others leave of the total.
//
// To part rows, the bytes of one column or bundle are wanted without the others. Where columns
// are bundled the table has a copy of them by columns too, and no longer needs the codes that it
// was made from: 12 bytes a row instead of 54 for covtype, which has 44 yes/no columns.
//
// Needs   8-bit codes.
// Cost    O(n d) once; n bytes per column or bundle, twice where there are bundles.
// Source  Ke et al.: LightGBM (NIPS 2017), section 4, with no conflict allowed.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/common/aligned.hpp"
#include "assay/common/parallel.hpp"
#include "assay/tree/bins.hpp"

namespace assay::tree {

class BoostTable {
  public:
    // Where the codes of a column are counted.
    struct Column {
        std::size_t group = 0;
        std::size_t first = 0;     // its slot 0 within a histogram (a bundle: of code base)
        std::int32_t common = -1;  // of a bundled column; -1: a byte of its own
        std::int32_t n_bins = 0;   // the code of missing values not counted
        std::int32_t n_codes = 0;  // with it
        std::int32_t base = 0;     // bundled: byte of its first code
    };

    BoostTable(const BinnedView<std::uint8_t>& bins, int n_threads) : bins_(bins) {
        choose_groups();
        stride_ = n_groups_ <= 16 ? std::bit_ceil(n_groups_) : (n_groups_ + 15) / 16 * 16;
        codes_ = AlignedBuffer<std::uint8_t>(bins.rows * stride_);
        if (has_bundles()) {
            by_group_ = AlignedBuffer<std::uint8_t>(bins.rows * n_groups_);
        }
        fill(n_threads);
        if (has_bundles()) {
            bins_.codes = nullptr;
        }
    }

    // What is known of the bins; has no codes where columns are bundled.
    [[nodiscard]] const BinnedView<std::uint8_t>& bins() const noexcept { return bins_; }
    [[nodiscard]] bool has_bundles() const noexcept { return n_groups_ < bins_.cols; }
    [[nodiscard]] std::size_t rows() const noexcept { return bins_.rows; }
    [[nodiscard]] std::size_t n_groups() const noexcept { return n_groups_; }
    [[nodiscard]] std::size_t n_slots() const noexcept { return slot_.back(); }
    [[nodiscard]] const Column& column(std::size_t f) const noexcept { return columns_[f]; }
    [[nodiscard]] std::size_t group_slot(std::size_t g) const noexcept { return slot_[g]; }
    [[nodiscard]] const std::uint8_t* row(std::size_t i) const noexcept {
        return codes_.data() + i * stride_;
    }

    // The bytes, by rows of the table, in which column f is: its codes, or those of its bundle.
    [[nodiscard]] const std::uint8_t* bytes(std::size_t f) const noexcept {
        return has_bundles() ? by_group_.data() + columns_[f].group * rows()
                             : bins_.column(f).data();
    }

    // Whether bytes lie after (1) or before (-1) those of column f, or neither (0).
    [[nodiscard]] int neighbour(std::size_t f) const noexcept {
        const std::size_t place = has_bundles() ? columns_[f].group : f;
        return place > 0 ? -1 : n_groups_ > 1 ? 1 : 0;
    }

    // The code of column f that each byte stands for.
    [[nodiscard]] std::array<std::uint8_t, 256> codes_of_bytes(std::size_t f) const noexcept {
        const Column& column = columns_[f];
        std::array<std::uint8_t, 256> code;
        for (std::int32_t byte = 0; byte < 256; ++byte) {
            std::int32_t value = byte;
            if (column.common >= 0) {
                const std::int32_t rank = byte - column.base;
                const bool away = rank >= 0 && rank < column.n_codes - 1;
                value = away ? rank + (rank >= column.common ? 1 : 0) : column.common;
            }
            code[static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(value);
        }
        return code;
    }

    // hist[slot of each code of row] += word_of(row), for `count` rows (rows = none: from
    // `first` on).
    template <class WordOf>
    void add(std::int64_t* hist, const std::int32_t* rows, std::size_t first, std::size_t count,
             const WordOf& word_of) const noexcept {
        // Copies that the compiler knows nobody writes to.
        const std::uint32_t* slot = group_start_.data();
        const std::size_t n_groups = n_groups_;
        const std::uint8_t* codes = codes_.data();
        const std::size_t stride = stride_;
        if (rows == nullptr) {
            for (std::size_t i = first; i < first + count; ++i) {
                add_row(hist, slot, n_groups, codes + i * stride, word_of(i));
            }
            return;
        }
        constexpr std::size_t ahead = 16;
        const std::size_t body = count > ahead ? count - ahead : 0;
        std::size_t i = 0;
        for (; i < body; ++i) {
            __builtin_prefetch(codes + static_cast<std::size_t>(rows[i + ahead]) * stride);
            const auto r = static_cast<std::size_t>(rows[i]);
            add_row(hist, slot, n_groups, codes + r * stride, word_of(r));
        }
        for (; i < count; ++i) {
            const auto r = static_cast<std::size_t>(rows[i]);
            add_row(hist, slot, n_groups, codes + r * stride, word_of(r));
        }
    }

    // The histogram of one column; `scratch` (256 words) is used for a bundled one.
    [[nodiscard]] const std::int64_t* histogram(const std::int64_t* hist, std::int64_t total,
                                                std::size_t f,
                                                std::int64_t* scratch) const noexcept {
        const Column& column = columns_[f];
        if (column.common < 0) {
            return hist + column.first;
        }
        std::int64_t rest = total;
        const std::int64_t* from = hist + column.first;
        for (std::int32_t code = 0; code < column.n_codes; ++code) {
            if (code != column.common) {
                rest -= *from;
                scratch[code] = *from++;
            }
        }
        scratch[column.common] = rest;
        return scratch;
    }

  private:
    struct Bundle {
        std::int32_t used = 1;  // byte 0: all common
        std::vector<std::uint64_t> away;
        std::vector<std::size_t> members;
    };

    [[gnu::always_inline]] static void add_row(std::int64_t* hist, const std::uint32_t* slot,
                                               std::size_t n_groups, const std::uint8_t* codes,
                                               std::int64_t word) noexcept {
        std::size_t g = 0;
        for (; g + 8 <= n_groups; g += 8) {
            std::uint64_t eight;
            __builtin_memcpy(&eight, codes + g, 8);
            hist[slot[g] + (eight & 255)] += word;
            hist[slot[g + 1] + (eight >> 8 & 255)] += word;
            hist[slot[g + 2] + (eight >> 16 & 255)] += word;
            hist[slot[g + 3] + (eight >> 24 & 255)] += word;
            hist[slot[g + 4] + (eight >> 32 & 255)] += word;
            hist[slot[g + 5] + (eight >> 40 & 255)] += word;
            hist[slot[g + 6] + (eight >> 48 & 255)] += word;
            hist[slot[g + 7] + (eight >> 56)] += word;
        }
        if (g + 4 <= n_groups) {
            std::uint32_t four;
            __builtin_memcpy(&four, codes + g, 4);
            hist[slot[g] + (four & 255)] += word;
            hist[slot[g + 1] + (four >> 8 & 255)] += word;
            hist[slot[g + 2] + (four >> 16 & 255)] += word;
            hist[slot[g + 3] + (four >> 24)] += word;
            g += 4;
        }
        for (; g < n_groups; ++g) {
            hist[slot[g] + codes[g]] += word;
        }
    }

    void choose_groups() {
        const std::size_t d = bins_.cols;
        columns_.resize(d);
        std::vector<Bundle> bundles;
        std::vector<std::size_t> alone;
        for (std::size_t f = 0; f < d; ++f) {
            Column& column = columns_[f];
            column.n_bins = bins_.n_bins[f];
            column.n_codes = column.n_bins + (bins_.has_missing[f] != 0 ? 1 : 0);
            if (!bundled(f, bundles)) {
                alone.push_back(f);
            }
        }
        slot_.assign(1, 0);
        for (const std::size_t f : alone) {
            columns_[f].common = -1;
            columns_[f].group = n_groups_++;
            columns_[f].first = slot_.back();
            slot_.push_back(slot_.back() + rounded(columns_[f].n_codes));
        }
        for (const Bundle& bundle : bundles) {
            if (bundle.members.size() == 1) {  // nobody to share with: codes as they are
                Column& column = columns_[bundle.members[0]];
                column.common = -1;
                column.group = n_groups_++;
                column.first = slot_.back();
                slot_.push_back(slot_.back() + rounded(column.n_codes));
                continue;
            }
            for (const std::size_t f : bundle.members) {
                columns_[f].group = n_groups_;
                columns_[f].first = slot_.back() + static_cast<std::size_t>(columns_[f].base);
            }
            ++n_groups_;
            slot_.push_back(slot_.back() + rounded(bundle.used));
        }
        for (std::size_t g = 0; g < n_groups_; ++g) {
            group_start_.push_back(static_cast<std::uint32_t>(slot_[g]));
        }
    }

    static std::size_t rounded(std::int32_t codes) noexcept {
        return (static_cast<std::size_t>(codes) + 7) / 8 * 8;
    }

    // Puts column f into the first bundle it fits, or a new one; false: it is too dense.
    bool bundled(std::size_t f, std::vector<Bundle>& bundles) {
        Column& column = columns_[f];
        if (column.n_codes < 2 || column.n_codes > 128) {
            return false;
        }
        const auto codes = bins_.column(f);
        const std::size_t sample = std::min<std::size_t>(codes.size(), 2048);
        std::array<std::size_t, 256> count{};
        for (std::size_t i = 0; i < sample; ++i) {
            ++count[codes[i]];
        }
        const auto common = std::max_element(count.begin(), count.end()) - count.begin();
        if (count[static_cast<std::size_t>(common)] * 2 < sample) {
            return false;
        }
        column.common = static_cast<std::int32_t>(common);
        const std::vector<std::uint64_t> away = away_rows(codes, sample, column.common);
        std::vector<std::uint64_t> whole;
        for (Bundle& bundle : bundles) {
            if (bundle.used + column.n_codes - 1 > 256 || overlap(away, bundle.away)) {
                continue;
            }
            if (whole.empty()) {
                whole = away_rows(codes, codes.size(), column.common);
            }
            if (overlap(whole, bundle.away)) {
                continue;
            }
            for (std::size_t i = 0; i < whole.size(); ++i) {
                bundle.away[i] |= whole[i];
            }
            column.base = bundle.used;
            bundle.used += column.n_codes - 1;
            bundle.members.push_back(f);
            return true;
        }
        if (bundles.size() >= 64) {
            return false;
        }
        if (whole.empty()) {
            whole = away_rows(codes, codes.size(), column.common);
        }
        column.base = 1;
        bundles.push_back({column.n_codes, std::move(whole), {f}});
        return true;
    }

    static std::vector<std::uint64_t> away_rows(std::span<const std::uint8_t> codes,
                                                std::size_t count, std::int32_t common) {
        std::vector<std::uint64_t> bits((count + 63) / 64, 0);
        for (std::size_t i = 0; i < count; ++i) {
            bits[i / 64] |= std::uint64_t{codes[i] != common} << (i % 64);
        }
        return bits;
    }

    static bool overlap(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
        const std::size_t words = std::min(a.size(), b.size());
        for (std::size_t i = 0; i < words; ++i) {
            if ((a[i] & b[i]) != 0) {
                return true;
            }
        }
        return false;
    }

    void fill(int n_threads) {
        std::vector<const std::uint8_t*> alone(n_groups_, nullptr);
        std::vector<std::vector<std::size_t>> members(n_groups_);
        for (std::size_t f = 0; f < columns_.size(); ++f) {
            if (columns_[f].common < 0) {
                alone[columns_[f].group] = bins_.column(f).data();
            } else {
                members[columns_[f].group].push_back(f);
            }
        }
        parallel_chunks(rows(), 512, n_threads, [&](Range range) {
            for (std::size_t g = 0; g < n_groups_; ++g) {
                std::uint8_t* to = codes_.data() + g;
                if (alone[g] != nullptr) {
                    for (std::size_t i = range.begin; i < range.end; ++i) {
                        to[i * stride_] = alone[g][i];
                    }
                    if (has_bundles()) {
                        std::copy(alone[g] + range.begin, alone[g] + range.end,
                                  by_group_.data() + g * rows() + range.begin);
                    }
                    continue;
                }
                for (std::size_t i = range.begin; i < range.end; ++i) {
                    to[i * stride_] = 0;
                }
                for (const std::size_t f : members[g]) {
                    const Column& column = columns_[f];
                    const auto codes = bins_.column(f);
                    for (std::size_t i = range.begin; i < range.end; ++i) {
                        if (codes[i] != column.common) {
                            const std::int32_t rank = codes[i] - (codes[i] > column.common ? 1 : 0);
                            to[i * stride_] = static_cast<std::uint8_t>(column.base + rank);
                        }
                    }
                }
                std::uint8_t* by_group = by_group_.data() + g * rows();
                for (std::size_t i = range.begin; i < range.end; ++i) {
                    by_group[i] = to[i * stride_];
                }
            }
        });
    }

    BinnedView<std::uint8_t> bins_;
    std::vector<Column> columns_;
    std::vector<std::size_t> slot_;  // n_groups + 1
    std::vector<std::uint32_t> group_start_;
    std::size_t n_groups_ = 0;
    std::size_t stride_ = 0;
    AlignedBuffer<std::uint8_t> codes_;     // by rows
    AlignedBuffer<std::uint8_t> by_group_;  // by columns and bundles, where there are bundles
};

}  // namespace assay::tree

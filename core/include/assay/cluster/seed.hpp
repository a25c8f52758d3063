// Greedy k-means++: each next seed is the best of a few rows drawn by squared distance.
//
//     P(row i) = w_i D_i / sum w D,     D_i = squared distance to the nearest seed so far
//
// and of the t rows drawn the one that leaves the smallest sum w D is taken. The random numbers
// arrive as arguments, so the caller's generator decides.
//
// A row keeps its D if the new seed is at least twice as far from its nearest seed as the row is:
// most rows of clustered data cost one comparison. The sums are made in fixed chunks.
//
// Needs   finite rows; draws: (n_seeds - 1) x t numbers in [0, 1), 1 <= t <= 64; first < rows.
// Cost    O(n t d) per seed at most; 12 bytes per row.
// Source  Arthur, Vassilvitskii: k-means++ (SODA 2007); Celebi, Kingravi, Vela (2013) on the
//         greedy form.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "assay/cluster/bounds.hpp"
#include "assay/cluster/centroid_panels.hpp"
#include "assay/cluster/seed_scan.hpp"
#include "assay/common/dispatch.hpp"
#include "assay/common/distance.hpp"
#include "assay/common/matrix_view.hpp"
#include "assay/common/parallel.hpp"

namespace assay::cluster {

template <class T>
class Seeding {
  public:
    Seeding(MatrixView<const T> rows, std::span<const double> weight, int n_threads)
        : rows_(rows),
          weight_(weight),
          n_threads_(n_threads),
          nearest_(rows.rows, std::numeric_limits<double>::infinity()),
          home_(rows.rows, 0),
          parts_(chunk_count(rows.rows, seed_chunk)),
          taken_(parts_.size()) {}

    void run(std::size_t first, MatrixView<const double> draws, std::span<std::int64_t> chosen) {
        assert(first < rows_.rows && !chosen.empty());
        assert(draws.rows + 1 >= chosen.size() && (draws.cols >= 1 || chosen.size() == 1));
        chosen[0] = static_cast<std::int64_t>(first);
        offer(chosen.first(1));
        parallel_chunks(rows_.rows, seed_chunk, n_threads_,
                        [&](Range range) { parts_[range.index] = take(range.index); });
        std::vector<std::size_t> drawn(draws.cols);
        for (std::size_t s = 1; s < chosen.size(); ++s) {
            double total = 0;
            for (const double part : parts_) {
                total += part;
            }
            for (std::size_t t = 0; t < drawn.size(); ++t) {
                drawn[t] = row_at(draws(s - 1, t) * total);
            }
            const std::size_t best = cheapest(drawn, chosen.first(s));
            chosen[s] = static_cast<std::int64_t>(drawn[best]);
            offer(chosen.first(s + 1));
        }
    }

  private:
    // The newest seed waits until a chunk is next looked at: one pass over the rows per seed.
    void offer(std::span<const std::int64_t> chosen) {
        newest_ = static_cast<std::int32_t>(chosen.size() - 1);
        seed_ = widened(static_cast<std::size_t>(chosen.back()));
        keep_ = quarter_gaps(seed_, chosen.first(chosen.size() - 1));
        std::fill(taken_.begin(), taken_.end(), 0);
    }

    // Compares the rows of a chunk with the newest seed, once; returns its sum of w D.
    double take(std::size_t chunk) noexcept {
        const std::size_t begin = chunk * seed_chunk;
        const std::size_t end = std::min(rows_.rows, begin + seed_chunk);
        assert(begin < end && taken_[chunk] == 0);
        taken_[chunk] = 1;
        return dispatch([&](auto level) {
            return SeedScan<decltype(level), T>::take(
                rows_.data + begin * rows_.cols, end - begin, rows_.cols, seed_.data(), newest_,
                keep_.data(), nearest_.data() + begin, home_.data() + begin,
                weight_.empty() ? nullptr : weight_.data() + begin);
        });
    }

    // The row where the running sum of w D first reaches `target`.
    [[nodiscard]] std::size_t row_at(double target) noexcept {
        double before = 0;
        std::size_t chunk = 0;
        while (chunk + 1 < parts_.size() && before + parts_[chunk] < target) {
            before += parts_[chunk++];
        }
        if (taken_[chunk] == 0) {
            take(chunk);
        }
        const std::size_t end = std::min(rows_.rows, (chunk + 1) * seed_chunk);
        std::size_t i = chunk * seed_chunk;
        double sum = before;
        for (; i < end; ++i) {
            sum += (weight_.empty() ? 1 : weight_[i]) * nearest_[i];
            if (sum >= target) {
                return i;
            }
        }
        return end - 1;
    }

    // Which of the drawn rows would leave the smallest sum; the first of equals.
    [[nodiscard]] std::size_t cheapest(const std::vector<std::size_t>& drawn,
                                       std::span<const std::int64_t> chosen) {
        const std::size_t d = rows_.cols;
        // In lane 0 the newest seed, which most chunks still wait for; then the drawn rows.
        const std::size_t n_panels = drawn.size() / lanes + 1;
        std::vector<double> panels(n_panels * lanes * d, std::numeric_limits<double>::infinity());
        const auto place = [&](std::size_t lane, const std::vector<double>& seed) {
            for (std::size_t j = 0; j < d; ++j) {
                panels[(lane / lanes * d + j) * lanes + lane % lanes] = seed[j];
            }
        };
        place(0, seed_);
        std::vector<double> keep = keep_;
        keep.resize(chosen.size(), std::numeric_limits<double>::infinity());
        for (std::size_t t = 0; t < drawn.size(); ++t) {
            const std::vector<double> seed = widened(drawn[t]);
            place(t + 1, seed);
            const std::vector<double> gaps = quarter_gaps(seed, chosen);
            for (std::size_t c = 0; c < keep.size(); ++c) {
                keep[c] = std::min(keep[c], gaps[c]);
            }
        }
        const std::size_t width = n_panels * lanes;
        std::vector<double> costs(parts_.size() * width);
        parallel_chunks(rows_.rows, seed_chunk, n_threads_, [&](Range range) {
            dispatch([&](auto level) {
                SeedScan<decltype(level), T>::costs(
                    rows_.data + range.begin * d, range.end - range.begin, d, panels.data(),
                    n_panels, newest_, keep.data(), nearest_.data() + range.begin,
                    home_.data() + range.begin,
                    weight_.empty() ? nullptr : weight_.data() + range.begin,
                    costs.data() + range.index * width);
            });
        });
        std::vector<double> total(width);
        for (std::size_t c = 0; c < costs.size(); ++c) {
            total[c % width] += costs[c];
        }
        const auto first = total.begin() + 1;
        const auto end = first + static_cast<std::ptrdiff_t>(drawn.size());
        const auto best = static_cast<std::size_t>(std::min_element(first, end) - first);
        for (std::size_t c = 0; c < parts_.size(); ++c) {
            parts_[c] = std::max(0.0, costs[c * width + 1 + best]);
        }
        return best;
    }

    [[nodiscard]] std::vector<double> widened(std::size_t i) const {
        const auto row = rows_.row(i);
        return {row.begin(), row.end()};
    }

    // Rows with D below this keep D: a quarter of the squared distance of the seeds, less room
    // for rounding on both sides.
    [[nodiscard]] std::vector<double> quarter_gaps(const std::vector<double>& seed,
                                                   std::span<const std::int64_t> chosen) const {
        const double room = 1 - 16 * DistanceBounds::of(rows_.cols).slack;
        std::vector<double> gaps(std::max<std::size_t>(1, chosen.size()));  // none: keep nothing
        for (std::size_t c = 0; c < chosen.size(); ++c) {
            const std::vector<double> other = widened(static_cast<std::size_t>(chosen[c]));
            const double squared = squared_distance<double>(seed, other);
            // Above or below this range an S may have overflowed or underflowed.
            const bool sound = squared < 0x1p1000 && squared > 0x1p-900;
            gaps[c] = sound ? squared / 4 * room : 0;
        }
        return gaps;
    }

    MatrixView<const T> rows_;
    std::span<const double> weight_;
    int n_threads_;
    std::vector<double> nearest_;
    std::vector<std::int32_t> home_;
    std::vector<double> parts_;        // sum of w D per chunk, the newest seed included
    std::vector<std::uint8_t> taken_;  // whether D of a chunk knows the newest seed
    std::vector<double> seed_;
    std::vector<double> keep_;
    std::int32_t newest_ = 0;
};

// Writes the row numbers of the seeds.
template <class T>
void seed_rows(MatrixView<const T> rows, std::span<const double> weight, std::size_t first,
               MatrixView<const double> draws, std::span<std::int64_t> chosen, int n_threads) {
    Seeding<T>(rows, weight, n_threads).run(first, draws, chosen);
}

}  // namespace assay::cluster

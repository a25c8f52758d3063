// assay/tree/boost_scan.hpp, once per CPU level.
#include "assay/tree/boost_scan.hpp"

#include <cstddef>

#include "assay/common/dispatch.hpp"
#include "assay/common/simd.hpp"

namespace assay::tree {
namespace {

template <class Level, bool l1>
void best_of(const ScanInput& in, const std::int64_t* left, std::int32_t count, bool missing_left,
             ScanBest& best) noexcept {
    using R = typename Simd<double, Level>::Register;
    using W = typename Simd<double, Level>::Words;
    constexpr std::int32_t width = Level::vector_bytes / sizeof(double);
    const std::int64_t mask = (std::int64_t{1} << in.shift) - 1;
    const std::int64_t min_right = (in.total & mask) - in.min_hessian;
    alignas(64) double gain[256 + 8];
    R highest = R{} - 1.0;
    for (std::int32_t t = 0; t < count; t += width) {
        W word;
        __builtin_memcpy(&word, left + t, sizeof word);
        const W h_int = word & mask;
        const W rest = in.total - word;
        const R gl = __builtin_convertvector(word >> in.shift, R);
        const R gr = __builtin_convertvector(rest >> in.shift, R);
        const R hl = __builtin_convertvector(h_int, R) + in.lambda;
        const R hr = __builtin_convertvector(rest & mask, R) + in.lambda;
        R al = gl;
        R ar = gr;
        if constexpr (l1) {
            al = (gl < 0.0 ? -gl : gl) - in.alpha;
            ar = (gr < 0.0 ? -gr : gr) - in.alpha;
            al = al < 0.0 ? R{} : al;
            ar = ar < 0.0 ? R{} : ar;
        }
        const R value = (al * al * hr + ar * ar * hl) / (hl * hr);
        const W valid = (h_int >= in.min_hessian) & (h_int <= min_right);
        const R usable = valid ? value : R{} - 1.0;
        __builtin_memcpy(gain + t, &usable, sizeof usable);
        highest = usable > highest ? usable : highest;
    }
    double top = -1;
    for (std::int32_t lane = 0; lane < width; ++lane) {
        top = highest[lane] > top ? highest[lane] : top;
    }
    if (top > best.gain) {
        std::int32_t t = 0;
        while (gain[t] != top) {
            ++t;
        }
        best = {top, t, missing_left, left[t]};
    }
}

template <class Level, bool l1>
ScanBest scan(const ScanInput& in) noexcept {
    ScanBest best;
    // Words past the end have an empty right side, so they are never valid.
    alignas(64) std::int64_t left[256 + 8];
    std::int64_t sum = 0;
    for (std::int32_t t = 0; t < in.n_bins; ++t) {
        sum += in.hist[t];
        left[t] = sum;
    }
    const std::int64_t missing = in.has_missing ? in.hist[in.n_bins] : 0;
    for (std::int32_t t = in.n_bins; t < in.n_bins + 8; ++t) {
        left[t] = in.total;
    }
    // With missing rows the last t sets them apart; without, it has an empty right side.
    best_of<Level, l1>(in, left, in.n_bins, false, best);
    if (missing != 0) {
        for (std::int32_t t = 0; t < in.n_bins; ++t) {
            left[t] += missing;
        }
        best_of<Level, l1>(in, left, in.n_bins - 1, true, best);
    }
    return best;
}

}  // namespace

template <class Level>
ScanBest BoostScan<Level>::run(const ScanInput& input) noexcept {
    return input.alpha > 0 ? scan<Level, true>(input) : scan<Level, false>(input);
}

template struct BoostScan<ASSAY_LEVEL>;

}  // namespace assay::tree

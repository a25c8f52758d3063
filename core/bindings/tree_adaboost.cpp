// Python border of assay::tree, part "adaboost".
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "arrays.hpp"
#include "assay/tree/adaboost.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

template <class Code>
void check_bins(const tree::BinnedView<Code>& bins) {
    require(bins.n_bins.size() == bins.cols && bins.nominal.size() == bins.cols &&
                bins.has_missing.size() == bins.cols && bins.bin_start.size() == bins.cols + 1 &&
                bins.level_start.size() == bins.cols + 1,
            "the arrays of bins do not fit the columns");
    require(bins.bin_start[0] == 0 && bins.level_start[0] == 0 &&
                bins.bin_start[bins.cols] == static_cast<std::int64_t>(bins.lower.size()) &&
                bins.lower.size() == bins.upper.size() &&
                bins.level_start[bins.cols] == static_cast<std::int64_t>(bins.level_bin.size()),
            "bin_start or level_start does not divide its array");
    for (std::size_t f = 0; f < bins.cols; ++f) {
        require(bins.n_bins[f] >= 1 &&
                    bins.bin_start[f + 1] - bins.bin_start[f] == bins.n_bins[f] &&
                    bins.level_start[f + 1] >= bins.level_start[f],
                "n_bins does not fit bin_start");
        std::size_t largest = 0;
        for (const Code code : bins.column(f)) {
            largest = std::max<std::size_t>(largest, code);
        }
        require(largest <= static_cast<std::size_t>(bins.n_bins[f]), "a code is above n_bins");
        for (std::int64_t i = bins.level_start[f]; i < bins.level_start[f + 1]; ++i) {
            const std::int32_t bin = bins.level_bin[static_cast<std::size_t>(i)];
            require(bin >= 0 && bin < bins.n_bins[f], "a level has no bin");
        }
    }
}

template <class Code>
std::vector<tree::Stump> boost(const tree::BinnedView<Code>& bins, std::span<const std::int32_t> y,
                               std::span<const double> weight, int criterion,
                               const tree::StumpOptions& options) {
    using tree::Criterion;
    switch (criterion) {
        case 0:
            return tree::StumpBooster<Code, Criterion::gini>(bins, y, weight, options).run();
        case 1:
            return tree::StumpBooster<Code, Criterion::entropy>(bins, y, weight, options).run();
        default:
            return tree::StumpBooster<Code, Criterion::error>(bins, y, weight, options).run();
    }
}

// One array per attribute of the stumps.
Arrays columns(const std::vector<tree::Stump>& stumps) {
    const std::size_t n = stumps.size();
    std::vector<std::int32_t> feature(n);
    std::vector<double> threshold(n);
    std::vector<std::uint8_t> missing_left(n);
    std::vector<std::int32_t> slot(n);
    std::vector<std::uint32_t> words;
    std::vector<std::int32_t> left_class(n);
    std::vector<std::int32_t> right_class(n);
    std::vector<double> error(n);
    std::vector<double> alpha(n);
    for (std::size_t t = 0; t < n; ++t) {
        const tree::Stump& stump = stumps[t];
        feature[t] = stump.feature;
        threshold[t] = stump.threshold;
        missing_left[t] = stump.missing_left ? 1 : 0;
        slot[t] = stump.words.empty() ? -1 : static_cast<std::int32_t>(words.size());
        words.insert(words.end(), stump.words.begin(), stump.words.end());
        left_class[t] = stump.side_class[0];
        right_class[t] = stump.side_class[1];
        error[t] = stump.error;
        alpha[t] = stump.alpha;
    }
    Arrays out;
    out["feature"] = owned(std::move(feature));
    out["threshold"] = owned(std::move(threshold));
    out["missing_left"] = owned(std::move(missing_left));
    out["slot"] = owned(std::move(slot));
    out["words"] = owned(std::move(words));
    out["left_class"] = owned(std::move(left_class));
    out["right_class"] = owned(std::move(right_class));
    out["error"] = owned(std::move(error));
    out["alpha"] = owned(std::move(alpha));
    return out;
}

template <class Code>
void bind_boost(nb::module_& m) {
    m.def(
        "boost_stumps",
        [](InMatrix<Code> codes, InVector<std::int32_t> n_bins, InVector<std::uint8_t> nominal,
           InVector<std::uint8_t> has_missing, InVector<std::int64_t> bin_start,
           InVector<double> lower, InVector<double> upper, InVector<std::int64_t> level_start,
           InVector<std::int32_t> level_bin, InVector<std::int32_t> labels, InVector<double> weight,
           std::size_t n_classes, std::size_t n_rounds, double learning_rate, int criterion,
           int n_threads) {
            const tree::BinnedView<Code> bins{codes.data(),      codes.shape(1), codes.shape(0),
                                              span(n_bins),      span(nominal),  span(has_missing),
                                              span(bin_start),   span(lower),    span(upper),
                                              span(level_start), span(level_bin)};
            check_bins(bins);
            require(n_classes >= 2, "n_classes must be at least 2");
            require(labels.shape(0) == bins.rows && weight.shape(0) == bins.rows,
                    "labels and weight need one entry per row");
            double sum = 0;
            for (std::size_t i = 0; i < bins.rows; ++i) {
                const std::int32_t label = labels.data()[i];
                require(label >= 0 && static_cast<std::size_t>(label) < n_classes,
                        "a label is outside 0 .. n_classes - 1");
                require(weight.data()[i] >= 0, "weight must not be negative");
                sum += weight.data()[i];
            }
            require(sum > 0 && std::isfinite(sum), "weight needs a positive finite sum");
            require(criterion >= 0 && criterion <= 2, "criterion must be 0, 1 or 2");
            require(n_threads >= 1, "n_threads must be at least 1");
            std::vector<tree::Stump> stumps;
            {
                nb::gil_scoped_release unlocked;
                stumps = boost(bins, span(labels), span(weight), criterion,
                               {n_classes, n_rounds, learning_rate, n_threads});
            }
            return columns(stumps);
        },
        "codes"_a.noconvert(), "n_bins"_a.noconvert(), "nominal"_a.noconvert(),
        "has_missing"_a.noconvert(), "bin_start"_a.noconvert(), "lower"_a.noconvert(),
        "upper"_a.noconvert(), "level_start"_a.noconvert(), "level_bin"_a.noconvert(),
        "labels"_a.noconvert(), "weight"_a.noconvert(), "n_classes"_a, "n_rounds"_a,
        "learning_rate"_a, "criterion"_a, "n_threads"_a = 1,
        "Boost decision stumps on a binned table; returns one array per attribute.");
}

}  // namespace

void bind_tree_adaboost(nb::module_& m) {
    bind_boost<std::uint8_t>(m);
    bind_boost<std::uint16_t>(m);
}

}  // namespace assay::bindings

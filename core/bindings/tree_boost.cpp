// Python border of assay::tree, part "boost": gradient boosting.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "assay/tree/boost_run.hpp"

namespace assay::bindings {
using namespace nb::literals;

namespace {

// A table for boosting. Keeps what it was made from alive, but for codes that it has a copy of.
struct HeldBoostTable {
    InVector<std::int32_t> n_bins;
    InVector<std::uint8_t> nominal, has_missing;
    InVector<std::int64_t> bin_start;
    InVector<double> lower, upper;
    InVector<std::int64_t> level_start;
    InVector<std::int32_t> level_bin;
    InMatrix<std::uint8_t> codes;
    std::unique_ptr<tree::BoostTable> table;
};

std::unique_ptr<HeldBoostTable> boost_table(
    InMatrix<std::uint8_t> codes, InVector<std::int32_t> n_bins, InVector<std::uint8_t> nominal,
    InVector<std::uint8_t> has_missing, InVector<std::int64_t> bin_start, InVector<double> lower,
    InVector<double> upper, InVector<std::int64_t> level_start, InVector<std::int32_t> level_bin,
    int n_threads) {
    const std::size_t d = codes.shape(0);
    const std::size_t n = codes.shape(1);
    require(n >= 1 && d >= 1, "codes is empty");
    require(n_bins.shape(0) == d && nominal.shape(0) == d && has_missing.shape(0) == d,
            "n_bins, nominal and has_missing need one entry per column");
    require(bin_start.shape(0) == d + 1 && level_start.shape(0) == d + 1,
            "bin_start and level_start need one entry per column and one more");
    for (std::size_t f = 0; f < d; ++f) {
        require(n_bins.data()[f] >= 0 && n_bins.data()[f] + (has_missing.data()[f] != 0) <= 256,
                "a column has more than 256 codes");
    }
    require(n_threads >= 1, "n_threads must be at least 1");

    tree::BinnedView<std::uint8_t> bins;
    bins.codes = codes.data();
    bins.rows = n;
    bins.cols = d;
    bins.n_bins = span(n_bins);
    bins.nominal = span(nominal);
    bins.has_missing = span(has_missing);
    bins.bin_start = span(bin_start);
    bins.lower = span(lower);
    bins.upper = span(upper);
    bins.level_start = span(level_start);
    bins.level_bin = span(level_bin);

    auto held = std::make_unique<HeldBoostTable>();
    {
        const nb::gil_scoped_release unlocked;
        held->table = std::make_unique<tree::BoostTable>(bins, n_threads);
    }
    held->n_bins = std::move(n_bins);
    held->nominal = std::move(nominal);
    held->has_missing = std::move(has_missing);
    held->bin_start = std::move(bin_start);
    held->lower = std::move(lower);
    held->upper = std::move(upper);
    held->level_start = std::move(level_start);
    held->level_bin = std::move(level_bin);
    if (!held->table->has_bundles()) {
        held->codes = std::move(codes);
    }
    return held;
}

Arrays boost(const HeldBoostTable& held, InVector<std::int32_t> n_levels, InVector<double> target,
             InVector<double> weight, InMatrix<double> watch_rows, InVector<double> watch_target,
             InVector<double> watch_weight, InVector<double> start, InVector<std::int8_t> monotone,
             int loss, double param, std::size_t n_rounds, double rate, std::size_t max_leaves,
             std::size_t max_depth, std::size_t min_samples_leaf, double l1, double l2,
             std::size_t n_rows, std::size_t n_cols, std::size_t patience, double tol,
             std::uint64_t seed, int n_threads, nb::object after_round) {
    const std::size_t d = held.table->bins().cols;
    const std::size_t n = held.table->rows();
    require(n_levels.shape(0) == d, "n_levels needs one entry per column");
    require(target.shape(0) == n, "target needs one entry per row");
    require(weight.shape(0) == 0 || weight.shape(0) == n, "weight needs one entry per row");
    require(watch_rows.shape(0) == 0 || watch_rows.shape(1) == d,
            "watch_rows and codes differ in n_features");
    require(watch_target.shape(0) == watch_rows.shape(0), "watch_target needs one entry per row");
    require(watch_weight.shape(0) == 0 || watch_weight.shape(0) == watch_rows.shape(0),
            "watch_weight needs one entry per row");
    require(monotone.shape(0) == 0 || monotone.shape(0) == d,
            "monotone needs one entry per column");
    require(start.shape(0) >= 1, "start needs one entry per output");
    require(loss >= 0 && loss <= static_cast<int>(tree::Loss::softmax), "no such loss");
    require(n_threads >= 1, "n_threads must be at least 1");
    require(min_samples_leaf >= 1, "min_samples_leaf must be at least 1");

    tree::BoostOptions options;
    options.loss = static_cast<tree::Loss>(loss);
    options.param = param;
    options.n_classes = start.shape(0);
    options.n_rounds = n_rounds;
    options.rate = rate;
    options.n_rows = n_rows;
    options.n_cols = n_cols;
    options.patience = patience;
    options.tol = tol;
    options.seed = seed;
    options.n_threads = n_threads;
    options.tree.max_leaves = max_leaves;
    options.tree.max_depth = max_depth;
    options.tree.min_samples_leaf = min_samples_leaf;
    options.tree.l1 = l1;
    options.tree.l2 = l2;
    options.tree.monotone = span(monotone);

    const bool told = !after_round.is_none();
    const auto tell = [&](std::size_t round, double train, double watch) {
        if (!told) {
            return true;
        }
        const nb::gil_scoped_acquire locked;
        return nb::cast<bool>(after_round(round, train, watch));
    };
    tree::BoostResult result;
    {
        const nb::gil_scoped_release unlocked;
        result = tree::BoostRun(*held.table, {span(target), span(weight)},
                                {view(watch_rows), {span(watch_target), span(watch_weight)}},
                                span(start), span(n_levels), options)
                     .run(tell);
    }
    Arrays out;
    out["tree_start"] = owned(std::move(result.nodes.start));
    out["node_left"] = owned(std::move(result.nodes.left));
    out["node_feature"] = owned(std::move(result.nodes.feature));
    out["node_threshold"] = owned(std::move(result.nodes.threshold));
    out["node_missing_left"] = owned(std::move(result.nodes.missing_left));
    out["node_slot"] = owned(std::move(result.nodes.slot));
    out["level_words"] = owned(std::move(result.nodes.words));
    out["leaf_value"] = owned(std::move(result.nodes.value));
    out["train_loss"] = owned(std::move(result.train_loss));
    out["watch_loss"] = owned(std::move(result.watch_loss));
    out["gain"] = owned(std::move(result.gain));
    out["overflow"] = result.overflow;
    return out;
}

}  // namespace

void bind_tree_boost(nb::module_& m) {
    nb::class_<HeldBoostTable>(m, "BoostTable", "Binned rows as boosting wants them.");
    m.def("boost_table", &boost_table, "codes"_a.noconvert(), "n_bins"_a.noconvert(),
          "nominal"_a.noconvert(), "has_missing"_a.noconvert(), "bin_start"_a.noconvert(),
          "lower"_a.noconvert(), "upper"_a.noconvert(), "level_start"_a.noconvert(),
          "level_bin"_a.noconvert(), "n_threads"_a, "Arrange binned rows for `boost`.");
    m.def("boost", &boost, "table"_a, "n_levels"_a.noconvert(), "target"_a.noconvert(),
          "weight"_a.noconvert(), "watch_rows"_a.noconvert(), "watch_target"_a.noconvert(),
          "watch_weight"_a.noconvert(), "start"_a.noconvert(), "monotone"_a.noconvert(), "loss"_a,
          "param"_a, "n_rounds"_a, "rate"_a, "max_leaves"_a, "max_depth"_a, "min_samples_leaf"_a,
          "l1"_a, "l2"_a, "n_rows"_a, "n_cols"_a, "patience"_a, "tol"_a, "seed"_a, "n_threads"_a,
          "after_round"_a.none(),
          "Grow boosted trees on binned rows; return their arrays, losses and gains.");
}

}  // namespace assay::bindings

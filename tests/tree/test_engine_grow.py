"""The grower against brute force and scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from assay.base import ParameterError
from assay.tree.engine import Bins, Grown, GrowOptions, bootstrap_counts, grow

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

CLASSES = GrowOptions(task="classification", n_classes=2)
REAL = GrowOptions(task="regression")


def impurity(y: NDArray[Any], w: Floats, options: GrowOptions) -> float:
    """The definition."""
    if options.task == "regression":
        if options.criterion == "absolute_error":
            order = np.argsort(y, kind="stable")
            total = np.cumsum(w[order])
            at = np.searchsorted(total, total[-1] / 2)
            median = y[order][at]
            if total[at] == total[-1] / 2:
                median = (median + y[order][at + 1]) / 2
            return float(w @ np.abs(y - median) / w.sum())
        mean = w @ y / w.sum()
        if options.criterion == "poisson":
            terms = np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / max(mean, 1e-300)), 0)
            return float(w @ terms / w.sum())
        return float(w @ (y - mean) ** 2 / w.sum())
    share = np.bincount(y, w, minlength=options.n_classes) / w.sum()
    if options.criterion in ("entropy", "log_loss"):
        return float(-sum(p * np.log2(p) for p in share if p > 0))
    if options.criterion == "error":
        return float(1 - share.max())
    return float(1 - (share**2).sum())


def candidates(x: Floats, n_levels: int) -> list[Bools]:
    """Every way to part the rows of a node by one column."""
    missing = np.isnan(x)
    present = np.unique(x[~missing])
    ways: list[Bools] = []
    if n_levels:
        groups = [x == level for level in present] + ([missing] if missing.any() else [])
        for size in range(1, len(groups)):
            ways += [
                np.any([groups[i] for i in chosen], axis=0)
                for chosen in combinations(range(len(groups)), size)
            ]
        return ways
    for low in present[:-1]:
        ways += [x <= low, (x <= low) | missing] if missing.any() else [x <= low]
    if missing.any() and len(present):
        ways.append(~missing)
    return ways


def goes_left(grown: Grown, i: int, x: Floats) -> Bools:
    nodes = grown.nodes
    missing_left = bool(nodes.node_missing_left[i])
    word = nodes.node_slot[i]
    if word < 0:
        return np.where(np.isnan(x), missing_left, x <= nodes.node_threshold[i])
    level = np.nan_to_num(x).astype(int)
    bit = nodes.level_words[word + level // 32] >> (level % 32) & 1
    return np.where(np.isnan(x), missing_left, bit == 1)


def check_optimal(
    X: Floats, n_levels: NDArray[np.int32], y: NDArray[Any], w: Floats, options: GrowOptions
) -> Grown:
    """Every split of the tree has the largest gain there is; every leaf has a reason."""
    grown = grow(Bins.build(X, 65535, n_levels), y, w, replace(options, with_stats=True), 0)
    assert grown.impurity is not None
    assert grown.n_samples is not None
    assert grown.weight is not None
    nodes = grown.nodes
    todo = [(0, np.flatnonzero(w > 0), 0)]
    while todo:
        i, rows, depth = todo.pop()
        here = impurity(y[rows], w[rows], options)
        assert grown.n_samples[i] == len(rows)
        assert grown.weight[i] == pytest.approx(w[rows].sum())
        assert grown.impurity[i] == pytest.approx(here, abs=1e-12)
        best = -np.inf
        for f in range(X.shape[1]):
            for left in candidates(X[rows, f], n_levels[f]):
                if min(left.sum(), (~left).sum()) < options.min_samples_leaf:
                    continue
                if options.criterion == "poisson" and not (
                    y[rows[left]].sum() > 0 and y[rows[~left]].sum() > 0
                ):
                    continue
                best = max(best, _gain(y, w, rows, left, here, options))
        if nodes.node_left[i] == 0:
            assert nodes.node_slot[i] == i
            stopped = depth == options.max_depth or len(rows) < options.min_samples_split
            assert stopped or here <= 1e-12 or best == -np.inf
            continue
        left = goes_left(grown, i, X[rows, nodes.node_feature[i]])
        gain = _gain(y, w, rows, left, here, options)
        assert gain == pytest.approx(best, abs=1e-9)
        child = nodes.node_left[i]
        todo += [(child, rows[left], depth + 1), (child + 1, rows[~left], depth + 1)]
    return grown


def _gain(
    y: NDArray[Any], w: Floats, rows: NDArray[np.int64], left: Bools, here: float, o: GrowOptions
) -> float:
    a, b = rows[left], rows[~left]
    share = w[a].sum() / w[rows].sum()
    parts = share * impurity(y[a], w[a], o) + (1 - share) * impurity(y[b], w[b], o)
    return float(here - parts)


def same(a: Grown, b: Grown) -> bool:
    fields = a.nodes.__dataclass_fields__
    return all(
        np.array_equal(getattr(a.nodes, name), getattr(b.nodes, name)) for name in fields
    ) and np.array_equal(a.importance, b.importance)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Floats, NDArray[np.int32], np.random.Generator]:
    """Small tables with numeric and nominal columns, ties and missing values."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    n_levels = np.where(rng.random(d) < 0.5, rng.integers(2, 6, d), 0).astype(np.int32)
    X = np.round(rng.normal(size=(n, d)), draw(st.sampled_from([0, 1, 6])))
    for f in np.flatnonzero(n_levels):
        X[:, f] = rng.integers(0, n_levels[f], n)
    X[rng.random((n, d)) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    return X, n_levels, rng


# --- oracle ---


@given(tables(), st.sampled_from(["gini", "entropy", "error"]), st.integers(2, 4), st.booleans())
def test_grow_classification_equals_brute_force(
    table: Any, criterion: str, n_classes: int, weighted: bool
) -> None:
    X, n_levels, rng = table
    y = rng.integers(0, n_classes, len(X))
    w = rng.random(len(X)) + 0.1 if weighted else np.ones(len(X))
    options = replace(CLASSES, n_classes=n_classes, criterion=criterion, max_depth=4)
    check_optimal(X, n_levels, y, w, options)


@given(tables(), st.sampled_from(["squared_error", "friedman_mse", "poisson"]), st.booleans())
def test_grow_regression_equals_brute_force(table: Any, criterion: str, weighted: bool) -> None:
    X, n_levels, rng = table
    y = np.round(np.abs(rng.normal(size=len(X))) * 3, 1)
    w = rng.random(len(X)) + 0.1 if weighted else np.ones(len(X))
    check_optimal(X, n_levels, y, w, replace(REAL, criterion=criterion, max_depth=4))


@given(tables(), st.booleans())
def test_grow_absolute_error_equals_brute_force(table: Any, weighted: bool) -> None:
    X, n_levels, rng = table
    X = np.ascontiguousarray(X[:, n_levels == 0])  # levels: a heuristic
    n_levels = n_levels[n_levels == 0]
    if X.shape[1]:
        y = np.round(rng.normal(size=len(X)), 1)
        w = rng.random(len(X)) + 0.1 if weighted else np.ones(len(X))
        check_optimal(X, n_levels, y, w, replace(REAL, criterion="absolute_error", max_depth=4))


@given(tables(), st.integers(2, 5), st.booleans())
def test_grow_keeps_min_samples_leaf(table: Any, least: int, weighted: bool) -> None:
    X, n_levels, rng = table
    y = rng.integers(0, 2, len(X))
    w = rng.integers(0, 3, len(X)).astype(float) if weighted else np.ones(len(X))
    w[0] = 1
    options = replace(CLASSES, min_samples_leaf=least, min_samples_split=2 * least)
    grown = check_optimal(X, n_levels, y, w, options)
    assert grown.n_samples is not None
    assert grown.n_samples[grown.nodes.node_left == 0].min() >= min(least, (w > 0).sum())


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("max_bins", [255, 65535])
def test_grow_makes_the_classifier_of_scikit_learn(
    n_classes: int, criterion: str, max_bins: int
) -> None:
    # Distinct real weights and no small leaves: no two columns part a node in the same way.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 200, (2000, 5)).astype(float)
    y = (np.sin(X).sum(axis=1) * 10 + rng.normal(size=2000)).astype(int) % n_classes
    w = rng.random(2000) + 0.5
    limit: dict[str, Any] = {"criterion": criterion, "max_depth": 7, "min_samples_leaf": 20}
    theirs = DecisionTreeClassifier(random_state=0, **limit).fit(X, y, sample_weight=w)
    options = replace(CLASSES, n_classes=n_classes, **limit)
    ours = grow(Bins.build(X, max_bins), y, w, options, 0)
    np.testing.assert_allclose(ours.nodes.predict(X, 1), theirs.predict_proba(X), atol=1e-12)
    total = ours.importance[0] / ours.importance[0].sum()
    np.testing.assert_allclose(total, theirs.feature_importances_, atol=1e-9)


@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "absolute_error"])
@pytest.mark.parametrize("max_bins", [255, 65535])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_grow_makes_the_regressor_of_scikit_learn(
    criterion: str, max_bins: int, n_outputs: int
) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 250, (1500, 4)).astype(float)
    y = np.abs(X[:, :n_outputs] * 0.1 + rng.normal(size=(1500, n_outputs)) * 5)
    w = rng.random(1500) + 0.5
    theirs = DecisionTreeRegressor(
        criterion=criterion, max_depth=6, min_samples_leaf=3, random_state=0
    )
    theirs.fit(X, y, sample_weight=w)
    options = replace(REAL, criterion=criterion, max_depth=6, min_samples_leaf=3)
    ours = grow(Bins.build(X, max_bins), y, w, options, 0)
    np.testing.assert_allclose(
        ours.nodes.predict(X, 1), theirs.predict(X).reshape(1500, -1), atol=1e-10
    )


@pytest.mark.parametrize("max_leaf_nodes", [2, 7, 30])
def test_grow_best_first_makes_the_tree_of_scikit_learn(max_leaf_nodes: int) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(600, 4))
    y = X[:, 0] * X[:, 1] + rng.normal(size=600)
    theirs = DecisionTreeRegressor(max_leaf_nodes=max_leaf_nodes, random_state=0).fit(X, y)
    ours = grow(Bins.build(X, 65535), y, None, replace(REAL, max_leaf_nodes=max_leaf_nodes), 0)
    assert (ours.nodes.node_left == 0).sum() == max_leaf_nodes
    np.testing.assert_allclose(ours.nodes.predict(X, 1)[:, 0], theirs.predict(X), atol=1e-10)


@pytest.mark.parametrize(
    "limit",
    [
        {"min_impurity_decrease": 0.005},
        {"min_weight_fraction_leaf": 0.03},
        {"min_samples_split": 50},
        {"min_samples_leaf": 20},
    ],
)
def test_grow_stops_where_scikit_learn_stops(limit: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(800, 3))
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=800)
    w = rng.random(800) + 0.2
    theirs = DecisionTreeRegressor(random_state=0, **limit).fit(X, y, sample_weight=w)
    ours = grow(Bins.build(X, 65535), y, w, replace(REAL, **limit), 0)
    assert len(ours.nodes.node_left) == theirs.tree_.node_count
    np.testing.assert_allclose(ours.nodes.predict(X, 1)[:, 0], theirs.predict(X), atol=1e-10)


@pytest.mark.parametrize("best_first", [False, True])
def test_grow_monotone_regression_equals_scikit_learn(best_first: bool) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 3))
    y = X[:, 0] - X[:, 1] + rng.normal(size=500)
    signs = np.array([1, -1, 0], dtype=np.int8)
    limit: dict[str, Any] = {"max_leaf_nodes": 20} if best_first else {"max_depth": 6}
    theirs = DecisionTreeRegressor(monotonic_cst=signs, random_state=0, **limit).fit(X, y)
    ours = grow(Bins.build(X, 65535), y, None, replace(REAL, monotonic_cst=signs, **limit), 0)
    np.testing.assert_allclose(ours.nodes.predict(X, 1)[:, 0], theirs.predict(X), atol=1e-10)


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_grow_monotone_answers_are_monotone(splitter: str, task: Any) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + rng.normal(size=400)
    target = (y > 0).astype(int) if task == "classification" else y
    options = GrowOptions(
        task=task,
        n_classes=2,
        splitter=splitter,
        monotonic_cst=np.array([1, 0], dtype=np.int8),
    )
    grown = grow(Bins.build(X), target, None, options, 0)
    steps = np.linspace(-3, 3, 200)
    for other in rng.normal(size=20):
        line = np.column_stack([steps, np.full(200, other)])
        assert (np.diff(grown.nodes.predict(line, 1)[:, -1]) >= 0).all()


def test_grow_importance_is_the_summed_decrease() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 3))
    y = rng.integers(0, 3, 300)
    grown = grow(Bins.build(X), y, None, replace(CLASSES, n_classes=3, with_stats=True), 0)
    assert grown.impurity is not None
    assert grown.weight is not None
    expected = np.zeros(3)
    for i, left in enumerate(grown.nodes.node_left):
        if left:
            part = grown.weight * grown.impurity / grown.weight[0]
            expected[grown.nodes.node_feature[i]] += part[i] - part[left] - part[left + 1]
    np.testing.assert_allclose(grown.importance[0], expected, atol=1e-12)


def test_bootstrap_counts_are_the_sample_of_the_tree() -> None:
    rng = np.random.default_rng(7)
    # One column: in a forest ties between columns are broken at random, in a tree they are not.
    X, y = rng.normal(size=(400, 1)), rng.integers(0, 3, 400)
    bins = Bins.build(X)
    forest = grow(bins, y, None, replace(CLASSES, n_classes=3, n_trees=3, bootstrap=250), 11)
    for tree in range(3):
        counts = bootstrap_counts(11, tree, 400, 250)
        assert counts.sum() == 250
        alone = grow(bins, y, counts.astype(float), replace(CLASSES, n_classes=3), 11)
        start, stop = forest.nodes.tree_start[tree : tree + 2]
        np.testing.assert_array_equal(forest.nodes.node_left[start:stop], alone.nodes.node_left)
        np.testing.assert_array_equal(
            forest.nodes.node_threshold[start:stop], alone.nodes.node_threshold
        )


def test_bootstrap_counts_leave_out_one_in_e_rows() -> None:
    share = np.mean([(bootstrap_counts(0, t, 10000) == 0).mean() for t in range(20)])
    assert share == pytest.approx(np.exp(-1), abs=0.005)


def test_random_cuts_are_uniform_between_the_extremes() -> None:
    x = np.concatenate([[0.0, 10.0], np.linspace(4, 6, 50)])[:, None]
    y = np.arange(52.0)
    options = replace(REAL, splitter="random", n_trees=4000, max_depth=1)
    cuts = grow(Bins.build(x), y, None, options, 0).nodes.node_threshold[::3]
    counts, _ = np.histogram(cuts, 10, (0, 10))
    assert ((counts - 400) ** 2 / 400).sum() < 40


# --- invariance ---


@given(tables(), st.booleans(), st.sampled_from(["best", "random"]), st.booleans())
def test_grow_takes_weights_for_duplicated_rows(
    table: Any, real: bool, splitter: str, draw_features: bool
) -> None:
    X, n_levels, rng = table
    # Sums of small integers are exact, so equal gains are equal numbers.
    y = rng.integers(0, 3, len(X))
    options = replace(REAL if real else replace(CLASSES, n_classes=3), splitter=splitter)
    if draw_features:
        options = replace(options, max_features=1)
    counts = rng.integers(0, 4, len(X))
    counts[0] = 1
    rows = np.repeat(np.arange(len(X)), counts)
    bins = Bins.build(X[rows], 255, n_levels)
    target = y.astype(float) if real else y
    copies = grow(bins, target[rows], None, options, 5)
    kept = np.flatnonzero(counts)
    small = Bins.build(X[kept], 255, n_levels)
    weighted = grow(small, target[kept], counts[kept].astype(float), options, 5)
    np.testing.assert_allclose(copies.nodes.predict(X, 1), weighted.nodes.predict(X, 1), atol=1e-12)


@given(tables(), st.sampled_from(["best", "random"]), st.integers(1, 4))
def test_grow_cut_at_a_depth_is_the_tree_of_that_depth(
    table: Any, splitter: str, depth: int
) -> None:
    X, n_levels, rng = table
    y = rng.integers(0, 2, len(X))
    options = replace(CLASSES, splitter=splitter, max_features=1, with_stats=True)
    bins = Bins.build(X, 255, n_levels)
    full = grow(bins, y, None, options, 3)
    short = grow(bins, y, None, replace(options, max_depth=depth), 3)
    pairs = [(0, 0)]
    while pairs:
        a, b = pairs.pop()
        np.testing.assert_array_equal(full.nodes.leaf_value[a], short.nodes.leaf_value[b])
        if short.nodes.node_left[b]:
            assert full.nodes.node_feature[a] == short.nodes.node_feature[b]
            assert full.nodes.node_threshold[a] == short.nodes.node_threshold[b]
            left, right = full.nodes.node_left[a], short.nodes.node_left[b]
            pairs += [(left, right), (left + 1, right + 1)]


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_grow_is_independent_of_threads_and_batches(splitter: str, n_classes: int) -> None:
    rng = np.random.default_rng(8)
    X = np.round(rng.normal(size=(3000, 6)), 2)
    y = rng.integers(0, n_classes, 3000) if n_classes else rng.normal(size=3000)
    options = GrowOptions(
        task="classification" if n_classes else "regression",
        n_classes=n_classes,
        splitter=splitter,
        max_features=2,
        n_trees=6,
        bootstrap=3000,
    )
    bins = Bins.build(X)
    one = grow(bins, y, None, options, 2**63 + 5, 1)
    assert same(one, grow(bins, y, None, options, 2**63 + 5, 2))
    assert same(one, grow(bins, y, None, options, 2**63 + 5, 5))
    later = grow(bins, y, None, replace(options, n_trees=2, first_tree=4), 2**63 + 5, 2)
    start = one.nodes.tree_start[4]
    np.testing.assert_array_equal(one.nodes.node_threshold[start:], later.nodes.node_threshold)
    np.testing.assert_array_equal(one.nodes.node_left[start:], later.nodes.node_left)


@pytest.mark.parametrize("max_bins", [255, 65535])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_grow_one_big_tree_is_independent_of_threads(max_bins: int, n_classes: int) -> None:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(20000, 4))
    y: NDArray[Any] = X[:, 0] * X[:, 1] + rng.normal(size=20000)
    if n_classes:
        y = np.digitize(y, np.linspace(-1, 1, n_classes - 1))
    options = GrowOptions(
        task="classification" if n_classes else "regression", n_classes=n_classes, max_depth=12
    )
    bins = Bins.build(X, max_bins)
    assert same(grow(bins, y, None, options, 0, 1), grow(bins, y, None, options, 0, 2))


def test_grow_ignores_rows_of_weight_zero() -> None:
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    w = rng.integers(0, 2, 300).astype(float)
    kept = w > 0
    all_rows = grow(Bins.build(X, weight=w), y, w, CLASSES, 0)
    only = grow(Bins.build(X[kept]), y[kept], None, CLASSES, 0)
    np.testing.assert_array_equal(all_rows.nodes.predict(X, 1), only.nodes.predict(X, 1))


def test_grow_scaled_weights_make_the_same_tree() -> None:
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    w = rng.integers(1, 4, 300).astype(float)
    a = grow(Bins.build(X), y, w, CLASSES, 0)  # integers
    b = grow(Bins.build(X), y, w / 8, CLASSES, 0)  # real numbers, still exact
    assert same(a, b)


# --- edges ---


def test_grow_splits_xor_although_no_split_gains() -> None:
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    y = np.array([0, 1, 1, 0])
    grown = grow(Bins.build(X), y, None, CLASSES, 0)
    np.testing.assert_array_equal(grown.nodes.predict(X, 1).argmax(axis=1), y)


@pytest.mark.parametrize("n_classes", [0, 1, 2, 3])
def test_grow_one_row_is_one_leaf(n_classes: int) -> None:
    options = GrowOptions(task="classification" if n_classes else "regression", n_classes=n_classes)
    grown = grow(Bins.build(np.array([[1.0]])), np.array([0]), None, options, 0)
    assert grown.nodes.node_left.tolist() == [0]


def test_grow_constant_columns_and_equal_targets_are_one_leaf() -> None:
    X = np.ones((20, 3))
    y = np.arange(20) % 2
    for splitter in ("best", "random"):
        options = replace(CLASSES, splitter=splitter, max_features=2)
        assert len(grow(Bins.build(X), y, None, options, 0).nodes.node_left) == 1
    X = np.arange(20.0)[:, None]
    assert len(grow(Bins.build(X), np.full(20, 0.1), None, REAL, 0).nodes.node_left) == 1


def test_grow_draws_until_a_column_is_not_constant() -> None:
    X = np.ones((50, 30))
    X[:, 17] = np.arange(50)
    y = (np.arange(50) > 24).astype(int)
    grown = grow(Bins.build(X), y, None, replace(CLASSES, max_features=1), 0)
    assert grown.nodes.node_feature.tolist() == [17, -1, -1]


def test_grow_parts_missing_from_present() -> None:
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    y = np.array([0, 0, 1, 1])
    grown = grow(Bins.build(X), y, None, CLASSES, 0)
    np.testing.assert_array_equal(grown.nodes.predict(X, 1).argmax(axis=1), y)
    assert len(grown.nodes.node_left) == 3
    assert np.isfinite(grown.nodes.node_threshold).all()


def test_grow_sends_unseen_values_to_the_heavier_side() -> None:
    X = np.array([[0.0], [0.0], [0.0], [1.0]])
    y = np.array([0, 0, 0, 1])
    grown = grow(Bins.build(X), y, None, CLASSES, 0)
    assert grown.nodes.node_missing_left[0] == 1
    levels = np.array([3], dtype=np.int32)
    nominal = grow(Bins.build(X, 255, levels), y, None, CLASSES, 0)
    other = nominal.nodes.predict(np.array([[2.0], [np.nan], [9.0]]), 1)
    assert (other.argmax(axis=1) == 0).all()


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_grow_many_levels_of_a_nominal_column(n_classes: int) -> None:
    rng = np.random.default_rng(12)
    X = rng.integers(0, 300, (3000, 1)).astype(float)
    answer = rng.integers(0, max(n_classes, 3), 300)
    y = answer[X[:, 0].astype(int)]
    options = GrowOptions(
        task="classification" if n_classes else "regression", n_classes=max(n_classes, 3)
    )
    bins = Bins.build(X, 1000, np.array([300], dtype=np.int32))
    grown = grow(bins, y, None, options, 0)
    predicted = grown.nodes.predict(X, 1)
    np.testing.assert_array_equal(predicted[:, 0] if n_classes == 0 else predicted.argmax(1), y)


@pytest.mark.parametrize("seed", range(5))
def test_grow_sums_sides_of_nominal_and_numeric_columns_alike(seed: int) -> None:
    # A nominal split after a numeric candidate once took over the sums of the latter.
    rng = np.random.default_rng(seed)
    levels, values = rng.integers(0, 4, 200), rng.normal(size=200)  # lossless in 255 bins
    y = (np.isin(levels, [0, 3]) ^ (values > 1)).astype(int)
    X = np.column_stack([levels.astype(float), values])
    bins = Bins.build(X, 255, np.array([4, 0], dtype=np.int32))
    for max_features in (1, 2):
        grown = grow(bins, y, None, replace(CLASSES, max_features=max_features), seed)
        np.testing.assert_array_equal(grown.nodes.leaf_value, np.eye(2))
        np.testing.assert_array_equal(grown.nodes.predict(X, 1).argmax(axis=1), y)


def test_grow_pure_leaves_share_rows() -> None:
    rng = np.random.default_rng(13)
    X, y = rng.normal(size=(500, 2)), rng.integers(0, 3, 500)
    grown = grow(Bins.build(X), y, None, replace(CLASSES, n_classes=3, n_trees=5), 0)
    np.testing.assert_array_equal(grown.nodes.leaf_value, np.eye(3))


def test_grow_large_and_tiny_weights_are_summed() -> None:
    X = np.arange(6.0)[:, None]
    y = np.array([0, 0, 0, 1, 1, 1])
    for scale in (1e12, 1e-12, 100000.0):
        grown = grow(Bins.build(X), y, np.full(6, scale), CLASSES, 0)
        assert grown.nodes.node_threshold[0] == 2.5


# --- errors ---


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"task": "ranking"}, "task must be 'classification' or 'regression'; got 'ranking'"),
        ({"criterion": "poisson"}, "criterion must be"),
        ({"splitter": "worst"}, "splitter must be 'best' or 'random'"),
        ({"max_depth": 0}, "max_depth must be"),
        ({"min_samples_split": 1}, "min_samples_split must be"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be"),
        ({"min_weight_fraction_leaf": 0.6}, "min_weight_fraction_leaf must be"),
        ({"max_features": 4}, "max_features must be"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be"),
        ({"min_impurity_decrease": -1.0}, "min_impurity_decrease must be"),
        ({"monotonic_cst": np.array([1, 1])}, "monotonic_cst must hold -1, 0 or 1 for each of 3"),
        ({"monotonic_cst": np.array([1, 2, 0])}, "monotonic_cst must hold -1, 0 or 1"),
        (
            {"monotonic_cst": np.array([0, 0, -1])},
            "monotonic_cst must be 0 for nominal columns, which have no order; column 2 got -1",
        ),
        (
            {"monotonic_cst": np.array([1, 0, 0]), "n_classes": 3},
            "monotonic_cst needs two classes or a regression; got 3 classes",
        ),
    ],
)
def test_grow_rejects(wrong: dict[str, Any], message: str) -> None:
    bins = Bins.build(np.zeros((4, 3)), 255, np.array([0, 0, 1], dtype=np.int32))
    with pytest.raises(ParameterError) as caught:
        grow(bins, np.array([0, 1, 0, 1]), None, replace(CLASSES, **wrong), 0)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("target", "weight", "message"),
    [
        ([0, 1], None, "labels needs one entry per row"),
        ([0, 1, 2], None, "labels must be between 0 and n_classes - 1"),
        ([0, 1, 1], [1.0, 1.0], "weight needs one number per row"),
        ([0, 1, 1], [1.0, -1.0, 1.0], "weight must be finite and not negative"),
        ([0, 1, 1], [1.0, np.inf, 1.0], "weight must be finite and not negative"),
        ([0, 1, 1], [0.0, 0.0, 0.0], "weight has no positive number"),
    ],
)
def test_grow_border_rejects(target: Any, weight: Any, message: str) -> None:
    weights = None if weight is None else np.array(weight)
    with pytest.raises(ValueError, match=message):
        grow(Bins.build(np.zeros((3, 1))), np.array(target), weights, CLASSES, 0)


def test_grow_border_rejects_codes_out_of_range() -> None:
    bins = Bins.build(np.arange(4.0)[:, None])
    bins.codes[0, 0] = 9
    with pytest.raises(ValueError, match="a code is above n_bins"):
        grow(bins, np.array([0, 1, 0, 1]), None, CLASSES, 0)

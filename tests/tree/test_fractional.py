"""Missing values that divide a row: AIMA and C4.5, against a tree grown in plain Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, load_iris

from assay.base import ParameterError
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor

Floats = NDArray[np.float64]


def classifier(**params: Any) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(missing="fractional", **params)


# Oracle: the definition, row by row.


@dataclass
class Leaf:
    shares: Floats


@dataclass
class Node:
    column: int
    goes_left: Any
    share: float
    left: Any
    right: Any


def gini(weights: Floats) -> float:
    total = weights.sum()
    return float(1 - ((weights / total) ** 2).sum()) if total > 0 else 0.0


def by_class(y: NDArray[Any], w: Floats, k: int) -> Floats:
    return np.bincount(y, w, k).astype(np.float64)


def candidates(values: Floats, nominal: bool) -> list[Any]:
    """Tests of one column, each a set of values that go left."""
    seen = np.unique(values)
    if not nominal:
        return [seen[: k + 1] for k in range(len(seen) - 1)]
    first, *rest = seen
    return [
        np.array([first, *[v for k, v in enumerate(rest) if mask >> k & 1]])
        for mask in range(2 ** len(rest) - 1)
    ]


def defined(
    X: Floats, y: NDArray[Any], w: Floats, k: int, nominal: set[int], depth: int
) -> Leaf | Node:
    """Grow by the definition; fractions are the weights, so all sample weights are 1."""
    counts = by_class(y, w, k)
    best, chosen = -1.0, None
    if depth > 0 and w.sum() >= 2 - 1e-9 and gini(counts) > 1e-12:
        for j in range(X.shape[1]):
            known = ~np.isnan(X[:, j])
            for inside in candidates(X[known, j], j in nominal) if known.any() else []:
                left = np.isin(X[:, j], inside)
                right = known & ~left
                share = w[left].sum() / w[known].sum()
                lost = w[~known].sum()
                if (
                    min(w[left].sum() + lost * share, w[right].sum() + lost * (1 - share))
                    < 1 - 1e-9
                ):
                    continue
                rest = share * gini(by_class(y[left], w[left], k))
                rest += (1 - share) * gini(by_class(y[right], w[right], k))
                gain = w[known].sum() / w.sum() * (gini(by_class(y[known], w[known], k)) - rest)
                if gain > best + 1e-10:
                    best, chosen = gain, (j, inside, share)
    if chosen is None:
        return Leaf(counts / counts.sum())
    j, inside, share = chosen
    known, left = ~np.isnan(X[:, j]), np.isin(X[:, j], inside)
    sides = []
    for mine, part in ((left, share), (known & ~left, 1 - share)):
        rows = mine | ~known
        weight = np.where(known, w, w * part)[rows]
        sides.append(defined(X[rows], y[rows], weight, k, nominal, depth - 1))
    largest = float(np.max(inside))
    test = (lambda v: np.isin(v, inside)) if j in nominal else (lambda v: v <= largest + 0.5)
    return Node(j, test, share, *sides)


def asked(tree: Leaf | Node, row: Floats) -> Floats:
    if isinstance(tree, Leaf):
        return tree.shares
    value = row[tree.column]
    if np.isnan(value):
        both = tree.share * asked(tree.left, row) + (1 - tree.share) * asked(tree.right, row)
        return np.asarray(both)
    return asked(tree.left if tree.goes_left(value) else tree.right, row)


@given(
    seed=st.integers(0, 2**31),
    share=st.sampled_from([0.0, 0.15, 0.4]),
    depth=st.integers(1, 4),
    n_classes=st.integers(2, 3),
)
def test_tree_is_the_one_of_the_definition(
    seed: int, share: float, depth: int, n_classes: int
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(24, 3)).astype(float)
    X[rng.random(X.shape) < share] = np.nan
    y = rng.integers(0, n_classes, size=24)
    y[:n_classes] = np.arange(n_classes)
    # With two classes the kernel looks at fewer bipartitions: among equally good ones it may take
    # another. The next test is for them.
    nominal = {2} if n_classes > 2 else set()
    model = classifier(categorical_features=[*nominal], max_depth=depth).fit(X, y)
    tree = defined(X, y, np.ones(24), n_classes, nominal, depth)
    expected = [asked(tree, row) for row in X]
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)


@given(seed=st.integers(0, 2**31), n_classes=st.integers(2, 3))
def test_nominal_stump_is_the_best_of_all_bipartitions(seed: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(30, 1)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(0, n_classes, size=30)
    y[:n_classes] = np.arange(n_classes)
    model = classifier(categorical_features=[0], max_depth=1).fit(X, y)
    known = ~np.isnan(X[:, 0])
    codes, target = X[known, 0], y[known]

    def rest(left: NDArray[np.bool_]) -> float:
        parts = (by_class(target[part], np.ones(part.sum()), n_classes) for part in (left, ~left))
        return sum(float(part.sum()) * gini(part) for part in parts)

    best = min(rest(np.isin(codes, inside)) for inside in candidates(codes, True))
    # Levels are numbered by their rank: those that occur, in order.
    level = np.searchsorted(np.unique(codes), codes)
    assert rest(model.tree_.level_mask(0)[level]) == pytest.approx(best)


def test_shares_by_hand() -> None:
    # Three rows left of the cut, one right, one unknown: it goes 3/4 left and 1/4 right.
    X = np.array([[0.0], [0.0], [0.0], [2.0], [np.nan]])
    model = classifier().fit(X, ["n", "n", "n", "y", "y"])
    tree = model.tree_
    np.testing.assert_allclose(tree.weighted_n_node_samples, [5, 3.75, 1.25])
    assert tree.n_node_samples.tolist() == [5, 4, 2]
    shares = model.predict_proba([[0.0], [2.0], [np.nan]])[:, 1]
    np.testing.assert_allclose(shares, [0.2, 1.0, 0.75 * 0.2 + 0.25 * 1.0])


def test_gain_counts_known_rows_only() -> None:
    # The first column is perfect on the half that is known, the second good on all rows.
    y = np.repeat([0, 1], 20)
    first = np.where(np.arange(40) % 20 < 4, y, np.nan).astype(float)
    second = y.copy().astype(float)
    second[[0, 1, 20, 21]] = 1 - second[[0, 1, 20, 21]]
    model = classifier(max_depth=1).fit(np.column_stack([first, second]), y)
    assert model.tree_.feature[0] == 1
    learned = DecisionTreeClassifier(max_depth=1).fit(np.column_stack([first, second]), y)
    assert learned.tree_.feature[0] == 1


# Invariance.


def test_without_missing_values_both_ways_are_one() -> None:
    X, y = load_iris(return_X_y=True)
    for criterion in ("gini", "entropy", "error"):
        a = DecisionTreeClassifier(criterion=criterion, max_depth=4).fit(X, y)
        b = classifier(criterion=criterion, max_depth=4).fit(X, y)
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-12)
        np.testing.assert_allclose(sorted(a.node_impurity_), sorted(b.node_impurity_), atol=1e-12)


def test_regression_without_missing_values_is_the_same_too() -> None:
    X, y = load_diabetes(return_X_y=True)
    Y = np.column_stack([y, y**2])
    for target in (y, Y):
        a = DecisionTreeRegressor(min_samples_leaf=9).fit(X, target)
        b = DecisionTreeRegressor(min_samples_leaf=9, missing="fractional").fit(X, target)
        np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-9)


@given(seed=st.integers(0, 2**31))
def test_weight_is_kept_on_the_way_down(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(60, 4)).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    y = rng.integers(0, 3, size=60)
    weight = rng.integers(1, 4, size=60).astype(float)
    model = classifier(categorical_features=[0], random_state=0).fit(X, y, weight)
    tree = model.tree_
    inner = np.flatnonzero(~tree.is_leaf)
    mass = tree.weighted_n_node_samples
    np.testing.assert_allclose(mass[inner], mass[tree.left[inner]] + mass[tree.left[inner] + 1])
    leaves = tree.is_leaf
    counts = (mass[:, None] * tree.answer)[leaves].sum(axis=0)
    np.testing.assert_allclose(counts, np.bincount(y, weight, 3))
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    one, two = (model.set_params(n_jobs=n).predict_proba(X) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@given(seed=st.integers(0, 2**31))
def test_order_of_the_rows_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(40, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(0, 2, size=40)
    order = rng.permutation(40)
    a = classifier(categorical_features=[1]).fit(X, y)
    b = classifier(categorical_features=[1]).fit(X[order], y[order])
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-9)


# Edges and errors.


def test_row_without_any_value_gets_the_shares_of_the_training_rows() -> None:
    X, y = load_iris(return_X_y=True)
    shares = classifier().fit(X, y).predict_proba(np.full((1, 4), np.nan))
    np.testing.assert_allclose(shares, [[1 / 3, 1 / 3, 1 / 3]])


def test_unseen_level_branches_like_a_missing_value() -> None:
    frame = pl.DataFrame({"c": ["a", "a", "a", "b"], "n": [1.0, 2.0, 3.0, 4.0]})
    model = classifier(max_depth=1, max_features=1, random_state=1).fit(frame, [0, 0, 0, 1])
    if model.tree_.feature[0] != 0:
        model = classifier(max_depth=1).fit(frame.select("c"), [0, 0, 0, 1])
        frame = frame.select("c")
    unseen = frame.with_columns(pl.lit("new").alias("c"))[:1]
    np.testing.assert_allclose(model.predict_proba(unseen), [[0.75, 0.25]])


def test_pruning_works_on_divided_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int) ^ (rng.random(200) < 0.15)
    X[rng.random(X.shape) < 0.1] = np.nan
    full = classifier().fit(X, y).get_n_leaves()
    for params in ({"prune": "chi2"}, {"prune": "pessimistic"}, {"ccp_alpha": 0.02}):
        pruned = classifier(**params).fit(X, y)
        assert 1 < pruned.get_n_leaves() < full
        assert pruned.tree_.feature[0] == 0


def test_model_survives_its_state() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    model = classifier().fit(X, y)
    restored = DecisionTreeClassifier.from_state(model.get_params(), model.state())
    np.testing.assert_array_equal(restored.predict_proba(X), model.predict_proba(X))
    assert (model.apply(X) < model.tree_.node_count).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_leaf_nodes": 5}, "missing='fractional' does not support max_leaf_nodes=5"),
        ({"monotonic_cst": [1]}, "missing='fractional' does not support monotonic_cst=[1]"),
        ({"prune": "reduced_error"}, "missing='fractional' does not support prune='reduced_error'"),
        ({"ccp_alpha": "cv"}, "missing='fractional' does not support ccp_alpha='cv'"),
    ],
)
def test_what_divided_rows_cannot_do_is_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        classifier(**params).fit([[0.0], [1.0]], [0, 1])
    assert str(caught.value) == message

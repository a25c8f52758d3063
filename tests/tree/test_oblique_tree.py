"""Oblique trees: boundaries they must find, equality with plain trees, and what always holds."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from assay.base import DataError, ParameterError, same
from assay.tree import ObliqueTreeClassifier, ObliqueTreeRegressor
from assay.tree._oblique_split import Split


def cloud(n: int, d: int, seed: int = 0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(n, d))


@given(seed=st.integers(0, 10_000), criterion=st.sampled_from(["gini", "entropy", "squared_error"]))
def test_best_cut_is_the_one_of_brute_force(seed: int, criterion: str) -> None:
    rng = np.random.default_rng(seed)
    x, weight = rng.integers(8, size=15).astype(float), rng.uniform(0.5, 2, size=15)
    classes = rng.integers(3, size=15)
    values = rng.normal(size=15)
    sums = (values if criterion == "squared_error" else np.eye(3)[classes].T).T
    sums = sums.reshape(15, -1) * weight[:, None]
    gain, cut = Split(criterion, 2).best_cuts(x[None], sums, weight, 0.0)

    def impurity(side: NDArray[np.bool_]) -> float:
        w = weight[side]
        if criterion == "squared_error":
            return float(np.sum(w * (values[side] - np.average(values[side], weights=w)) ** 2))
        p = np.bincount(classes[side], w) / w.sum()
        p = p[p > 0]
        one = 1 - np.sum(p**2) if criterion == "gini" else -np.sum(p * np.log2(p))
        return float(w.sum() * one)

    everything = np.ones(15, dtype=bool)
    best = -1.0
    for t in (np.unique(x)[1:] + np.unique(x)[:-1]) / 2:
        if min(np.sum(x <= t), np.sum(x > t)) >= 2:
            best = max(best, impurity(everything) - impurity(x <= t) - impurity(x > t))
    assert gain[0] == pytest.approx(best, abs=1e-9)
    if best > 0:
        here = impurity(everything) - impurity(x <= cut[0]) - impurity(x > cut[0])
        assert here == pytest.approx(best, abs=1e-9)


@given(seed=st.integers(0, 10_000))
def test_best_move_is_the_one_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, w, r = rng.normal(size=(12, 2)), rng.normal(size=2), float(rng.normal())
    sums, weight = np.eye(2)[rng.integers(2, size=12)], np.ones(12)
    split = Split("gini", 1)
    k, value, gain = split._best_move(z, w, r, sums, weight)

    def gain_at(j: int, coefficient: float) -> float:
        left = z @ np.where(np.arange(2) == j, coefficient, w) <= r
        if left.all() or not left.any():
            return -np.inf
        sides = [np.asarray(sums[side].sum(axis=0)) for side in (left, ~left, left | ~left)]
        merits = [float(split.merit(side, np.asarray(side.sum()))) for side in sides]
        return merits[0] + merits[1] - merits[2]

    best = -np.inf
    for j in (0, 1):
        passes = np.sort((r - z @ np.where(np.arange(2) == j, 0.0, w)) / z[:, j])
        best = max(best, *(gain_at(j, c) for c in (passes[1:] + passes[:-1]) / 2))
    assert gain == pytest.approx(best, abs=1e-9)
    assert gain_at(k, value) == pytest.approx(best, abs=1e-9)


def test_climb_improves_a_random_direction() -> None:
    z, w = cloud(300, 4), np.array([1.0, -1.0, 0.5, 2.0])
    sums, weight = np.eye(2)[(z @ w > 0).astype(int)], np.ones(300)
    split, rng = Split("gini", 1), np.random.default_rng(0)
    start = rng.normal(size=(5, 4))
    end = split.climb(z, start, sums, weight, rng)[5:]
    before, _ = split.best_cuts(start @ z.T, sums, weight, 0.0)
    after, _ = split.best_cuts(end @ z.T, sums, weight, 0.0)
    assert (after >= before - 1e-9).all()
    assert after.min() > 1.2 * before.max()


@pytest.mark.parametrize("d", [2, 5, 10])
def test_oblique_boundary_takes_one_split(d: int) -> None:
    X, w = cloud(600, d), cloud(1, d, seed=1)[0]
    y = X @ w > 0.3
    model = ObliqueTreeClassifier(random_state=0).fit(X[:400], y[:400])
    plain = DecisionTreeClassifier(random_state=0).fit(X[:400], y[:400])
    assert model.get_n_leaves() == 2
    assert plain.get_n_leaves() > 10
    assert model.score(X[400:], y[400:]) > plain.score(X[400:], y[400:])


def test_oblique_step_takes_one_split() -> None:
    X, w = cloud(600, 4), cloud(1, 4, seed=1)[0]
    y = np.where(X @ w > 0.3, 5.0, -1.0)
    model = ObliqueTreeRegressor(random_state=0).fit(X, y)
    assert model.get_n_leaves() == 2
    assert np.array_equal(model.predict(X), y)


def test_scale_of_columns_does_not_matter() -> None:
    X, w = cloud(300, 3), np.array([1.0, -1.0, 0.5])
    y = X @ w > 0
    scale = np.array([1e-6, 1.0, 1e6])
    model = ObliqueTreeClassifier(random_state=0).fit(X * scale, y)
    assert model.get_n_leaves() == 2


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_real_tables_are_classified_no_worse_than_by_a_plain_tree(load: Any) -> None:
    X, y = load(return_X_y=True)
    ours = ObliqueTreeClassifier(random_state=0).fit(X[::2], y[::2])
    theirs = DecisionTreeClassifier(random_state=0).fit(X[::2], y[::2])
    assert ours.score(X[1::2], y[1::2]) >= theirs.score(X[1::2], y[1::2])
    assert ours.get_n_leaves() < theirs.get_n_leaves()


def test_smooth_function_is_fitted_better_than_by_a_plain_tree() -> None:
    X = cloud(1000, 5)
    y = np.tanh(X @ [1.0, -2.0, 0.5, 1.0, 0.3])
    ours = ObliqueTreeRegressor(min_samples_leaf=5, random_state=0).fit(X[:700], y[:700])
    theirs = DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(X[:700], y[:700])
    assert ours.score(X[700:], y[700:]) > 0.9 > theirs.score(X[700:], y[700:])


def test_one_column_gives_the_plain_tree() -> None:
    X, y = load_diabetes(return_X_y=True)
    x = X[:, [2]]
    ours = ObliqueTreeRegressor(max_depth=4, random_state=0).fit(x, y)
    theirs = DecisionTreeRegressor(max_depth=4, random_state=0).fit(x, y)
    np.testing.assert_allclose(ours.predict(x), theirs.predict(x))


def test_single_column_wins_ties() -> None:
    X = cloud(200, 3)
    model = ObliqueTreeClassifier(random_state=0).fit(X, X[:, 1] > 0)
    assert model.split_weight_.tolist() == [[0.0, 1.0, 0.0]]


@given(seed=st.integers(0, 1000))
def test_leaves_hold_the_means_of_the_rows_that_come_to_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 3)).round(1), rng.normal(size=80)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = ObliqueTreeRegressor(min_samples_leaf=3, random_state=seed).fit(X, y)
    leaf = model.apply(X)
    for node in np.unique(leaf):
        assert np.count_nonzero(leaf == node) >= 3
        mean = model.leaf_value_[model.node_slot_[node], 0]
        assert mean == pytest.approx(y[leaf == node].mean(), abs=1e-9)
    assert len(np.unique(leaf)) == model.get_n_leaves()


@given(seed=st.integers(0, 1000))
def test_depth_limit_cuts_the_same_tree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    deep = ObliqueTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    flat = ObliqueTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    n = len(flat.split_threshold_)
    assert np.array_equal(deep.split_weight_[:n], flat.split_weight_)
    assert deep.get_depth() <= 3
    assert flat.get_depth() <= 2


@given(seed=st.integers(0, 1000))
def test_weights_are_duplicated_rows_on_single_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(30, 1)), rng.integers(2, size=30), rng.integers(0, 3, size=30)
    weight[:2] = 1
    model = ObliqueTreeClassifier(random_state=0)
    weighted = model.fit(X, y, sample_weight=weight).predict_proba(X)
    rows = np.repeat(np.arange(30), weight)
    repeated = model.fit(X[rows], y[rows]).predict_proba(X)
    if weighted.shape == repeated.shape:  # a class may have lost all its rows
        np.testing.assert_allclose(weighted, repeated, atol=1e-12)


def test_several_targets_are_several_columns() -> None:
    X = cloud(200, 2)
    y = np.column_stack([X[:, 0] > 0, X[:, 0] > 0]).astype(float)
    model = ObliqueTreeRegressor(random_state=0).fit(X, y)
    assert model.get_n_leaves() == 2
    assert np.array_equal(model.predict(X), y)


def test_missing_value_is_taken_as_the_mean() -> None:
    X, w = cloud(400, 3), np.array([1.0, 1.0, 0.0])
    model = ObliqueTreeClassifier(random_state=0).fit(X, X @ w > 0)
    row = [[2.0, np.nan, 0.0], [-2.0, np.nan, 0.0]]
    filled = [[2.0, X[:, 1].mean(), 0.0], [-2.0, X[:, 1].mean(), 0.0]]
    assert model.predict(row).tolist() == model.predict(filled).tolist() == [True, False]


def test_far_values_and_offsets_are_harmless() -> None:
    X = cloud(100, 2)
    y = X.sum(axis=1) > 0
    assert ObliqueTreeClassifier(random_state=0).fit(X + 1e8, y).score(X + 1e8, y) > 0.95
    huge = X * 1e306
    assert (
        ObliqueTreeClassifier(random_state=0).fit(huge, X[:, 0] > 0).score(huge, X[:, 0] > 0) == 1
    )
    offset = ObliqueTreeRegressor(random_state=0).fit(X, y + 1e9)
    assert offset.get_n_leaves() < 6


def test_constant_target_is_one_leaf() -> None:
    X = cloud(30, 2)
    assert ObliqueTreeRegressor().fit(X, np.full(30, 0.1)).get_n_leaves() == 1
    assert ObliqueTreeClassifier().fit(X, ["a"] * 30).get_n_leaves() == 1
    assert ObliqueTreeClassifier().fit(np.ones((4, 2)), [0, 1, 0, 1]).get_n_leaves() == 1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"criterion": "mse"}, "criterion must be 'gini' or 'entropy'; got 'mse'"),
        ({"max_depth": 0}, "max_depth must be an integer >= 1 or None; got 0"),
        ({"min_samples_split": 1}, "min_samples_split must be an integer >= 2; got 1"),
        ({"n_restarts": -1}, "n_restarts must be an integer >= 0; got -1"),
        (
            {"random_state": "x"},
            "random_state must be None, an integer in [0, 2**32) or a RandomState; got 'x'",
        ),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        ObliqueTreeClassifier(**params).fit(*load_iris(return_X_y=True))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("name", "index", "value"),
    [
        ("node_left_", 0, 0),
        ("node_left_", 1, 1),
        ("node_slot_", 0, 7),
        ("split_weight_", (0, 0), np.nan),
        ("split_threshold_", 0, np.inf),
        ("leaf_value_", (0, 0), np.nan),
    ],
)
def test_damaged_nodes_are_refused(name: str, index: Any, value: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = ObliqueTreeClassifier(random_state=0).fit(X, y)
    state: dict[str, Any] = copy.deepcopy(model.state())
    params = {"random_state": 0}
    assert same(model, ObliqueTreeClassifier.from_state(params, state))
    state[name][index] = value
    with pytest.raises(DataError, match="the model is damaged"):
        ObliqueTreeClassifier.from_state(params, state)

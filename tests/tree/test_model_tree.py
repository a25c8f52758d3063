"""Model trees: functions they must recover, brute force for splits, and what always holds."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from assay.base import DataError, ParameterError, same
from assay.tree import ModelTreeRegressor
from assay.tree._linear_nodes import fit_linear
from assay.tree._model_tree_grow import GrowthLimits, grow
from assay.tree._ordered_levels import MAX_GROUPS, expand, level_groups

Floats = NDArray[np.float64]


def pieces(X: Floats) -> Floats:
    """Two planes with a step between them."""
    return np.where(X[:, 0] <= 0, 8 + X @ [1.0, 2.0, 0.0], -4 + X @ [0.0, -1.0, 3.0])


@pytest.mark.parametrize("model_columns", ["subtree", "all"])
def test_piecewise_linear_function_is_recovered(model_columns: str) -> None:
    rng = np.random.default_rng(0)
    X, new = rng.uniform(-1, 1, size=(400, 3)), rng.uniform(-1, 1, size=(1000, 3))
    model = ModelTreeRegressor(model_columns=model_columns, smoothing=0, clip=False)
    model.fit(X, pieces(X))
    edge = np.abs(X[:, 0]).min()
    inside = np.abs(new[:, 0]) > 2 * edge  # between the two planes there were no rows
    np.testing.assert_allclose(model.predict(new[inside]), pieces(new[inside]), atol=1e-6)
    assert model.get_n_leaves() == 2


def test_linear_function_is_one_leaf() -> None:
    X, _ = load_diabetes(return_X_y=True)
    y = 3 + X @ np.arange(10.0)
    model = ModelTreeRegressor(model_columns="all").fit(X, y)
    assert model.get_n_leaves() == 1
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)


def test_smooth_function_is_fitted_better_than_by_a_plain_tree() -> None:
    X, y = make_friedman1(1500, random_state=0)
    ours = ModelTreeRegressor().fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
    tree = DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(X[:1000], y[:1000])
    line = LinearRegression().fit(X[:1000], y[:1000])
    assert ours > max(tree.score(X[1000:], y[1000:]), line.score(X[1000:], y[1000:])) + 0.05


@given(seed=st.integers(0, 10_000))
def test_split_removes_most_deviation_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z, y = rng.integers(6, size=(20, 3)).astype(float), rng.normal(size=20)
    weight = rng.integers(1, 4, size=20).astype(float)
    tree = grow(Z, y, weight, GrowthLimits(1, 4, 3, 0.05))

    def spread(side: NDArray[np.bool_]) -> float:
        w = weight[side]
        mean = np.average(y[side], weights=w)
        return float(w.sum() * np.sqrt(np.average((y[side] - mean) ** 2, weights=w)))

    costs = {}
    for j in range(3):
        values = np.unique(Z[:, j])
        for t in (values[1:] + values[:-1]) / 2:
            left = Z[:, j] <= t
            if min(weight[left].sum(), weight[~left].sum()) >= 3:
                costs[j, t] = spread(left) + spread(~left)
    assert tree.left[0] == 1
    chosen = costs[tree.feature[0], tree.threshold[0]]
    assert chosen == pytest.approx(min(costs.values()), rel=1e-6)


def test_model_of_a_node_is_least_squares() -> None:
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(50, 3))
    y = 1 + Z @ [1.0, -2.0, 3.0] + 0.1 * rng.normal(size=50)
    weight = rng.uniform(0.5, 2.0, size=50)
    model = fit_linear(Z, y, weight, np.arange(3), 0.0, 0.0)
    peer = LinearRegression().fit(Z, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef, peer.coef_, rtol=1e-9)
    assert model.intercept == pytest.approx(peer.intercept_)
    residual = np.abs(y - peer.predict(Z))
    assert model.absolute == pytest.approx(np.average(residual, weights=weight))


def test_useless_columns_are_dropped_as_if_fitted_without_them() -> None:
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(200, 6))
    y = 2 * Z[:, 1] - Z[:, 4] + rng.normal(size=200)
    model = fit_linear(Z, y, np.ones(200), np.arange(6), 0.0, 0.0)
    kept = np.flatnonzero(model.coef)
    assert {1, 4} <= set(kept.tolist())
    assert len(kept) < 6
    peer = LinearRegression().fit(Z[:, kept], y)
    np.testing.assert_allclose(model.coef[kept], peer.coef_, rtol=1e-9)


def test_smoothing_mixes_the_models_on_the_way() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(60, 3))
    y = pieces(X)
    plain = ModelTreeRegressor(smoothing=0, clip=False, max_depth=1).fit(X, y)
    smooth = ModelTreeRegressor(smoothing=15, clip=False, max_depth=1).fit(X, y)
    root = ModelTreeRegressor(smoothing=1e15, clip=False, max_depth=1).fit(X, y)
    assert plain.get_n_leaves() == 2
    n = np.where(X[:, 0] <= plain.node_threshold_[0], 1, 0)
    n = np.where(n == 1, n.sum(), 60 - n.sum())
    expected = (n * plain.predict(X) + 15 * root.predict(X)) / (n + 15)
    np.testing.assert_allclose(smooth.predict(X), expected, rtol=1e-6)


def test_pruning_makes_smaller_and_better_trees() -> None:
    X, y = make_friedman1(600, noise=2.0, random_state=0)
    pruned = ModelTreeRegressor(smoothing=0).fit(X[:300], y[:300])
    full = ModelTreeRegressor(smoothing=0, prune=False).fit(X[:300], y[:300])
    assert pruned.get_n_leaves() < full.get_n_leaves()
    assert pruned.score(X[300:], y[300:]) > full.score(X[300:], y[300:])


def test_levels_are_ordered_by_their_mean_target() -> None:
    codes = np.array([0.0, 0.0, 1.0, 2.0, np.nan, 2.0])
    y = np.array([5.0, 7.0, 1.0, 3.0, 100.0, 3.0])
    groups = level_groups(codes, y, np.ones(6), 3)
    assert groups.tolist() == [2, 0, 1]
    steps = expand(np.array([[0.0], [1.0], [2.0], [3.0], [np.nan]]), {0: groups})
    expected = np.array([[1, 1], [0, 0], [1, 0], [np.nan] * 2, [np.nan] * 2])
    assert np.array_equal(steps, expected, equal_nan=True)


def test_many_levels_share_groups() -> None:
    codes = np.arange(1000.0)
    groups = level_groups(codes, codes, np.ones(1000), 1000)
    assert groups.max() == MAX_GROUPS - 1
    assert (np.diff(groups) >= 0).all()
    assert np.bincount(groups).min() >= 60


def test_nominal_columns_shift_and_split() -> None:
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c"], size=300)
    x = rng.uniform(size=300)
    table = pl.DataFrame({"kind": kind, "x": x})
    y = np.select([kind == "a", kind == "b"], [10 + x, 20 - x], 30 + 2 * x)
    model = ModelTreeRegressor(smoothing=0, min_deviation=0).fit(table, y)
    np.testing.assert_allclose(model.predict(table), y, atol=1e-5)
    assert "kind" in model.to_text()
    assert np.isfinite(model.predict(pl.DataFrame({"kind": ["z", None], "x": [0.5, None]}))).all()


def test_missing_value_is_taken_as_the_mean() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = ModelTreeRegressor().fit(X, y)
    gap, filled = X.copy(), X.copy()
    gap[:, 2], filled[:, 2] = np.nan, X[:, 2].mean()
    np.testing.assert_allclose(model.predict(gap), model.predict(filled))


def test_prediction_is_clipped_when_asked() -> None:
    x = np.linspace(0, 1, 50)[:, None]
    model = ModelTreeRegressor(model_columns="all").fit(x, 2 * x[:, 0])
    assert model.predict([[9.0]])[0] == 2.0
    model.set_params(clip=False)
    assert model.predict([[9.0]])[0] == pytest.approx(18.0)


@given(seed=st.integers(0, 10_000), columns=st.sampled_from(["subtree", "all"]))
def test_weights_are_duplicated_rows(seed: int, columns: str) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    weight = rng.integers(1, 4, size=30)
    model = ModelTreeRegressor(model_columns=columns)
    weighted = model.fit(X, y, sample_weight=weight).predict(X)
    rows = np.repeat(np.arange(30), weight)
    np.testing.assert_allclose(model.fit(X[rows], y[rows]).predict(X), weighted, atol=1e-7)


@given(seed=st.integers(0, 10_000), shift=st.floats(-1e3, 1e3), scale=st.floats(0.01, 100))
def test_predictions_follow_the_scale_of_the_target(seed: int, shift: float, scale: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    one = ModelTreeRegressor().fit(X, y).predict(X)
    two = ModelTreeRegressor().fit(X, shift + scale * y).predict(X)
    np.testing.assert_allclose(two, shift + scale * one, atol=1e-5 * (scale + abs(shift)))


def test_relative_weights_change_nothing() -> None:
    X, y = load_diabetes(return_X_y=True)
    plain = ModelTreeRegressor().fit(X, y)
    relative = ModelTreeRegressor().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    np.testing.assert_allclose(plain.predict(X), relative.predict(X), rtol=1e-6)


def test_far_columns_lose_no_digits() -> None:
    x = np.linspace(0, 1, 200)
    y = np.where(x < 0.5, x, 3 - x)
    model = ModelTreeRegressor(smoothing=0).fit((x + 1e6)[:, None], y)
    np.testing.assert_allclose(model.predict((x + 1e6)[:, None]), y, atol=1e-5)


def test_constant_target_and_single_row_are_one_leaf() -> None:
    assert ModelTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0]).predict([[9.0]]) == [3.0]
    assert ModelTreeRegressor().fit([[1.0]], [3.0]).predict([[9.0]]) == [3.0]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_depth": 0}, "max_depth must be an integer >= 1 or None; got 0"),
        ({"smoothing": -1}, "smoothing must be a finite number >= 0; got -1"),
        ({"min_deviation": 2}, "min_deviation must be a number in [0, 1]; got 2"),
        ({"model_columns": None}, "model_columns must be 'subtree' or 'all'; got None"),
        ({"prune": "no"}, "prune must be True or False; got 'no'"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        ModelTreeRegressor(**params).fit([[1.0], [2.0]], [1.0, 2.0])
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("name", "index", "value"),
    [
        ("node_left_", 0, 2),
        ("node_left_", 1, 1),
        ("node_feature_", 0, 3),
        ("node_feature_", 0, -1),
        ("node_slot_", 1, 1),
        ("node_threshold_", 0, np.nan),
        ("leaf_coef_", (0, 0), np.inf),
        ("fill_", 0, np.nan),
        ("level_group_", 0, 3),
    ],
)
def test_damaged_nodes_are_refused(name: str, index: Any, value: Any) -> None:
    X = pl.DataFrame({"k": ["a", "b"] * 30, "x": np.linspace(0, 1, 60)})
    model = ModelTreeRegressor().fit(X, np.where(np.arange(60) % 2, 5 + X["x"], X["x"] * -9))
    assert model.get_n_leaves() == 2
    state: dict[str, Any] = copy.deepcopy(model.state())
    assert same(model, ModelTreeRegressor.from_state({}, state))
    state[name][index] = value
    with pytest.raises(DataError, match="the model is damaged"):
        ModelTreeRegressor.from_state({}, state)

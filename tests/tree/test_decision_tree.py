"""Single trees: scikit-learn's splits, nominal and missing values, weights, edges, messages."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import tree as sk
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.utils.class_weight import compute_sample_weight

from assay.base import DataError, ParameterError
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor

CLASSES = [load_iris, load_wine, load_breast_cancer, load_digits]


def table(load: Callable[..., Any]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """A table whose values are float32, which is what scikit-learn's trees look at."""
    X, y = load(return_X_y=True)
    return X.astype(np.float32).astype(np.float64), y


def untied() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A regression in which no two splits of a node with many rows are equally good."""
    X, y = load_diabetes(return_X_y=True)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    return X.astype(np.float32).astype(np.float64), y


def integers(seed: int, task: str, n: int = 120, d: int = 4) -> tuple[Any, Any]:
    """A table full of ties."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, d)).astype(np.float64)
    noise = rng.integers(0, 3, size=n)
    total = X[:, 0].astype(int) + (X[:, 1] > 2) + noise
    return X, (total % 3 if task == "classification" else total.astype(np.float64))


def impurity(y: NDArray[Any], weight: NDArray[Any], criterion: str) -> float:
    if criterion in ("squared_error", "friedman_mse"):
        mean = np.average(y, weights=weight)
        return float(np.average((y - mean) ** 2, weights=weight))
    p = np.bincount(y, weight) / weight.sum()
    if criterion == "gini":
        return float(1 - (p**2).sum())
    if criterion == "error":
        return float(1 - p.max())
    return float(-(p[p > 0] * np.log2(p[p > 0])).sum())


def decrease(
    y: NDArray[Any], weight: NDArray[Any], left: NDArray[np.bool_], criterion: str
) -> float:
    """Score by which a split is chosen."""
    share = weight[left].sum() / weight.sum()
    if criterion == "friedman_mse":
        gap = np.average(y[left], weights=weight[left]) - np.average(
            y[~left], weights=weight[~left]
        )
        return float(share * (1 - share) * gap**2)
    rest = share * impurity(y[left], weight[left], criterion)
    rest += (1 - share) * impurity(y[~left], weight[~left], criterion)
    return impurity(y, weight, criterion) - float(rest)


def differing_splits(
    ours: Any,
    theirs: Any,
    X: NDArray[Any],
    y: NDArray[Any],
    criterion: str,
    weight: NDArray[Any] | None = None,
) -> int:
    """Walk both trees together; where they part, prove a tie. Return how often they part."""
    weight = np.ones(len(X)) if weight is None else weight
    a, b = ours.tree_, theirs.tree_
    ahead = [(0, 0, np.arange(len(X)))]
    ties = 0
    while ahead:
        i, j, rows = ahead.pop()
        assert a.n_node_samples[i] == b.n_node_samples[j] == len(rows)
        np.testing.assert_allclose(a.weighted_n_node_samples[i], b.weighted_n_node_samples[j])
        np.testing.assert_allclose(a.impurity[i], b.impurity[j], atol=1e-9)
        np.testing.assert_allclose(a.value[i], b.value[j], atol=1e-9)
        if a.children_left[i] < 0:
            # scikit-learn may split a pure node whose impurity rounding left above 0.
            assert b.children_left[j] < 0 or len(np.unique(y[rows])) == 1
            continue
        left_a = X[rows, a.feature[i]] <= a.threshold[i]
        left_b = X[rows, b.feature[j]] <= b.threshold[j]
        if np.array_equal(left_a, left_b):
            if a.feature[i] == b.feature[j]:
                np.testing.assert_allclose(a.threshold[i], b.threshold[j], rtol=1e-6, atol=1e-12)
            ahead.append((a.children_left[i], b.children_left[j], rows[left_a]))
            ahead.append((a.children_right[i], b.children_right[j], rows[~left_a]))
            continue
        scores = [decrease(y[rows], weight[rows], left, criterion) for left in (left_a, left_b)]
        assert scores[0] == pytest.approx(scores[1], rel=1e-9, abs=1e-12)
        ties += 1
    return ties


# Oracle: scikit-learn.


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("load", CLASSES)
def test_classifier_makes_the_splits_of_scikit_learn(load: Any, criterion: str) -> None:
    X, y = table(load)
    ours = DecisionTreeClassifier(criterion=criterion).fit(X, y)
    theirs = sk.DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, y)
    ties = differing_splits(ours, theirs, X, y, criterion)
    assert ties < ours.tree_.node_count / 4
    assert (ours.predict(X) == y).all()


def test_regressor_makes_the_splits_of_scikit_learn() -> None:
    X, y = table(load_diabetes)
    ours, theirs = DecisionTreeRegressor().fit(X, y), sk.DecisionTreeRegressor().fit(X, y)
    assert differing_splits(ours, theirs, X, y, "squared_error") < ours.tree_.node_count / 4
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_other_criteria_reach_the_impurity_of_scikit_learn(criterion: str) -> None:
    X, y = untied()
    ours = DecisionTreeRegressor(criterion=criterion, max_depth=4).fit(X, y)
    theirs = sk.DecisionTreeRegressor(criterion=criterion, max_depth=4).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(sorted(ours.tree_.impurity), sorted(theirs.tree_.impurity))


@given(seed=st.integers(0, 2**31), criterion=st.sampled_from(["gini", "entropy"]))
def test_differences_on_tied_tables_are_ties(seed: int, criterion: str) -> None:
    X, y = integers(seed, "classification")
    weight = np.random.default_rng(seed).integers(1, 4, size=len(X)).astype(float)
    ours = DecisionTreeClassifier(criterion=criterion).fit(X, y, weight)
    theirs = sk.DecisionTreeClassifier(criterion=criterion, random_state=seed).fit(X, y, weight)
    differing_splits(ours, theirs, X, y, criterion, weight)


@given(seed=st.integers(0, 2**31))
def test_differences_of_regression_trees_are_ties(seed: int) -> None:
    X, y = integers(seed, "regression")
    ours, theirs = DecisionTreeRegressor().fit(X, y), sk.DecisionTreeRegressor().fit(X, y)
    differing_splits(ours, theirs, X, y, "squared_error")


@pytest.mark.parametrize(
    "params",
    [
        {"max_depth": 4},
        {"min_samples_leaf": 7},
        {"min_samples_leaf": 0.05},
        {"min_samples_split": 0.2},
        {"min_samples_split": 30},
        {"min_weight_fraction_leaf": 0.1},
        {"min_impurity_decrease": 20.0},
        {"max_leaf_nodes": 9},
        {"max_leaf_nodes": 6, "max_depth": 3},
        {"ccp_alpha": 30.0},
        {"criterion": "friedman_mse", "max_depth": 4},
    ],
    ids=str,
)
def test_limits_mean_what_they_mean_in_scikit_learn(params: dict[str, Any]) -> None:
    X, y = untied()
    ours = DecisionTreeRegressor(**params).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # it renames friedman_mse
        theirs = sk.DecisionTreeRegressor(random_state=0, **params).fit(X, y)
    assert ours.tree_.node_count == theirs.tree_.node_count
    assert ours.get_depth() == theirs.get_depth()
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    if not {"max_depth", "min_impurity_decrease", "ccp_alpha"} & params.keys():
        # Two rows can be told apart by any column, so only trees without such nodes compare.
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 1: 0.5}], ids=str)
def test_class_weights_mean_what_they_mean_in_scikit_learn(class_weight: Any) -> None:
    X, y = table(load_breast_cancer)
    ours = DecisionTreeClassifier(class_weight=class_weight).fit(X, y)
    theirs = sk.DecisionTreeClassifier(class_weight=class_weight, random_state=0).fit(X, y)
    weight = compute_sample_weight(class_weight, y)
    differing_splits(ours, theirs, X, y, "gini", weight)


def test_class_and_sample_weights_multiply() -> None:
    X, y = integers(1, "classification")
    weight = np.random.default_rng(0).integers(1, 4, size=len(X)).astype(float)
    a = DecisionTreeClassifier(class_weight={0: 2.0, 1: 1.0, 2: 3.0}, max_depth=3).fit(X, y, weight)
    b = DecisionTreeClassifier(max_depth=3).fit(X, y, weight * np.array([2.0, 1.0, 3.0])[y])
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))


def test_rows_without_weight_are_not_counted() -> None:
    X, y = integers(2, "classification")
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    model = DecisionTreeClassifier(min_samples_leaf=5).fit(X, y, weight)
    kept = DecisionTreeClassifier(min_samples_leaf=5).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(model.node_samples_, kept.node_samples_)
    np.testing.assert_array_equal(model.predict_proba(X), kept.predict_proba(X))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
def test_ties_go_to_the_first_column_and_the_lowest_cut(criterion: str) -> None:
    X, y = table(load_iris)
    doubled = np.column_stack([X, X, X * 2])
    model = DecisionTreeClassifier(criterion=criterion).fit(doubled, y)
    assert (model.tree_.feature < 4).all()
    middle = DecisionTreeClassifier(max_depth=1, criterion=criterion)
    middle.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0])
    assert middle.tree_.threshold[0] == 0.5


def test_several_targets_share_one_tree() -> None:
    X, y = table(load_diabetes)
    Y = np.column_stack([y, X[:, 2] * 1000, -y])
    ours = DecisionTreeRegressor(max_depth=5).fit(X, Y)
    theirs = sk.DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    assert ours.tree_.value.shape == theirs.tree_.value.shape == (ours.tree_.node_count, 3, 1)
    assert ours.n_outputs_ == 3


def test_view_has_the_shapes_and_marks_of_scikit_learn() -> None:
    X, y = table(load_iris)
    ours, theirs = DecisionTreeClassifier().fit(X, y).tree_, sk.DecisionTreeClassifier().fit(X, y)
    other = theirs.tree_
    names = ["children_left", "children_right", "feature", "threshold", "impurity", "value"]
    names += ["n_node_samples", "weighted_n_node_samples", "missing_go_to_left", "n_classes"]
    for name in names:
        assert getattr(ours, name).shape == getattr(other, name).shape, name
    for name in ("node_count", "n_leaves", "max_depth", "n_features", "n_outputs"):
        assert getattr(ours, name) == getattr(other, name), name
    leaf = ours.children_left < 0
    assert (ours.children_right[leaf] == -1).all()
    assert (ours.feature[leaf] == -2).all()
    assert (ours.threshold[leaf] == -2).all()
    assert ours.max_n_classes == other.max_n_classes
    np.testing.assert_array_equal(ours.compute_node_depths()[leaf] > 0, True)


def test_criterion_error_splits_where_fewest_rows_are_wrong() -> None:
    X, y = integers(3, "classification", n=60)
    model = DecisionTreeClassifier(criterion="error", max_depth=1).fit(X, y)
    ones = np.ones(len(X))
    best = max(
        decrease(y, ones, X[:, j] <= cut, "error")
        for j in range(X.shape[1])
        for cut in np.unique(X[:, j])[:-1] + 0.5
    )
    left = X[:, model.tree_.feature[0]] <= model.tree_.threshold[0]
    assert decrease(y, ones, left, "error") == pytest.approx(best)
    assert model.tree_.impurity[0] == pytest.approx(impurity(y, ones, "error"))


def test_entropy_in_nats_is_entropy_in_bits_times_log_two() -> None:
    X, y = table(load_wine)
    bits = DecisionTreeClassifier(criterion="entropy").fit(X, y)
    nats = DecisionTreeClassifier(criterion="entropy", entropy_base="e").fit(X, y)
    assert bits.tree_.impurity[0] == pytest.approx(impurity(y, np.ones(len(y)), "entropy"))
    np.testing.assert_allclose(nats.tree_.impurity, bits.tree_.impurity * np.log(2))
    np.testing.assert_array_equal(nats.node_feature_, bits.node_feature_)
    gain = decrease(
        y, np.ones(len(y)), X[:, bits.node_feature_[0]] <= bits.node_threshold_[0], "entropy"
    )
    limited: dict[str, Any] = {"criterion": "entropy", "min_impurity_decrease": 0.9 * gain}
    scaled: dict[str, Any] = {**limited, "entropy_base": "e"}
    scaled["min_impurity_decrease"] *= np.log(2)
    assert (
        DecisionTreeClassifier(**limited).fit(X, y).get_n_leaves()
        == DecisionTreeClassifier(**scaled).fit(X, y).get_n_leaves()
        == 2
    )
    scaled["min_impurity_decrease"] = 0.9 * gain  # more nats than there are
    assert DecisionTreeClassifier(**scaled).fit(X, y).get_n_leaves() == 1


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_nominal_split_is_the_best_of_all_bipartitions(n_classes: int, criterion: str) -> None:
    rng = np.random.default_rng(n_classes)
    levels = rng.integers(0, 6, size=150)
    y = (levels * 7 % 5 + rng.integers(0, 2, size=150)) % n_classes
    model = DecisionTreeClassifier(criterion=criterion, max_depth=1, categorical_features=[0])
    model.fit(levels[:, None], y)
    sets = [
        np.array([0, *rest], dtype=bool)[levels] for rest in product([0, 1], repeat=5) if any(rest)
    ]
    assert len(sets) == 2**5 - 1
    best = max(decrease(y, np.ones(150), left, criterion) for left in sets)
    tree = model.tree_
    left = tree.level_mask(0)[levels]
    assert decrease(y, np.ones(150), left, criterion) == pytest.approx(best)
    assert tree.n_node_samples[1] == left.sum()
    assert np.isnan(tree.threshold[0])


def test_monotone_constraint_holds_everywhere() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + np.sin(3 * X[:, 0]) * 2 + rng.normal(size=400) * 0.3
    model = DecisionTreeRegressor(monotonic_cst=[1, 0]).fit(X, y)
    grid = np.linspace(-3, 3, 200)
    for other in (-1.0, 0.0, 1.0):
        values = model.predict(np.column_stack([grid, np.full(200, other)]))
        assert (np.diff(values) >= -1e-12).all()


# Invariance.


@st.composite
def mixed_tables(draw: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Numeric and nominal columns with holes, few distinct values."""
    n = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    X = rng.integers(0, 4, size=(n, 4)).astype(np.float64)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2, 0.6]))] = np.nan
    return X, rng.integers(0, 3, size=n)


def grown(task: str, **params: Any) -> Any:
    kind = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    return kind(categorical_features=[1, 3], **params)


TASKS = ["classification", "regression"]


@pytest.mark.parametrize("task", TASKS)
@given(data=mixed_tables())
def test_answers_are_the_statistics_of_the_leaves(task: str, data: Any) -> None:
    X, y = data
    target = y if task == "classification" else y.astype(np.float64)
    model = grown(task).fit(X, target)
    leaf = model.apply(X)
    tree = model.tree_
    assert (tree.children_left[leaf] == -1).all()
    for node in np.unique(leaf):
        rows = leaf == node
        assert tree.n_node_samples[node] == rows.sum()
        if task == "classification":
            shares = [(y[rows] == c).mean() for c in model.classes_]
            np.testing.assert_allclose(model.predict_proba(X)[rows], [shares] * rows.sum())
        else:
            np.testing.assert_allclose(model.predict(X)[rows], y[rows].mean(), atol=1e-12)
    path = model.decision_path(X)
    np.testing.assert_array_equal(np.asarray(path[np.arange(len(X)), leaf]).ravel(), 1)
    np.testing.assert_array_equal(
        np.asarray(path.sum(axis=1)).ravel(), tree.compute_node_depths()[leaf] + 1
    )
    np.testing.assert_array_equal(np.asarray(path.sum(axis=0)).ravel(), tree.n_node_samples)


@pytest.mark.parametrize("task", TASKS)
@given(data=mixed_tables(), seed=st.integers(0, 2**31))
def test_weights_are_repeated_rows(task: str, data: Any, seed: int) -> None:
    X, y = data
    target = y if task == "classification" else y.astype(np.float64)
    count = np.random.default_rng(seed).integers(0, 4, size=len(X))
    count[0] = 1
    once = grown(task).fit(X, target, sample_weight=count)
    often = grown(task).fit(np.repeat(X, count, axis=0), np.repeat(target, count))
    known = count > 0
    assert once.tree_.node_count == often.tree_.node_count
    for model in (once, often):
        assert model.tree_.weighted_n_node_samples[0] == count.sum()
    labels = getattr(once, "classes_", np.zeros(1))  # a label without weight is known, but not seen
    shown = np.isin(labels, getattr(often, "classes_", 0.0))
    # Nodes may be numbered differently, but rows are together in one tree if in the other.
    pairs = {*zip(once.apply(X[known]), often.apply(X[known]), strict=True)}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    for a, b in pairs:
        assert once.node_weight_[a] == often.node_weight_[b]
        np.testing.assert_allclose(once.leaf_value_[a, shown], often.leaf_value_[b], atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
@given(data=mixed_tables(), seed=st.integers(0, 2**31))
def test_order_of_the_rows_does_not_matter(task: str, data: Any, seed: int) -> None:
    X, y = data
    target = y if task == "classification" else y.astype(np.float64)
    order = np.random.default_rng(seed).permutation(len(X))
    a, b = grown(task).fit(X, target), grown(task).fit(X[order], target[order])
    for name in ("node_left_", "node_feature_", "node_threshold_", "level_words_", "node_samples_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_allclose(a.leaf_value_, b.leaf_value_, atol=1e-12)


@given(data=mixed_tables(), shift=st.integers(-3, 3))
def test_increasing_maps_of_a_column_change_no_leaf(data: Any, shift: int) -> None:
    X, y = data
    mapped = X.copy()
    mapped[:, [0, 2]] = np.exp(X[:, [0, 2]]) + shift
    a, b = grown("classification").fit(X, y), grown("classification").fit(mapped, y)
    np.testing.assert_array_equal(a.apply(X), b.apply(mapped))


@given(data=mixed_tables(), seed=st.integers(0, 10))
def test_tree_cut_at_a_depth_is_the_tree_grown_to_it(data: Any, seed: int) -> None:
    X, y = data
    params: dict[str, Any] = {"max_features": 2, "random_state": seed, "splitter": "random"}
    full = grown("classification", **params).fit(X, y).tree_
    for depth in (1, 2, 3):
        grown_short = grown("classification", max_depth=depth, **params).fit(X, y).tree_
        cut = full.pruned(full.cut_at(depth).is_leaf)
        assert cut.node_count == grown_short.node_count
        np.testing.assert_array_equal(np.sort(cut.cut), np.sort(grown_short.cut))


def test_levels_are_told_apart_by_name_and_not_by_order() -> None:
    frame = pl.DataFrame({"c": ["b", "a", "c", "b", "a", "c"] * 3, "n": [1.0] * 18})
    y = np.array([0, 1, 0] * 6)
    renamed = frame.with_columns(pl.col("c").replace({"a": "z"}))
    a = DecisionTreeClassifier().fit(frame, y)
    b = DecisionTreeClassifier().fit(renamed, y)
    assert a.categorical_features_.tolist() == [0]
    assert a.get_n_leaves() == b.get_n_leaves() == 2
    np.testing.assert_array_equal(a.predict(frame), b.predict(renamed))


# Edges.


def test_one_class_is_one_leaf() -> None:
    model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["a", "a", "a"])
    assert model.tree_.node_count == 1
    assert model.get_depth() == 0
    assert model.predict([[5.0]]).tolist() == ["a"]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]
    assert model.feature_importances_.tolist() == [0.0]


def test_class_without_weight_keeps_its_column() -> None:
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"], sample_weight=[1.0, 0.0])
    assert model.classes_.tolist() == ["a", "b"]
    assert model.predict_proba([[1.0]]).tolist() == [[1.0, 0.0]]
    assert model.predict_log_proba([[1.0]]).tolist() == [[0.0, -np.inf]]


def test_constant_and_missing_columns_are_not_split() -> None:
    X = np.column_stack([np.full(6, 7.0), np.full(6, np.nan), np.arange(6.0)])
    model = DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1, 1])
    assert model.tree_.feature.tolist() == [2, -2, -2]
    constant = DecisionTreeClassifier().fit(X[:, :2], [0, 0, 0, 1, 1, 1])
    assert constant.tree_.node_count == 1


def test_missing_values_alone_can_tell_classes_apart() -> None:
    X = np.array([[1.0], [2.0], [np.nan], [np.nan], [3.0]])
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1, 0])
    assert model.predict(X).tolist() == [0, 0, 1, 1, 0]
    assert model.has_missing_.tolist() == [1]


def test_level_unseen_in_fit_goes_where_missing_values_go() -> None:
    frame = pl.DataFrame({"c": ["a", "a", "b", "b", "b", None]})
    model = DecisionTreeClassifier().fit(frame, [0, 0, 1, 1, 1, 0])
    unseen, missing = (pl.DataFrame({"c": [name]}) for name in ("new", None))
    missing = missing.with_columns(pl.col("c").cast(pl.String))
    np.testing.assert_array_equal(model.predict_proba(unseen), model.predict_proba(missing))
    assert model.predict(unseen).tolist() == [0]


def test_zero_gain_splits_are_made() -> None:
    X = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 5, dtype=float)
    y = X[:, 0].astype(int) ^ X[:, 1].astype(int)
    assert DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0


def test_limits_that_leave_no_split_give_one_leaf() -> None:
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    for params in ({"min_samples_leaf": 4}, {"min_samples_split": 7}, {"monotonic_cst": [-1]}):
        model = DecisionTreeClassifier(**params).fit(X, y)
        assert model.tree_.node_count == 1, params
        assert model.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]


def test_refit_forgets_the_path_of_the_former_fit() -> None:
    X, y = table(load_iris)
    model = DecisionTreeClassifier(ccp_alpha=0.02).fit(X, y)
    assert model.ccp_alpha_ == 0.02
    assert not hasattr(model.set_params(ccp_alpha=0.0).fit(X, y), "ccp_alphas_")


def test_more_values_than_bins_still_predict_well() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    coarse = DecisionTreeClassifier(max_bins=16).fit(X, y)
    assert len(np.unique(coarse.node_threshold_[coarse.node_feature_ == 0])) <= 15
    assert coarse.score(X, y) > 0.9


# Errors.

ROWS, LABELS = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_depth": 0}, "max_depth must be an integer >= 1 or None; got 0"),
        ({"max_bins": 1}, "max_bins must be an integer in [2, 65535]; got 1"),
        ({"max_bins": 65536}, "max_bins must be an integer in [2, 65535]; got 65536"),
        (
            {"min_samples_split": 1},
            "min_samples_split must be an integer >= 2 or a number in (0, 1]; got 1",
        ),
        (
            {"min_samples_leaf": 0.0},
            "min_samples_leaf must be an integer >= 1 or a number in (0, 1]; got 0.0",
        ),
        (
            {"max_features": 1.5},
            "max_features must be an integer >= 1, a number in (0, 1], 'sqrt', 'log2' or None; "
            "got 1.5",
        ),
        ({"ccp_alpha": -1.0}, "ccp_alpha must be a number >= 0 or 'cv'; got -1.0"),
        (
            {"criterion": "squared_error"},
            "criterion must be 'gini', 'entropy', 'log_loss' or 'error'; got 'squared_error'",
        ),
        ({"prune": "chi2", "ccp_alpha": 0.1}, "ccp_alpha must be 0.0 with prune='chi2'; got 0.1"),
        (
            {"missing": "fractional", "splitter": "random"},
            "missing='fractional' does not support splitter='random'",
        ),
        (
            {"class_weight": {0: -1.0}},
            "class_weight must hold finite numbers that are not negative; got {0: -1.0}",
        ),
        ({"entropy_base": 10}, "entropy_base must be 2 or 'e'; got 10"),
        ({"ccp_alpha": "cv"}, "n_folds must be at most the number of rows (4); got 10"),
        (
            {"prune": "reduced_error", "validation_fraction": 0.1},
            "validation_fraction must leave rows on both sides; got 0.1 for 4 rows",
        ),
        (
            {"monotonic_cst": [2]},
            "monotonic_cst must hold -1, 0 or 1 for each column; got [2]",
        ),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        DecisionTreeClassifier(**params).fit(ROWS, LABELS)
    assert str(caught.value) == message


def test_constraint_needs_one_sign_per_column() -> None:
    with pytest.raises(ParameterError, match="monotonic_cst must hold -1, 0 or 1 for each of 1"):
        DecisionTreeClassifier(monotonic_cst=[1, 0]).fit(ROWS, LABELS)
    with pytest.raises(ParameterError, match="monotonic_cst needs two classes"):
        DecisionTreeClassifier(monotonic_cst=[1]).fit(ROWS, [0, 1, 2, 0])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1, -1, 1], "sample_weight must be finite and not negative; got -1.0 in row 2"),
        ([0, 0, 0, 0], "sample_weight is zero in every row: no row is left to learn from"),
    ],
)
def test_wrong_weights_are_refused(weight: list[float], message: str) -> None:
    with pytest.raises(DataError) as caught:
        DecisionTreeClassifier().fit(ROWS, LABELS, sample_weight=weight)
    assert str(caught.value) == message


def test_class_weights_may_not_remove_every_row() -> None:
    with pytest.raises(DataError, match="class_weight gives no row a weight above 0"):
        DecisionTreeClassifier(class_weight={0: 0.0, 1: 0.0}).fit(ROWS, LABELS)


def test_wrong_tables_are_refused() -> None:
    with pytest.raises(DataError, match="infinity or a value too large for float64 in row 1"):
        DecisionTreeClassifier().fit([[0.0], [np.inf]], [0, 1])
    model = DecisionTreeClassifier().fit(ROWS, LABELS)
    with pytest.raises(DataError, match="X has 2 features"):
        model.predict([[0.0, 1.0]])
    with pytest.raises(DataError, match="infinity"):
        model.predict([[-np.inf]])
    with pytest.raises(DataError, match="criterion='poisson' needs targets that are not negative"):
        DecisionTreeRegressor(criterion="poisson").fit(ROWS, [-1.0, 0.0, 1.0, 2.0])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("node_left_", np.array([0x7FFFFFF0, 0, 0], np.int32), "the model is damaged"),
        ("node_left_", np.array([1, 1, 0], np.int32), "the model is damaged"),
        ("node_feature_", np.array([9, -1, -1], np.int32), "the model is damaged"),
        ("node_slot_", np.array([-1, 77, 2], np.int32), "the model is damaged"),
        ("node_weight_", np.array([1.0, np.nan, 2.0]), "node_weight_ has values that are not"),
        ("tree_start_", np.array([0, 1, 3]), "the model is damaged"),
        ("max_features_", 0, "max_features_ is 0 and must be an integer in"),
        ("n_classes_", 3, "n_classes_ is 3 and must be an integer in"),
    ],
)
def test_damaged_trees_are_refused(name: str, value: Any, message: str) -> None:
    model = DecisionTreeClassifier().fit(ROWS, LABELS)
    assert model.tree_.node_count == 3
    with pytest.raises(DataError, match=message):
        DecisionTreeClassifier.from_state({}, {**model.state(), name: value})


@pytest.mark.parametrize("is_class", [False, True])
def test_tables_above_and_below_65536_rows_give_the_same_tree(is_class: bool) -> None:
    """Lists of sorted rows have two widths; twice the rows are the rows of weight 2."""
    random = np.random.default_rng(0)
    rows = 40_000
    X = np.column_stack([random.integers(0, 3, rows), random.integers(0, 3000, (rows, 2))])
    X = X.astype(np.float64)
    X[::9, 1] = np.nan
    y = (X[:, 2] // 500 + X[:, 0] + random.integers(0, 4, rows)).astype(np.int64)
    kind: Any = DecisionTreeClassifier if is_class else DecisionTreeRegressor
    model = kind(categorical_features=[0], max_depth=7)
    once = clone(model).fit(X, y, sample_weight=np.full(rows, 2.0)).tree_
    twice = clone(model).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2)).tree_
    np.testing.assert_array_equal(once.feature, twice.feature)
    np.testing.assert_array_equal(once.threshold, twice.threshold)
    np.testing.assert_array_equal(once.weighted_n_node_samples, twice.weighted_n_node_samples)
    np.testing.assert_array_equal(2 * once.n_node_samples, twice.n_node_samples)
    np.testing.assert_allclose(once.value, twice.value, rtol=1e-12)

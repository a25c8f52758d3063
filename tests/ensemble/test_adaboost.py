"""AdaBoost: scikit-learn's numbers, three formulations, one bound, any learner."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from assay.base import DataError, ParameterError
from assay.ensemble import AdaBoostClassifier
from assay.select import Family, assert_path_equals_single_fits
from assay.tree import DecisionTreeClassifier
from tests.along import fits_along

EXACT = 65535


class OtherTree(DecisionTreeClassifier):
    """A tree that the core does not know: it is boosted as any learner is."""


def table(
    seed: int, n: int = 300, n_classes: int = 2, *, missing: float = 0.0, nominal: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, y = make_classification(
        n,
        6,
        n_informative=4,
        n_redundant=0,
        n_classes=n_classes,
        flip_y=0.1,
        random_state=seed,
    )
    X = X.round(1)
    random = np.random.default_rng(seed)
    if nominal:
        X[:, 1] = (np.abs(X[:, 1]) * 3).astype(int) % 6
        X[:, 4] = random.integers(0, 12, n)
    X[random.random(X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_stumps_equal_scikit_learns(load: Any, rate: float) -> None:
    X, y = load(return_X_y=True)
    X = X.astype(np.float32).astype(np.float64)  # scikit-learn's trees see float32
    ours = AdaBoostClassifier(n_estimators=25, learning_rate=rate, max_bins=EXACT).fit(X, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(n_estimators=25, learning_rate=rate).fit(X, y)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    for method in ("decision_function", "predict_proba", "predict"):
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), atol=1e-9)
    stages = zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True)
    assert all(np.array_equal(a, b) for a, b in stages)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("kind", ["plain", "missing", "nominal", "weighted"])
def test_core_gives_the_model_of_single_trees(n_classes: int, depth: int, kind: str) -> None:
    missing = 0.0 if kind == "plain" else 0.1
    X, y = table(1, 300, n_classes, missing=missing, nominal=kind == "nominal")
    weight = np.random.default_rng(0).integers(0, 4, 300) if kind == "weighted" else None
    shared: dict[str, Any] = {
        "n_estimators": 8,
        "random_state": 3,
        "categorical_features": [1, 4] if kind == "nominal" else None,
    }
    fast = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), **shared)
    slow = AdaBoostClassifier(OtherTree(max_depth=depth), **shared)
    fast.fit(X, y, weight)
    slow.fit(X, y, weight)
    assert not hasattr(fast, "estimators_")
    assert len(slow.estimators_) == len(slow.estimator_weights_)
    np.testing.assert_allclose(fast.estimator_errors_, slow.estimator_errors_, atol=1e-9)
    np.testing.assert_allclose(fast.decision_function(X), slow.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(fast.feature_importances_, slow.feature_importances_, atol=1e-6)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
@pytest.mark.parametrize("features", [None, 2])
def test_core_follows_the_parameters_of_the_tree(criterion: str, features: int | None) -> None:
    X, y = table(2)
    shared: dict[str, Any] = {"criterion": criterion, "max_features": features}
    for depth in (1, 3):
        fast = AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=depth, **shared), n_estimators=6, random_state=5
        ).fit(X, y)
        slow = AdaBoostClassifier(
            OtherTree(max_depth=depth, **shared), n_estimators=6, random_state=5
        ).fit(X, y)
        np.testing.assert_allclose(fast.estimator_errors_, slow.estimator_errors_, atol=1e-9)


def distributions(
    model: AdaBoostClassifier, X: NDArray[Any], y: NDArray[Any], kind: str
) -> list[NDArray[np.float64]]:
    """The weights of the rows after each round, by the text of each formulation."""
    weight = np.full(len(y), 1 / len(y))
    found = []
    for t in range(len(model.estimator_weights_)):
        said = model.estimators_[t].predict(X)
        wrong = said != y
        error = weight[wrong].sum() / weight.sum()
        assert error == pytest.approx(model.estimator_errors_[t], abs=1e-12)
        if kind == "discrete":  # F9
            alpha = np.log((1 - error) / error)
            weight = weight * np.exp(alpha * wrong)
        elif kind == "aima":  # F10
            alpha = np.log((1 - error) / error) / 2
            weight = np.where(wrong, weight, weight * error / (1 - error))
        else:  # F11
            alpha = np.log((1 - error) / error) / 2
            sign = np.where(wrong, -1, 1)
            weight = weight * np.exp(-alpha * sign)
        assert alpha == pytest.approx(model.estimator_weights_[t], abs=1e-12)
        weight = weight / weight.sum()
        found.append(weight)
    return found


def test_formulations_give_the_same_distributions_and_signs() -> None:
    X, y = table(3)
    models = {
        kind: AdaBoostClassifier(OtherTree(max_depth=1), n_estimators=10, formulation=kind).fit(
            X, y
        )
        for kind in ("discrete", "aima", "symmetric")
    }
    weights = {kind: distributions(model, X, y, kind) for kind, model in models.items()}
    for kind in ("aima", "symmetric"):
        np.testing.assert_allclose(weights[kind], weights["discrete"], rtol=1e-9)
        np.testing.assert_array_equal(models[kind].predict(X), models["discrete"].predict(X))
        np.testing.assert_allclose(
            2 * models[kind].estimator_weights_, models["discrete"].estimator_weights_
        )
        assert models[kind].error_bound_ == pytest.approx(models["discrete"].error_bound_)
        fast = AdaBoostClassifier(n_estimators=10, formulation=kind).fit(X, y)
        np.testing.assert_allclose(fast.estimator_weights_, models[kind].estimator_weights_)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rate", [0.3, 1.0])
@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_training_error_is_below_the_bound(n_classes: int, rate: float, seed: int) -> None:
    X, y = table(seed, 120, n_classes)
    weight = np.random.default_rng(seed).random(120)
    model = AdaBoostClassifier(n_estimators=12, learning_rate=rate).fit(X, y, weight)
    error = np.average(model.predict(X) != y, weights=weight)
    assert error <= model.error_bound_ + 1e-12
    if n_classes == 2 and rate == 1.0:
        e = model.estimator_errors_
        assert model.error_bound_ == pytest.approx(np.prod(2 * np.sqrt(e * (1 - e))))


@pytest.mark.parametrize("learner", [GaussianNB(), LogisticRegression(), OtherTree(max_depth=2)])
def test_learners_with_weights_equal_scikit_learns(learner: Any) -> None:
    X, y = table(4)
    ours = AdaBoostClassifier(learner, n_estimators=8).fit(X, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(learner, n_estimators=8).fit(X, y)
    n = len(ours.estimator_weights_)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:n], rtol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)


def test_learners_without_weights_see_rows_drawn_by_weight() -> None:
    X, y = table(5)
    model = AdaBoostClassifier(KNeighborsClassifier(3), n_estimators=5, random_state=0).fit(X, y)
    again = AdaBoostClassifier(KNeighborsClassifier(3), n_estimators=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    assert model.score(X, y) > 0.8
    with pytest.raises(AttributeError, match="KNeighborsClassifier has no feature_importances_"):
        _ = model.feature_importances_


@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier(max_depth=2), GaussianNB()])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_path_equals_single_fits(learner: Any, n_classes: int) -> None:
    X, y = table(6, 150, n_classes, missing=0.0 if isinstance(learner, GaussianNB) else 0.1)
    grid = [
        {"n_estimators": n, "learning_rate": rate}
        for n, rate in itertools.product([1, 4, 9], [0.5, 1.0])
    ] + [{"n_estimators": 5, "formulation": "aima"}]
    family = Family("adaboost", AdaBoostClassifier(learner, random_state=0), grid)
    weight = np.random.default_rng(1).random(150)
    assert_path_equals_single_fits(family, X, y, weight=weight)
    assert AdaBoostClassifier.assay_path.n_fits(grid) == 3


def test_path_holds_the_stages_asked_for_only() -> None:
    X, y = table(3, 20_000, 3)
    half = np.arange(10_000)
    path, grid = AdaBoostClassifier.assay_path, [{"n_estimators": 5}, {"n_estimators": 200}]
    tracemalloc.start()
    list(fits_along(path)(AdaBoostClassifier(), None, X, y, None, half, [half + 10_000], grid))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * 200 * 10_000 * 3 * 8  # half of what all 200 stages take


def test_missing_and_nominal_columns_of_a_frame() -> None:
    frame = pd.DataFrame(
        {"colour": ["red", "blue", None, "red", "green", "blue"] * 5, "x": np.arange(30.0)}
    )
    frame.loc[3, "x"] = np.nan
    y = (frame["colour"] == "blue").to_numpy()
    model = AdaBoostClassifier(n_estimators=5).fit(frame, y)
    assert model.score(frame, y) == 1.0
    unseen = pd.DataFrame({"colour": ["violet"], "x": [1.0]})
    assert model.predict(unseen).tolist() == [False]
    with pytest.raises(DataError, match="LogisticRegression takes no nominal columns; X has 1"):
        AdaBoostClassifier(LogisticRegression()).fit(frame, y)


def test_weights_count_as_repeated_rows() -> None:
    X, y = table(7, 120)
    counts = np.random.default_rng(2).integers(0, 4, 120)
    weighted = AdaBoostClassifier(n_estimators=10).fit(X, y, counts)
    repeated = AdaBoostClassifier(n_estimators=10).fit(
        np.repeat(X, counts, 0), np.repeat(y, counts)
    )
    np.testing.assert_allclose(weighted.estimator_errors_, repeated.estimator_errors_, atol=1e-12)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X))


def test_result_is_independent_of_n_jobs() -> None:
    X, y = table(8, 2000, 3, missing=0.05)
    for learner in (None, DecisionTreeClassifier(max_depth=3)):
        one = AdaBoostClassifier(learner, n_estimators=10, random_state=0).fit(X, y)
        two = AdaBoostClassifier(learner, n_estimators=10, random_state=0, n_jobs=2).fit(X, y)
        for name, value in one.state().items():
            np.testing.assert_array_equal(value, two.state()[name], err_msg=name)
        np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize(
    "learner", [None, DecisionTreeClassifier(max_depth=2), LogisticRegression()]
)
def test_fewer_learners_are_the_first_of_more(learner: Any) -> None:
    X, y = table(9, 200, 3)
    longer = AdaBoostClassifier(learner, n_estimators=9, random_state=0).fit(X, y)
    stages = list(longer.staged_predict_proba(X))
    for n in (1, 4, len(stages)):
        alone = AdaBoostClassifier(learner, n_estimators=n, random_state=0).fit(X, y)
        np.testing.assert_array_equal(alone.predict_proba(X), stages[n - 1])
        assert list(longer.staged_score(X, y))[n - 1] == alone.score(X, y)


def test_a_learner_without_error_ends_boosting() -> None:
    X = np.arange(10.0)[:, None]
    y = (X[:, 0] > 4).astype(int)
    for learner in (None, OtherTree(max_depth=1)):
        model = AdaBoostClassifier(learner, n_estimators=20).fit(X, y)
        assert model.estimator_errors_.tolist() == [0.0]
        assert np.isfinite(model.estimator_weights_).all()
        assert model.score(X, y) == 1.0
        assert model.error_bound_ < 1e-7


def test_a_first_learner_no_better_than_guessing_stays_alone() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, dtype=float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    for learner in (None, OtherTree(max_depth=1)):
        model = AdaBoostClassifier(learner, n_estimators=20).fit(X, y)
        assert model.estimator_errors_.tolist() == pytest.approx([0.5])
        assert model.estimator_weights_.tolist() == [1.0]
    deeper = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2)).fit(X, y)
    assert deeper.score(X, y) == 1.0


def test_constant_columns_and_one_class() -> None:
    X = np.zeros((6, 2))
    majority = AdaBoostClassifier().fit(X, [0, 0, 0, 0, 1, 1])
    assert majority.predict(X).tolist() == [0] * 6
    assert majority.feature_importances_.tolist() == [0.0, 0.0]
    for learner in (None, GaussianNB()):
        rows = np.arange(12.0).reshape(6, 2)
        single = AdaBoostClassifier(learner).fit(rows, ["a"] * 6)
        assert single.predict(rows).tolist() == ["a"] * 6
        assert single.predict_proba(rows).tolist() == [[1.0]] * 6


@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier(max_depth=2), GaussianNB()])
def test_state_restores_the_model(learner: Any) -> None:
    X, y = table(10, 100, 3)
    model = AdaBoostClassifier(learner, n_estimators=4).fit(X, y)
    back = AdaBoostClassifier.from_state(model.get_params(deep=False), model.state())
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("estimator_weights_", lambda a: -a, "estimator_weights_ has values below 0"),
        ("estimator_weights_", lambda a: a * 0, "has no positive weight"),
        ("estimator_weights_", lambda a: a[:-1], "estimator_errors_ has shape"),
        ("estimator_errors_", lambda a: a + 2, "estimator_errors_ has values outside"),
        ("node_left_", lambda a: a + 5, "node_left_ has a child"),
        ("tree_importance_", lambda a: a[:, 1:], "tree_importance_ has shape"),
        ("leaf_value_", lambda a: a[:, 1:].copy(), "leaf_value_ has shape"),
    ],
)
def test_state_that_is_damaged_is_refused(name: str, damage: Any, message: str) -> None:
    X, y = table(11, 100)
    model = AdaBoostClassifier(n_estimators=4).fit(X, y)
    state = {**model.state(), name: damage(getattr(model, name))}
    with pytest.raises(DataError, match=message):
        AdaBoostClassifier.from_state({}, state)


def test_refitting_with_another_kind_of_learner_leaves_nothing_behind() -> None:
    X, y = table(12, 100)
    model = AdaBoostClassifier(GaussianNB(), n_estimators=3).fit(X, y)
    model.set_params(estimator=None).fit(X, y)
    fresh = AdaBoostClassifier(n_estimators=3).fit(X, y)
    assert model.state().keys() == fresh.state().keys()
    model.set_params(estimator=GaussianNB()).fit(X, y)
    clean = clone(model).fit(X, y)
    assert vars(model).keys() == vars(clean).keys()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be an integer >= 1; got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be .*; got 0.0"),
        ({"formulation": "aimo"}, "formulation must be .*; got 'aimo'; did you mean 'aima'"),
        ({"max_bins": 1}, r"max_bins must be an integer in \[2, 65535\]; got 1"),
        ({"estimator": 3}, "estimator must be a classifier; got 3"),
        ({"random_state": "x"}, "random_state must be"),
        ({"estimator": DecisionTreeClassifier(max_depth=0)}, "max_depth must be"),
    ],
)
def test_parameters_out_of_range_are_named(params: dict[str, Any], message: str) -> None:
    X, y = table(13, 50)
    with pytest.raises(ParameterError, match=message):
        AdaBoostClassifier(**params).fit(X, y)

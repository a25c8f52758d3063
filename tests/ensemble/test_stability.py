"""Stability: what the bootstrap moves, counted by hand, and in the order that theory asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from assay.base import DataError, ParameterError
from assay.ensemble import stability
from assay.neighbors import KNeighborsClassifier, KNeighborsRegressor
from assay.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.ensemble.learners import NotesWeights

IRIS, SPECIES = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
Y = X[:, 0] + RNG.normal(size=120)
NEW = RNG.normal(size=(30, 2))
LOGISTIC = LogisticRegression(solver="newton-cholesky")


def test_mean_moves_as_theory_says() -> None:
    found = stability(DummyRegressor(), X, Y, X_test=NEW, n_bootstrap=400, random_state=0)
    theory = Y.var() / len(Y)  # variance of the mean of n draws
    assert found.moved.low < theory < found.moved.high
    np.testing.assert_allclose(found.per_row, found.moved.value)
    np.testing.assert_allclose(found.relative, found.moved.value / Y.var())
    assert found.test_rows is None


def test_values_average_to_the_variance_of_the_predictions() -> None:
    found = stability(LinearRegression(), X, Y, X_test=NEW, n_bootstrap=20, random_state=0)
    np.testing.assert_allclose(found.values.mean(), found.moved.value)
    np.testing.assert_allclose(found.per_row.mean(), found.moved.value)
    assert len(found.values) == 20
    assert len(found.per_row) == 30
    half = (found.moved.high - found.moved.low) / 2
    np.testing.assert_allclose(half, 2.093024 * found.values.std(ddof=1) / np.sqrt(20), rtol=1e-6)


def test_variance_is_unbiased_with_two_samples_too() -> None:
    found = [
        stability(DummyRegressor(), X, Y, X_test=NEW, n_bootstrap=2, random_state=seed).moved.value
        for seed in range(300)
    ]
    assert abs(np.mean(found) / (Y.var() / len(Y)) - 1) < 0.25


def test_linear_model_moves_as_theory_says() -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(400, 3))
    noise = rng.normal(size=400)
    y = rows @ [1.0, 2.0, 3.0] + noise
    new = rng.normal(size=(200, 3))
    found = stability(LinearRegression(), rows, y, X_test=new, n_bootstrap=200, random_state=0)
    design, query = np.c_[np.ones(400), rows], np.c_[np.ones(200), new]
    gram = np.linalg.inv(design.T @ design)
    theory = (query @ gram * query).sum(axis=1).mean()
    assert abs(found.moved.value / theory - 1) < 0.2


def test_constant_classifier_never_moves() -> None:
    found = stability(DummyClassifier(strategy="constant", constant="setosa"), IRIS, WORDS)
    assert found.moved.value == found.moved.low == found.moved.high == found.relative == 0.0
    assert not found.per_row.any()


def test_deep_trees_move_more_than_smooth_learners() -> None:
    order: list[Any] = [
        LOGISTIC,
        KNeighborsClassifier(25),
        DecisionTreeClassifier(random_state=0),
    ]
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(300, 4))
    labels = (rows[:, 0] + rng.normal(size=300) > 0).astype(int)
    moved = [stability(m, rows, labels, n_bootstrap=30, random_state=0) for m in order]
    assert moved[0].moved.high < moved[2].moved.low
    assert moved[1].moved.high < moved[2].moved.low
    assert all(found.moved.low <= found.moved.value <= found.moved.high for found in moved)
    values = [
        stability(m, X, Y, random_state=0).relative
        for m in (KNeighborsRegressor(30), DecisionTreeRegressor(random_state=0))
    ]
    assert values[0] < values[1] / 3


def test_rows_set_aside_are_a_quarter_of_every_class() -> None:
    found = stability(DecisionTreeClassifier(), IRIS, WORDS, n_bootstrap=3, random_state=0)
    assert found.test_rows is not None
    assert np.bincount(SPECIES[found.test_rows]).tolist() == [12, 12, 12]
    assert len(found.per_row) == 36


def test_random_state_decides_everything_and_threads_nothing() -> None:
    learner = DecisionTreeClassifier(splitter="random", max_features=1)
    one = stability(learner, IRIS, WORDS, n_bootstrap=8, random_state=3)
    two = stability(learner, IRIS, WORDS, n_bootstrap=8, random_state=3, n_jobs=2)
    other = stability(learner, IRIS, WORDS, n_bootstrap=8, random_state=4)
    assert one.values.tolist() == two.values.tolist()
    assert one.values.tolist() != other.values.tolist()


def test_labels_and_frames_of_any_kind_give_the_same_numbers() -> None:
    learner = DecisionTreeClassifier(random_state=0)
    numbers = stability(learner, IRIS, SPECIES, n_bootstrap=5, random_state=0)
    frame = pd.DataFrame(IRIS, columns=list("abcd"))
    words = stability(learner, frame, pd.Series(WORDS), n_bootstrap=5, random_state=0)
    assert numbers.values.tolist() == words.values.tolist()


def test_sample_with_one_class_is_no_error() -> None:
    labels = np.array(["a"] * 38 + ["b"] * 2)
    found = stability(LOGISTIC, X[:40], labels, X_test=NEW, random_state=0)
    assert np.isfinite(found.values).all()


def test_weights_follow_the_rows_drawn() -> None:
    weight = np.where(Y > 0, 1.0, 1e-9)
    found = stability(NotesWeights(), X, Y, X_test=NEW, sample_weight=weight, random_state=0)
    positive = Y[Y > 0]
    assert found.moved.value < 2 * positive.var() / len(positive)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_bootstrap": 1}, "n_bootstrap must be an integer >= 2; got 1"),
        ({"level": 95}, "level must be a number in (0, 1); got 95"),
        (
            {"random_state": "x"},
            "random_state must be None, an integer in [0, 2**32) or a RandomState; got 'x'",
        ),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0; got 0"),
    ],
)
def test_wrong_parameters_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        stability(LinearRegression(), X, Y, **arguments)
    assert str(caught.value) == message


def test_wrong_data_are_named() -> None:
    with pytest.raises(ParameterError, match=r"estimator must be a classifier or a regressor; go"):
        stability(KMeans(), X, Y)
    with pytest.raises(DataError, match="X has 120 rows but y has 7; each needs one target"):
        stability(LinearRegression(), X, Y[:7])
    with pytest.raises(DataError, match=r"X must be a table with rows and columns; got shape \(12"):
        stability(LinearRegression(), Y, Y)

"""Decisions of least expected cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.metrics import mean_absolute_error, mean_squared_error, zero_one_loss
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from assay.base import DataError, ParameterError, Predicted
from assay.evaluate import (
    CostMatrix,
    CostScorer,
    cost_metric,
    decide,
    empirical_loss,
    expected_cost,
)

Floats = NDArray[np.float64]
shares = st.integers(2, 5).flatmap(
    lambda k: arrays.arrays(np.float64, (6, k), elements=st.floats(0.01, 1))
)


def costs(k: int, seed: int) -> Floats:
    return np.random.default_rng(seed).integers(1, 20, (k, k)) * (1 - np.eye(k))


@given(weights=shares, seed=st.integers(0, 99))
def test_decision_is_the_least_of_all_sums(weights: Floats, seed: int) -> None:
    p = weights / weights.sum(axis=1, keepdims=True)
    k = p.shape[1]
    cost = costs(k, seed)
    sums = np.array(
        [[sum(row[j] * cost[j, said] for j in range(k)) for said in range(k)] for row in p]
    )
    np.testing.assert_allclose(expected_cost(p, cost), sums, rtol=1e-12)
    chosen = sums[np.arange(len(p)), decide(p, cost)]
    np.testing.assert_allclose(chosen, sums.min(axis=1), rtol=1e-12)


@given(weights=shares, seed=st.integers(0, 99))
def test_costs_per_row_are_those_of_each_row_alone(weights: Floats, seed: int) -> None:
    k = weights.shape[1]
    each = np.stack([costs(k, seed + row) for row in range(len(weights))])
    alone = [decide(weights[row : row + 1], each[row])[0] for row in range(len(weights))]
    assert decide(weights, each).tolist() == alone


@given(
    p=st.floats(0, 1),
    miss=st.integers(1, 100),
    alarm=st.integers(1, 100),
    right=st.integers(-5, 0),
)
def test_two_classes_have_the_threshold_of_the_formula(
    p: float, miss: int, alarm: int, right: int
) -> None:
    cost = [[right, alarm], [miss, 0]]
    threshold = (alarm - right) / (alarm - right + miss)
    if abs(p - threshold) > 1e-9:
        assert decide([[1 - p, p]], cost).tolist() == [int(p > threshold)]


@pytest.mark.parametrize(
    ("cost", "threshold"),
    # L(spam, nospam) = 1, L(nospam, spam) = 10: throw away what is spam for sure; and the reverse.
    [({("nospam", "spam"): 10}, 10 / 11), ({("spam", "nospam"): 10}, 1 / 11)],
)
def test_spam_example_has_its_threshold(cost: dict[Any, float], threshold: float) -> None:
    matrix = CostMatrix.of(cost, ["nospam", "spam"])
    p = np.linspace(0, 1, 1001)
    said = decide(np.column_stack([1 - p, p]), matrix)
    assert p[said == 1].min() == pytest.approx(threshold, abs=1e-3)
    np.testing.assert_array_equal(said, p > threshold)


@given(weights=shares)
def test_equal_costs_choose_the_most_probable_class(weights: Floats) -> None:
    said = decide(weights, 1 - np.eye(weights.shape[1]))
    top = weights[np.arange(len(weights)), said]
    np.testing.assert_allclose(top, weights.max(axis=1), rtol=1e-12)


@given(weights=shares, seed=st.integers(0, 99), factor=st.sampled_from([0.5, 2.0, 8.0]))
def test_scale_of_costs_does_not_matter(weights: Floats, seed: int, factor: float) -> None:
    cost = costs(weights.shape[1], seed)
    assert decide(weights, cost).tolist() == decide(weights, factor * cost).tolist()


def test_equal_sums_go_to_the_more_probable_then_to_the_first() -> None:
    assert decide([[0.25, 0.75]], [[0, 3], [1, 0]]).tolist() == [1]
    assert decide([[0.75, 0.25]], [[0, 1], [3, 0]]).tolist() == [0]
    assert decide([[0.5, 0.5]], [[0, 1], [1, 0]]).tolist() == [0]


def test_row_alone_is_decided_as_among_others() -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(7), 500)
    cost = np.random.default_rng(1).uniform(1, 9, (7, 7)) * (1 - np.eye(7))
    together = expected_cost(p, cost)
    alone = np.vstack([expected_cost(p[at : at + 1], cost) for at in range(500)])
    np.testing.assert_array_equal(together, alone)


def test_metric_is_the_mean_cost_with_and_without_weights() -> None:
    matrix = CostMatrix.of("a,b=10;b,a=3", ["a", "b"])
    metric = cost_metric(matrix)
    truth, said = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 0])
    assert metric.natural(metric.score(truth, Predicted(label=said))) == pytest.approx(16 / 5)
    weight = np.array([1.0, 2.0, 0.0, 1.0, 1.0])
    weighted = metric.score(truth, Predicted(label=said), weight=weight)
    assert metric.natural(weighted) == pytest.approx(23 / 5)
    assert (metric.name, metric.greater_is_better) == ("cost", False)
    assert (metric.low, metric.high) == (0, 10)


def test_scorer_serves_a_grid_search() -> None:
    X, y = load_iris(return_X_y=True)
    matrix = CostMatrix.of({(2, 1): 10}, [0, 1, 2])
    grid = {"var_smoothing": [1e-9, 10.0]}
    search = GridSearchCV(GaussianNB(), grid, scoring=CostScorer(matrix)).fit(X, y)
    assert search.best_params_ == {"var_smoothing": 1e-9}
    model = GaussianNB().fit(X, y)
    said = decide(model.predict_proba(X), matrix)
    assert CostScorer(matrix)(model, X, y) == pytest.approx(-matrix.values[y, said].mean())


@pytest.mark.parametrize(
    ("loss", "peer"),
    [
        ("absolute", mean_absolute_error),
        ("squared", mean_squared_error),
        ("zero_one", zero_one_loss),
    ],
)
@given(data=st.data())
def test_empirical_loss_matches_scikit_learn(loss: str, peer: Any, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    truth, said = (data.draw(arrays.arrays(np.int64, n, elements=st.integers(-3, 3))) for _ in "ab")
    weight = data.draw(arrays.arrays(np.float64, n, elements=st.floats(0.1, 2)))
    assert empirical_loss(truth, said, loss) == pytest.approx(peer(truth, said))
    expected = peer(truth, said, sample_weight=weight)
    assert empirical_loss(truth, said, loss, weight) == pytest.approx(expected)


def test_labels_have_a_zero_one_loss() -> None:
    assert empirical_loss(["a", "b"], ["a", "a"], "zero_one") == 0.5
    with pytest.raises(DataError, match="loss 'squared' needs numbers; use 'zero_one' for labels"):
        empirical_loss(["a", "b"], ["a", "a"], "squared")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: decide([0.5, 0.5], np.eye(2)),
            DataError,
            "probability must have shape (n_rows, n_classes); got (2,)",
        ),
        (
            lambda: decide([[0.5, -0.5]], np.eye(2)),
            DataError,
            "probability must hold finite numbers that are not negative",
        ),
        (
            lambda: decide([[0.5, 0.5]], np.eye(3)),
            DataError,
            "cost must have shape (2, 2), or (1, 2, 2) for one matrix per row; got (3, 3)",
        ),
        (
            lambda: decide([[0.5, 0.5]], np.array([[0, np.nan], [1, 0]])),
            ParameterError,
            "cost must hold finite numbers only; got a value that is not",
        ),
        (
            lambda: empirical_loss([1.0], [1.0, 2.0]),
            DataError,
            "truth and predicted must have the same shape (n_samples,), at least one row; "
            "got (1,) and (2,)",
        ),
        (
            lambda: empirical_loss([1.0], [1.0], "l1"),
            ParameterError,
            "loss must be 'absolute', 'squared' or 'zero_one'; got 'l1'",
        ),
    ],
)
def test_wrong_arguments_are_named(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message

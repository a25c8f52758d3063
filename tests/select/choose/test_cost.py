"""A search that minimises what mistakes cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from assay.base import DataError, ParameterError
from assay.evaluate import CostMatrix, decide
from assay.select import Family, Ledger
from tests.select.asked import search

X, Y = make_classification(200, 6, flip_y=0.2, weights=[0.7], random_state=0)
BAYES = Family("bayes", GaussianNB(), [{"var_smoothing": v} for v in (1e-9, 1e-1, 10.0)])
COST = [[0.0, 10.0], [1.0, 0.0]]


def test_decisions_are_those_of_least_expected_cost_and_the_score_is_their_mean() -> None:
    outcome = search(X, Y, [BAYES], task="binary", cost=COST)
    outer = outcome.outer
    assert outer.label is not None
    assert outer.probability is not None
    np.testing.assert_array_equal(outer.label, decide(outer.probability, COST))
    paid = np.array(COST)[Y[outer.row], outer.label]
    blocks = [paid[outer.block == block].mean() for block in np.unique(outer.block)]
    assert outcome.plain is not None
    assert outcome.plain.value == pytest.approx(np.mean(blocks))
    assert outcome.metric.name == "cost"
    assert outcome.score.low >= 0


def test_leaderboard_is_sorted_by_cost() -> None:
    outcome = search(X, Y, [BAYES], task="binary", cost=COST)
    scores = [row.score for row in outcome.leaderboard]
    assert scores == sorted(scores, key=lambda score: -1.0 if score is None else score)
    assert outcome.chosen.score == scores[0]


def test_costs_change_what_is_decided_not_what_is_fitted() -> None:
    with Ledger() as ledger:
        one = [Family("bayes", GaussianNB())]
        first = search(X, Y, one, task="binary", cost=COST, ledger=ledger)
        units = len(ledger)
        second = search(X, Y, one, task="binary", cost=[[0, 1], [10, 0]], ledger=ledger)
        assert len(ledger) == units
    assert first.outer.label is not None
    assert second.outer.label is not None
    assert first.outer.label.mean() < Y.mean() < second.outer.label.mean()


def test_equal_costs_are_the_error_rate() -> None:
    equal = search(X, Y, [BAYES], task="binary", cost={})
    accuracy = search(X, Y, [BAYES], task="binary", metric="accuracy")
    assert equal.score.value == pytest.approx(1 - accuracy.score.value)
    assert equal.chosen.params == accuracy.chosen.params


@pytest.mark.parametrize("repeats", [1, 2])
def test_positive_class_does_not_matter(repeats: int) -> None:
    one, two = (
        search(X, Y, [BAYES], task="binary", cost=COST, positive=positive, repeats=repeats)
        for positive in (0, 1)
    )
    assert one.score == two.score
    assert one.quick == two.quick
    assert one.baseline == two.baseline


def test_names_of_the_classes_are_those_of_the_costs() -> None:
    named = search(X, Y, [BAYES], task="binary", classes=["ham", "spam"], cost="ham,spam=10")
    assert named.score == search(X, Y, [BAYES], task="binary", cost=COST).score
    assert isinstance(named.cost, CostMatrix)
    assert named.cost.classes == ("ham", "spam")


def test_baseline_is_the_cheapest_constant() -> None:
    # The rarer class, since to miss it is dear.
    outcome = search(X, Y, [BAYES], task="binary", cost=[[0, 1], [10, 0]])
    assert outcome.baseline.name == "always the class that costs the least"
    assert outcome.baseline.score.value == pytest.approx((Y == 0).mean(), abs=0.01)


def test_weights_count_in_the_cost() -> None:
    weight = np.where(Y == 1, 3.0, 1.0)
    outcome = search(X, Y, [BAYES], task="binary", cost=COST, weight=weight)
    outer = outcome.outer
    paid, share = np.array(COST)[Y[outer.row], outer.label], weight[outer.row]
    blocks = [
        np.average(paid[at], weights=share[at])
        for at in (outer.block == block for block in np.unique(outer.block))
    ]
    assert outcome.plain is not None
    assert outcome.plain.value == pytest.approx(np.mean(blocks))


def test_model_without_probabilities_cannot_decide() -> None:
    margin = Family("margin", LinearSVC(random_state=0))
    outcome = search(X, Y, [BAYES, margin], task="binary", cost=COST)
    why = {row.family: row.failed for row in outcome.leaderboard if row.rank is None}
    text = "no score: ValueError: the cost needs probabilities, and the model gives none"
    assert why == {"margin": text}
    with pytest.raises(DataError, match="the cost needs probabilities"):
        search(X, Y, [margin], task="binary", cost=COST)


def test_many_classes_and_a_holdout_work_too() -> None:
    X3, y3 = make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)
    family = Family("logistic", LogisticRegression(solver="newton-cholesky"))
    for plan in ("pair-out", "holdout"):
        outcome = search(X3, y3, [family], task="multiclass", cost={(2, 0): 20}, plan=plan)
        outer = outcome.outer
        assert outer.label is not None
        assert outer.probability is not None
        np.testing.assert_array_equal(outer.label, decide(outer.probability, outcome.cost))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"task": "regression", "cost": COST},
            "cost is for classes, and the task is regression; leave it out",
        ),
        (
            {"task": "binary", "cost": COST, "metric": "f1"},
            "cost and metric exclude each other: with costs, the mean cost is minimised; "
            "got metric='f1'",
        ),
        (
            {"task": "binary", "cost": {(0, 2): 1}},
            "cost names the class 2, which is not there; the classes are 0, 1",
        ),
    ],
)
def test_wrong_costs_are_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        search(X, Y, [BAYES], **given)
    assert str(error.value) == message

"""Metrics: the fast formulas against scikit-learn's scorers, names, tasks and signs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import fbeta_score, get_scorer, get_scorer_names, hinge_loss, make_scorer

from assay.base import ParameterError, Predicted
from assay.evaluate import Metric, get_metric, replay
from assay.evaluate._metric import _TABLE

PER_CLASS = [f"{kind}_{a}" for kind in ("precision", "recall", "f1", "jaccard")
             for a in ("macro", "micro", "weighted")]  # fmt: skip
BOTH = ["accuracy", "balanced_accuracy", "matthews_corrcoef", "log_loss", "brier_score"]
BINARY = [*BOTH, *PER_CLASS, "precision", "recall", "f1", "jaccard", "roc_auc", "average_precision"]
ONE_AGAINST_ONE = ["roc_auc_ovo", "roc_auc_ovo_weighted"]
MULTI = [*BOTH, *PER_CLASS, "roc_auc_ovr", "roc_auc_ovr_weighted", *ONE_AGAINST_ONE]
NUMBERS = ["r2", "mean_squared_error", "root_mean_squared_error", "mean_absolute_error",
           "mean_absolute_percentage_error"]  # fmt: skip


def classification(
    seed: int, n: int, k: int, grain: int | None = None
) -> tuple[NDArray[np.int64], Predicted]:
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    raw = rng.random((n, k)) + 0.5 * np.eye(k)[y]
    if grain:  # coarse values make ties
        raw = np.ceil(raw * grain) / grain
    probability = raw / raw.sum(axis=1, keepdims=True)
    if k == 2:
        probability[:, 0] = 1 - probability[:, 1]
    return y, Predicted(label=np.argmax(probability, axis=1), probability=probability)


def by_scikit_learn(
    name: str, y: NDArray[Any], predicted: Predicted, k: int | None, weight: Any = None
) -> float:
    scoring = name if name in get_scorer_names() else f"neg_{name}"
    given = {} if weight is None else {"sample_weight": weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = replay(predicted, k)
        return float(get_scorer(scoring)(model, np.zeros((len(y), 1)), y, **given))


@pytest.mark.parametrize("grain", [None, 4])
@pytest.mark.parametrize("name", BINARY)
def test_binary_formula_equals_the_scorer(name: str, grain: int | None) -> None:
    metric = get_metric(name, "binary")
    assert metric.formula is not None
    for seed in range(5):
        y, predicted = classification(seed, 30 + 10 * seed, 2, grain)
        expected = by_scikit_learn(name, y, predicted, 2)
        assert metric.score(y, predicted) == pytest.approx(expected, abs=1e-12)
        weight = np.random.default_rng(seed).integers(1, 5, len(y)).astype(float)
        expected = by_scikit_learn(name, y, predicted, 2, weight)
        assert metric.score(y, predicted, weight=weight) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", MULTI)
def test_multiclass_formula_equals_the_scorer(name: str) -> None:
    metric = get_metric(name, "multiclass")
    assert metric.formula is not None
    for seed in range(5):
        y, predicted = classification(seed, 40 + 10 * seed, 4, 5)
        expected = by_scikit_learn(name, y, predicted, 4)
        assert metric.score(y, predicted) == pytest.approx(expected, abs=1e-12)
        if name in ONE_AGAINST_ONE:
            continue  # scikit-learn has no weights there
        weight = np.random.default_rng(seed).random(len(y)) + 0.1
        expected = by_scikit_learn(name, y, predicted, 4, weight)
        assert metric.score(y, predicted, weight=weight) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", NUMBERS)
def test_regression_formula_equals_the_scorer(name: str) -> None:
    metric = get_metric(name, "regression")
    assert metric.formula is not None
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = rng.normal(1e3, 5, 40)
        predicted = Predicted(value=y + rng.normal(0, 2, 40))
        weight = rng.random(40)
        for given_weight in (None, weight):
            expected = by_scikit_learn(name, y, predicted, None, given_weight)
            got = metric.score(y, predicted, weight=given_weight)
            assert got == pytest.approx(expected, rel=1e-10)


def test_area_uses_the_decision_where_there_is_one() -> None:
    y = np.array([0, 1, 1, 0])
    saturated = np.array([[0.0, 1.0]] * 4)
    decision = np.array([40.0, 50.0, 60.0, 30.0])
    predicted = Predicted(label=np.ones(4, int), probability=saturated, decision=decision)
    assert get_metric("roc_auc", "binary").score(y, predicted) == 1.0
    assert by_scikit_learn("roc_auc", y, predicted, 2) == 1.0


@pytest.mark.parametrize("size", [40, 1200])  # both routes of the area: pairs, and sorted sums
@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "f1_macro", "matthews_corrcoef",
                                  "balanced_accuracy", "log_loss", "roc_auc_ovr"])  # fmt: skip
def test_integer_weights_equal_repeated_rows(name: str, size: int) -> None:
    y, predicted = classification(3, size, 2, 6)
    assert predicted.label is not None
    assert predicted.probability is not None
    formula = get_metric(name, "binary").formula
    assert formula is not None
    rng = np.random.default_rng(0)
    weights = rng.multinomial(size, np.full(size, 1 / size), 4).astype(float)
    weights[3] = weights[2] == 0  # what is out of the bag
    scores = formula(y, predicted, weights)
    for row, score in zip(weights, scores, strict=True):
        rows = np.repeat(np.arange(size), row.astype(int))
        sampled = Predicted(label=predicted.label[rows], probability=predicted.probability[rows])
        assert score == pytest.approx(by_scikit_learn(name, y[rows], sampled, 2), abs=1e-12)


@given(seed=st.integers(0, 10_000), n=st.integers(6, 40), k=st.integers(2, 5))
def test_scores_do_not_depend_on_row_order(seed: int, n: int, k: int) -> None:
    y, predicted = classification(seed, n, k, 3)
    assert predicted.label is not None
    assert predicted.probability is not None
    order = np.random.default_rng(seed).permutation(n)
    turned = Predicted(label=predicted.label[order], probability=predicted.probability[order])
    for name in BINARY if k == 2 else MULTI:
        metric = get_metric(name, "binary" if k == 2 else "multiclass")
        assert metric.score(y[order], turned) == pytest.approx(metric.score(y, predicted), abs=1e-9)


def test_every_metric_of_the_table_is_a_scikit_learn_scorer_and_scores() -> None:
    known = {name.removeprefix("neg_") for name in get_scorer_names()}
    assert set(_TABLE) <= known
    y, predicted = classification(0, 60, 2)
    rng = np.random.default_rng(0)
    target = rng.random(60) + 1
    values = Predicted(value=target + 0.1 * rng.random(60))
    for name, entry in _TABLE.items():
        metric = get_metric(name, entry.tasks[0])
        score = metric.score(target, values) if entry.tasks == ("regression",) else metric.score(
            y, predicted
        )  # fmt: skip
        natural = metric.natural(score)
        assert metric.low is None or natural >= metric.low
        assert metric.high is None or natural <= metric.high


def test_area_of_one_class_is_undefined() -> None:
    predicted = Predicted(label=np.zeros(3, int), probability=np.full((3, 2), 0.5))
    assert np.isnan(get_metric("roc_auc", "binary").score(np.zeros(3, int), predicted))


def test_r2_of_a_constant_target_follows_scikit_learn() -> None:
    metric = get_metric("r2", "regression")
    y = np.full(5, 0.1)
    for value in (y.copy(), y + 1):
        predicted = Predicted(value=value)
        assert metric.score(y, predicted) == by_scikit_learn("r2", y, predicted, None)
    assert np.isnan(metric.score(y[:1], Predicted(value=y[:1])))


def test_log_loss_scores_a_block_that_lacks_a_class() -> None:
    predicted = Predicted(label=np.zeros(2, int), probability=np.array([[0.5, 0.3, 0.2]] * 2))
    score = get_metric("log_loss", "multiclass").score(np.array([0, 1]), predicted)
    assert score == pytest.approx((np.log(0.5) + np.log(0.3)) / 2)


def test_default_metrics() -> None:
    names = [get_metric(None, task).name for task in ("binary", "multiclass", "regression")]
    assert names == ["roc_auc", "accuracy", "r2"]


def test_losses_are_named_and_reported_in_natural_sign() -> None:
    for given_name in ("neg_log_loss", "log_loss"):
        metric = get_metric(given_name, "binary")
        assert (metric.name, metric.greater_is_better, metric.low) == ("log_loss", False, 0.0)
        assert metric.natural(-0.3) == 0.3


def test_any_callable_scores() -> None:
    y, predicted = classification(0, 50, 2)
    scorer = make_scorer(fbeta_score, beta=2)
    metric = get_metric(scorer, "binary")
    expected = fbeta_score(y, predicted.label, beta=2)
    assert metric.score(y, predicted) == pytest.approx(expected, abs=1e-15)
    assert metric.greater_is_better

    def own(model: Any, X: Any, y: Any) -> float:
        return float(np.mean(model.predict(X) == y))

    assert get_metric(own, "binary").name == "own"
    assert get_metric(own, "binary").score(y, predicted) == np.mean(predicted.label == y)
    ready = Metric("mine", own, greater_is_better=False)
    assert get_metric(ready, "binary") is ready


def test_scorer_of_decisions_reads_the_stored_decision() -> None:
    y = np.array([0, 1, 1, 0])
    decision = np.array([-0.5, 0.25, 2.0, 0.5])
    metric = get_metric(make_scorer(hinge_loss, response_method="decision_function"), "binary")
    predicted = Predicted(label=(decision > 0).astype(int), decision=decision)
    assert metric.score(y, predicted) == pytest.approx(hinge_loss(y, decision))


def test_weights_are_left_out_where_the_scorer_takes_none() -> None:
    y = np.array([1.0, 2.0, 3.0])
    metric = get_metric("max_error", "regression")
    assert not metric.takes_weights
    assert metric.score(y, Predicted(value=y + 1), weight=np.ones(3)) == -1.0
    assert get_metric("median_absolute_error", "regression").takes_weights


def test_metric_without_probabilities_says_so() -> None:
    predicted = Predicted(label=np.array([0, 1]))
    with pytest.raises(ValueError, match="needs probabilities, and the model gives none"):
        get_metric("log_loss", "binary").score(np.array([0, 1]), predicted)


def test_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ParameterError, match="'roc_acu' is not known; did you mean 'roc_auc'\\?"):
        get_metric("roc_acu", "binary")
    with pytest.raises(ParameterError, match="'neg_accuracy' is not known"):
        get_metric("neg_accuracy", "binary")


def test_metric_of_another_task_is_refused() -> None:
    with pytest.raises(ParameterError, match="'r2' is for regression, and the task is binary"):
        get_metric("r2", "binary")
    with pytest.raises(ParameterError, match="the task is multiclass; use 'f1_macro'"):
        get_metric("f1", "multiclass")
    with pytest.raises(ParameterError, match="task must be one of"):
        get_metric(None, "ranking")
    with pytest.raises(ParameterError, match="scorer name, a callable or None; got 3"):
        get_metric(3, "binary")  # type: ignore[arg-type]

"""The score of one model on new rows: its value, and intervals that cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import median_absolute_error, roc_auc_score

from assay.base import ParameterError, Predicted
from assay.evaluate import Interval, Metric, get_metric, sample_interval

ACCURACY = get_metric("accuracy", "binary")
AUC = get_metric("roc_auc", "binary")


def noisy(n: int, seed: int, signal: float = 1.0) -> tuple[np.ndarray, Predicted]:
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    y[:2] = 0, 1
    share = 1 / (1 + np.exp(-(signal * (2 * y - 1) + random.normal(size=n))))
    return y, Predicted((share > 0.5).astype(np.int64), np.column_stack([1 - share, share]))


def test_accuracy_gets_wilsons_interval() -> None:
    y, predicted = noisy(400, 0)
    found = sample_interval(ACCURACY, y, predicted)
    hits = int(np.sum(predicted.label == y))
    wilson = binomtest(hits, 400).proportion_ci(method="wilson")
    assert found.value == hits / 400
    # The variance is drawn, not computed: a thousand draws know it to a few percent.
    np.testing.assert_allclose([found.low, found.high], [wilson.low, wilson.high], atol=0.003)


def test_a_perfect_score_has_the_interval_of_its_number_of_rows() -> None:
    y = np.repeat([0, 1], [80, 20])
    sure = Predicted(y, np.eye(2)[y])
    wilson = binomtest(100, 100).proportion_ci(method="wilson")
    found = sample_interval(ACCURACY, y, sure)
    np.testing.assert_allclose([found.low, found.high], [wilson.low, 1.0])
    # An area under the curve stands on the smaller class.
    few = binomtest(20, 20).proportion_ci(method="wilson")
    np.testing.assert_allclose(sample_interval(AUC, y, sure).low, few.low)


@pytest.mark.parametrize("name", ["accuracy", "roc_auc", "f1", "log_loss"])
def test_intervals_cover_about_as_often_as_they_say(name: str) -> None:
    metric = get_metric(name, "binary")
    truth = metric.natural(metric.score(*noisy(100_000, 10_000)))
    inside = [_holds(sample_interval(metric, *noisy(100, seed)), truth) for seed in range(100)]
    assert np.mean(inside) >= 0.88


def _holds(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


def test_clusters_are_drawn_whole() -> None:
    y, predicted = noisy(40, 3)
    assert predicted.label is not None
    assert predicted.probability is not None
    times = 10  # each row is there ten times, which is no more knowledge
    again = Predicted(predicted.label.repeat(times), predicted.probability.repeat(times, axis=0))
    alone = sample_interval(ACCURACY, y, predicted)
    whole = sample_interval(ACCURACY, y.repeat(times), again, clusters=np.arange(40).repeat(times))
    fooled = sample_interval(ACCURACY, y.repeat(times), again)
    assert whole.high - whole.low == pytest.approx(alone.high - alone.low, rel=1e-9)
    assert fooled.high - fooled.low < 0.5 * (alone.high - alone.low)


def test_weights_count_rows() -> None:
    y, predicted = noisy(60, 4)
    weight = np.random.default_rng(0).integers(1, 4, 60).astype(float)
    found = sample_interval(AUC, y, predicted, weight=weight)
    assert predicted.probability is not None
    assert found.value == pytest.approx(
        roc_auc_score(y, predicted.probability[:, 1], sample_weight=weight)
    )


def test_metric_without_a_formula_is_drawn_row_by_row() -> None:
    random = np.random.default_rng(0)
    y = random.normal(size=80)
    predicted = Predicted(value=y + random.normal(size=80))
    metric = get_metric("median_absolute_error", "regression")
    assert metric.formula is None
    found = sample_interval(metric, y, predicted)
    assert found.value == median_absolute_error(y, predicted.value)
    assert 0 < found.low < found.value < found.high


def test_same_seed_gives_the_same_interval() -> None:
    y, predicted = noisy(50, 1)
    loss = get_metric("log_loss", "binary")
    assert sample_interval(loss, y, predicted) == sample_interval(loss, y, predicted)
    assert sample_interval(loss, y, predicted) != sample_interval(loss, y, predicted, seed=1)


def test_one_class_has_no_area() -> None:
    found = sample_interval(AUC, np.zeros(9, int), Predicted(np.zeros(9, int), np.eye(2)[[0] * 9]))
    assert np.isnan([found.value, found.low, found.high]).all()


def test_what_the_model_does_not_give_is_an_error() -> None:
    with pytest.raises(ValueError, match="probabilit"):
        sample_interval(
            get_metric("log_loss", "binary"), np.array([0, 1]), Predicted(np.ones(2, np.int64))
        )
    with pytest.raises(ParameterError, match="level"):
        sample_interval(Metric("a", len), np.array([0]), Predicted(np.ones(1, np.int64)), level=2.0)

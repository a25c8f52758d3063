"""Scores without a group of rows: against the same formula on the rows that are left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.base import Predicted
from assay.evaluate import Metric, Without, panel, scores_without
from assay.evaluate._metric import get_metric
from assay.select.plan import take
from tests.evaluate.test_metric import BINARY, MULTI, NUMBERS, classification

CASES = [
    *((name, "binary", 2) for name in [*BINARY, "specificity"]),
    *((name, "multiclass", 4) for name in MULTI),
    *((name, "regression", None) for name in NUMBERS),
]


def named(name: str, task: str) -> Metric:
    known = {metric.name: metric for metric in panel(task)}
    return known[name] if name in known else get_metric(name, task)


def made(k: int | None, n: int, grain: int | None) -> tuple[NDArray[Any], Predicted]:
    if k is not None:
        return classification(3, n, k, grain)
    random = np.random.default_rng(3)
    y = random.normal(size=n)
    value = y + random.normal(size=n)
    return y, Predicted(value=value if grain is None else np.round(value * grain) / grain)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grain", [None, 4])
@pytest.mark.parametrize(("name", "task", "k"), CASES)
def test_scores_without_a_group_are_those_of_the_rows_left(
    name: str, task: str, k: int | None, grain: int | None, weighted: bool
) -> None:
    n, count = 90, 12
    y, predicted = made(k, n, grain)
    random = np.random.default_rng(0)
    group = random.integers(0, count - 1, n)  # the last group has no row
    weight = random.uniform(0.0, 2.0, n).round(1) if weighted else None
    metric = named(name, task)
    assert metric.formula is not None
    found = scores_without(metric.formula, y, predicted, Without(group, count, weight))
    expected = []
    for each in range(count):
        left = np.flatnonzero(group != each)
        mine = None if weight is None else weight[left][None]
        expected.append(metric.formula(y[left], take(predicted, left), mine)[0])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    assert np.ptp(found) > 0


@pytest.mark.parametrize("weight", [None, np.array([0.1, 0.2, 0.7, 0.3])])
def test_what_is_undefined_without_a_group_is_told(weight: NDArray[np.float64] | None) -> None:
    y = np.array([0, 1, 0, 0])
    predicted = Predicted(
        label=y, probability=np.array([[0.8, 0.2], [0.1, 0.9], [0.6, 0.4]] * 2)[:4]
    )
    area = get_metric("roc_auc", "binary").formula
    assert area is not None
    # Rounding must not make a class of nothing: 0.1 + 0.2 - 0.3 is not 0.
    found = scores_without(area, y, predicted, Without(np.array([0, 1, 0, 0]), 2, weight))
    assert np.isnan(found).all()
    recall = get_metric("recall", "binary").formula
    assert recall is not None
    found = scores_without(recall, y, predicted, Without(np.array([0, 1, 2, 0]), 3, weight))
    assert found.tolist() == [1.0, 0.0, 1.0]


def test_r2_of_one_row_left_is_undefined_also_where_others_weigh_nothing() -> None:
    formula = get_metric("r2", "regression").formula
    assert formula is not None
    rest = Without(np.array([0, 0, 1, 1]), 2, np.array([1.0, 1.0, 1.0, 0.0]))
    found = scores_without(formula, np.arange(4.0), Predicted(value=np.zeros(4)), rest)
    assert np.isnan(found[0])
    assert np.isfinite(found[1])

"""Every usual metric of a model on its test set, with intervals."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import ParameterError, Predicted, Task
from assay.evaluate import (
    CostMatrix,
    Metric,
    cost_metric,
    get_metric,
    panel,
    sample_interval,
)
from assay.record import Score, StudyRecord
from assay.select import queries_for
from assay.study._holdout import HoldoutRows
from assay.study._model import Model


def holdout_scores(model: Model, record: StudyRecord, rows: HoldoutRows) -> tuple[Score, ...]:
    """Return the study's own metric first, then the usual ones of its task.

    Parameters
    ----------
    model : Model
        Fitted without these rows.
    record : StudyRecord
        The study's record: task, metric, costs.
    rows : HoldoutRows
        The test set.

    Returns
    -------
    tuple of Score
        What the model cannot be scored by (probabilities it does
        not give, a scorer of the user's that the file does not hold) is not there.
    """
    task = model.target.task
    predicted = _predicted(model, rows)
    truth: NDArray[Any] = rows.y
    clusters = rows.groups
    if task == Task.RANK:
        assert rows.groups is not None
        truth = np.column_stack([rows.y, rows.groups])
    flips = task == Task.BINARY and model.target.positive == 0
    found = []
    for metric in _metrics(task, record):
        y, seen = truth, predicted
        if flips and metric.name != "cost":  # as in the search: the positive class is 1
            y, seen = 1 - truth, _flipped(predicted)
        try:
            interval = sample_interval(metric, y, seen, weight=rows.weight, clusters=clusters)
        except (ValueError, AttributeError):
            continue
        if np.isfinite([interval.value, interval.low, interval.high]).all():
            found.append(
                Score(
                    metric=metric.name,
                    value=interval.value,
                    low=interval.low,
                    high=interval.high,
                    level=interval.level,
                )
            )
    return tuple(found)


def _metrics(task: str, record: StudyRecord) -> list[Metric]:
    metrics = {}
    own = record.metric.name
    if record.cost is not None and own == "cost":
        costs = CostMatrix.of(record.cost.matrix, range(len(record.cost.classes)))
        metrics[own] = cost_metric(costs)
    else:
        with suppress(ParameterError):  # a scorer of the user's own is not in the file
            metrics[own] = get_metric(own, task)
    for metric in panel(task):
        metrics.setdefault(metric.name, metric)
    return list(metrics.values())


def _predicted(model: Model, rows: HoldoutRows) -> Predicted:
    X = rows.X if model.encoder is None else model.encoder.transform(rows.X)
    if model.target.classes is None:
        queries = rows.groups if model.target.task == Task.RANK else None
        asked = queries_for(model.estimator.predict, queries)
        return Predicted(value=np.asarray(model.estimator.predict(X, **asked), dtype=np.float64))
    label = np.asarray(model.estimator.predict(X), dtype=np.int64)
    probability = decision = None
    n_classes = len(model.target.classes)
    if hasattr(model.estimator, "predict_proba"):
        known = np.asarray(model.estimator.classes_, dtype=np.int64)
        probability = np.zeros((len(X), n_classes))
        probability[:, known] = model.estimator.predict_proba(X)
    elif hasattr(model.estimator, "decision_function"):
        decision = np.asarray(model.estimator.decision_function(X), dtype=np.float64)
    return Predicted(label, probability, decision)


def _flipped(predicted: Predicted) -> Predicted:
    label, probability, decision = predicted.label, predicted.probability, predicted.decision
    return Predicted(
        None if label is None else 1 - label,
        None if probability is None else probability[:, ::-1],
        None if decision is None else -decision,
    )

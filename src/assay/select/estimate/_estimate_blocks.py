"""Score, baseline and gain from the outer blocks alone: Student's t, or batches of one block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError
from assay.evaluate import Interval, batch_t, corrected_t, next_t
from assay.select.choose import OuterResult, trivial_prediction
from assay.select.plan import Question, RowPartitions, make_blocks


def by_blocks(
    question: Question, blocks: RowPartitions, results: Sequence[OuterResult]
) -> tuple[Interval, Interval, Interval]:
    """Return score, baseline (both in natural sign) and gain with their intervals.

    Where blocks follow each other in time, the intervals of both scores are for the block that
    comes next, that of the gain for its mean over time.
    """
    metric = question.metric
    sign = 1.0 if metric.greater_is_better else -1.0
    usable = [each for each in results if np.isfinite(each.score) and np.isfinite(each.baseline)]
    if not usable:
        raise DataError(
            f"metric {metric.name!r} is undefined on every outer block; "
            "use fewer blocks or another metric"
        )
    score = np.array([each.score for each in usable])
    trivial = np.array([each.baseline for each in usable])
    span = None if metric.low is None or metric.high is None else metric.high - metric.low
    wanted = (
        (sign * score, metric.low, metric.high),
        (sign * trivial, metric.low, metric.high),
        (score - trivial, None if span is None else -span, span),
    )
    if len(usable) > 1:
        ratio = float(np.mean([len(each.rows) / len(each.train) for each in usable]))
        made = [corrected_t(values, ratio, low=low, high=high) for values, low, high in wanted]
        if blocks.plan.kind == "forward":
            made[:2] = [next_t(values, low=low, high=high) for values, low, high in wanted[:2]]
        return made[0], made[1], made[2]
    parts = _batches(question, blocks, usable[0])
    batches = (sign * parts[:, 0], sign * parts[:, 1], parts[:, 0] - parts[:, 1])
    made = [
        batch_t(float(values[0]), batch, low=low, high=high)
        for (values, low, high), batch in zip(wanted, batches, strict=True)
    ]
    return made[0], made[1], made[2]


def _batches(question: Question, blocks: RowPartitions, one: OuterResult) -> NDArray[np.float64]:
    """Scores of the choice and of the baseline on random parts of the block."""
    n = len(one.rows)
    count = int(np.clip(n // 30, 2, 20))
    groups = None if blocks.clusters is None else blocks.clusters[one.rows]
    labels = make_blocks(
        question.y[one.rows], count, task=question.task, groups=groups, seed=blocks.seed
    )
    trivial = trivial_prediction(question, one.train, n)
    scores = []
    for part in range(count):
        taken = np.flatnonzero(labels == part)
        pair = [question.score(one.rows, each, taken=taken)[0] for each in (one.predicted, trivial)]
        if np.isfinite(pair).all():
            scores.append(pair)
    if len(scores) < 2:
        raise DataError(
            f"the only outer block has {n} rows, too few for an interval; use more rows or blocks"
        )
    return np.array(scores)

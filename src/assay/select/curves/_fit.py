"""The fits behind a curve: one unit each, scored on its training rows and on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from assay.base import DataError, Task
from assay.select.curves._question import CurveQuestion
from assay.select.plan import Partition, Split
from assay.select.run import (
    Family,
    Ledger,
    Runner,
    Unit,
)


@dataclass(frozen=True, eq=False)
class CurveFit:
    """One fit of a curve; its first test block was not used for training."""

    repeat: int
    partition: Partition
    split: Split

    @property
    def ratio(self) -> float:
        """Ratio of test rows to training rows."""
        sizes = self.partition.sizes
        seen = sum(int(sizes[block]) for block in self.split.train)
        return float(sizes[self.split.tests[0]] / seen)


def scores_of(
    question: CurveQuestion,
    family: Family,
    partitions: Sequence[Partition],
    fits: Sequence[CurveFit],
    seed: int,
    n_jobs: int | None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], list[str | None]]:
    """Run all fits.

    Returns
    -------
    train, test : ndarray of shape (candidates, fits)
        Scores in natural sign; NaN where there is none.
    rates : ndarray of shape (candidates, fits, 2)
        False and true positive rates, of two classes.
    failed : list of str or None
        The first reason why a candidate failed.
    """
    with Ledger() as ledger, threadpool_limits(1):
        runner = Runner(
            question.question.data, [family], partitions, ledger, seed=seed, n_jobs=n_jobs
        )
        units = [runner.unit(0, fit.repeat, fit.split) for fit in fits]
        runner.run(units)
        measured = [_measured(question, runner, *pair) for pair in zip(fits, units, strict=True)]
        entries = [runner.entries(unit) for unit in units]
    train, test, rates = (np.stack(each, axis=1) for each in zip(*measured, strict=True))
    failed = [
        next((entry.failed for entry in column if entry.failed is not None), None)
        for column in zip(*entries, strict=True)
    ]
    return train, test, rates, failed


def check_scores(
    scores: NDArray[np.float64], values: Sequence[Any], failed: Sequence[str | None], axis: str
) -> None:
    """Raise if a value has fewer than two scores, which gives no band."""
    for value, row, why in zip(values, scores, failed, strict=True):
        if np.isfinite(row).sum() < 2:
            reason = why or "the metric is undefined there"
            raise DataError(f"{axis} = {value!r} has no score on two blocks: {reason}")


def _measured(question: CurveQuestion, runner: Runner, fit: CurveFit, unit: Unit) -> Any:
    """Return, per candidate, the score on training rows, on test rows, and the two rates."""
    rows = [fit.partition.rows(block) for block in fit.split.tests]
    train, test, rates = [], [], []
    for entry in runner.entries(unit):
        if entry.fitted is None:
            train.append(np.nan)
            test.append(np.nan)
            rates.append((np.nan, np.nan))
            continue
        predicted = entry.fitted.predictions
        test.append(question.score(rows[:1], predicted[:1]))
        train.append(question.score(rows[1:], predicted[1:]))
        rates.append(_rates(question, rows[0], predicted[0].label))
    return np.array(train), np.array(test), np.array(rates)


def _rates(question: CurveQuestion, rows: NDArray[np.int64], label: Any) -> tuple[float, float]:
    if question.question.task is not Task.BINARY or label is None:
        return np.nan, np.nan
    truth = question.question.y[rows]
    shares = [label[truth == k].mean() if (truth == k).any() else np.nan for k in (0, 1)]
    return float(shares[0]), float(shares[1])

"""Learning curves: scores over the number of training rows, with bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import ParameterError, Task, check_interval
from assay.select.curves._fit import CurveFit, check_scores, scores_of
from assay.select.curves._question import CurveQuestion
from assay.select.curves._result import Curve, curve_of
from assay.select.plan import (
    Partition,
    RowPartitions,
    Split,
    one_out,
    stream,
)

_SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)


def learning_curve(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    sizes: Sequence[float] | None = None,
    scoring: Any = None,
    n_blocks: int = 5,
    repeats: int = 1,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Curve:
    r"""Score an estimator trained on increasing numbers of rows.

    Parameters
    ----------
    estimator : estimator
        Classifier or regressor, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        Numbers; missing values as NaN if the estimator takes them.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    sizes : sequence of int or float, default=None
        Numbers of training rows (int), or shares of the smallest training set (float up to 1.0).
        None: from a thirty-second, doubled up to all of it.
    scoring : str or callable, default=None
        As in scikit-learn; None: accuracy of classes, R² of numbers.
    n_blocks : int, default=5
        K, at least 3.
    repeats : int, default=1
        Number of random partitions.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are never on both sides.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, in fits and scores that take them.
    seed : int, default=0
        Seed of the partitions, and of every ``random_state=None``.
    n_jobs : int, default=None
        Workers; None = 1, -1 = one per core. No effect on the result.

    Returns
    -------
    Curve
        With bands, and a chart.

    Notes
    -----
    A smaller training set is part of the larger ones, and holds the classes in the proportions of
    the whole as nearly as it can. The band is that of `complexity_curve`, computed at every
    size as for the whole training set: smaller training sets overlap less, so their bands are
    slightly too wide.

    See Also
    --------
    complexity_curve : The same over the values of a parameter.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from assay.bayes import NaiveBayesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = learning_curve(NaiveBayesClassifier(), X, y, sizes=[20, 100, 1.0])
    >>> curve.values, [round(band.value, 2) for band in curve.test]
    ((20, 100, 455), [0.93, 0.93, 0.94])
    """
    check_interval("repeats", repeats, 1, integer=True)
    question = CurveQuestion.of(
        estimator, X, y, scoring=scoring, sample_weight=sample_weight, groups=groups
    )
    asked, plan = question.question, one_out(n_blocks)
    blocks = RowPartitions(asked, plan, repeats, seed)
    most = min(len(asked.y) - int(part.sizes.max()) for part in blocks.partitions)
    counts = _counts(sizes, most)
    fits: list[CurveFit] = []
    for repeat, partition in enumerate(blocks.partitions):
        for split in plan.splits:
            rows = partition.train_rows(split.train, split.tests)
            order = balanced_order(rows, asked.y, asked.task, seed, repeat, split.tests[0])
            for count in counts:
                labels = np.full(len(asked.y), 2, dtype=np.int64)
                labels[order[:count]] = 0
                labels[partition.rows(split.tests[0])] = 1
                fits.append(CurveFit(len(fits), Partition(labels), Split((0,), (1, 0))))
    parts = [fit.partition for fit in fits]
    found = scores_of(question, question.family([{}]), parts, fits, seed, n_jobs)
    train, test = (each.reshape(-1, len(counts)).T for each in found[:2])
    check_scores(test, counts, found[3] * len(counts), "training rows")
    return curve_of(
        question,
        "learning",
        "training rows",
        tuple(counts),
        train,
        test,
        blocks.test_share,
        None,
        len(fits),
    )


def _counts(sizes: Sequence[float] | None, most: int) -> list[int]:
    given = _SHARES if sizes is None else sizes
    counts = []
    for size in given:
        if isinstance(size, int | np.integer) and not isinstance(size, bool):
            count = int(size)
        else:
            check_interval("sizes", float(size), 0.0, 1.0)
            count = round(float(size) * most)
        if not 2 <= count <= most:
            if sizes is None:  # a small table has no thirty-second
                continue
            raise ParameterError(
                f"sizes must be between 2 and {most} rows, the smallest training set; got {size!r}"
            )
        counts.append(count)
    if not counts:
        raise ParameterError("sizes must hold at least one size; got none")
    return sorted(set(counts))


def balanced_order(
    rows: NDArray[np.int64], y: NDArray[Any], task: Task, seed: int, repeat: int, block: int
) -> NDArray[np.int64]:
    """Return the rows in an order of which every prefix has the class proportions of the whole."""
    mixed = stream(seed, "learning curve", repeat, block).permutation(rows)
    if not task.has_classes:
        return mixed
    # Row r of the c rows of a class comes at (r + 1/2) / c: all classes advance evenly.
    target = y[mixed]
    place = np.empty(len(mixed))
    for code in np.unique(target):
        mine = np.flatnonzero(target == code)
        place[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
    return mixed[np.argsort(place, kind="stable")]

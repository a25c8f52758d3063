"""Complexity curves: scores over the values of a parameter, with bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from assay.base import ParameterError, Task, check_interval
from assay.select.curves._fit import CurveFit, check_scores, scores_of
from assay.select.curves._question import CurveQuestion
from assay.select.curves._result import Curve, curve_of
from assay.select.plan import (
    RowPartitions,
    Split,
    one_out,
)
from assay.select.run import count_fits


def complexity_curve(
    estimator: Any,
    parameter: str,
    values: Sequence[Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    scoring: Any = None,
    n_blocks: int = 5,
    repeats: int = 1,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Curve:
    r"""Score an estimator at several values of one parameter, on training rows and on new ones.

    Parameters
    ----------
    estimator : estimator
        Classifier or regressor, or a pipeline that ends in one.
    parameter : str
        The parameter, as ``set_params`` names it.
    values : sequence
        Its values.
    X : array-like of shape (n_samples, n_features)
        Numbers; missing values as NaN if the estimator takes them.
    y : array-like of shape (n_samples,)
        Labels or numbers.
    scoring : str or callable, default=None
        As in scikit-learn; None: accuracy of classes, R² of numbers.
    n_blocks : int, default=5
        K, at least 3.
    repeats : int, default=1
        Number of random partitions.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group stay together.
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
    The band is the corrected resampled t interval of the J = repeats x K scores,

    .. math:: \bar s \pm t_{J-1,\,0.975}\, \sqrt{(\tfrac1J + \tfrac{n_{test}}{n_{train}})
              \hat\sigma^2},

    for each value by itself. An estimator of Assay with a path is fitted once per block for all
    values. The best value of a curve is chosen on the scores it shows, so its score is
    optimistic; for the score of a chosen model use `NestedSearch`.

    See Also
    --------
    learning_curve : The same over the number of training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from assay.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = complexity_curve(DecisionTreeClassifier(), "max_depth", [1, 2, 4, 8], X, y)
    >>> [round(band.value, 2) for band in curve.train], curve.fits
    ([0.93, 0.95, 0.98, 1.0], 5)
    """
    values = tuple(values)
    if not values:
        raise ParameterError("values must hold at least one value; got none")
    check_interval("repeats", repeats, 1, integer=True)
    question = CurveQuestion.of(
        estimator, X, y, scoring=scoring, sample_weight=sample_weight, groups=groups
    )
    asked, plan = question.question, one_out(n_blocks)
    blocks = RowPartitions(asked, plan, repeats, seed)
    family = question.family([{parameter: value} for value in values])
    fits = []
    for repeat, partition in enumerate(blocks.partitions):
        for split in plan.splits:
            # Training rows are predicted as well, for the training score.
            both = Split(split.train, (*split.tests, *split.train))
            fits.append(CurveFit(repeat, partition, both))
    train, test, rates, failed = scores_of(question, family, blocks.partitions, fits, seed, n_jobs)
    check_scores(test, values, failed, parameter)
    return curve_of(
        question,
        "complexity",
        parameter,
        values,
        train,
        test,
        float(np.mean([fit.ratio for fit in fits])),
        rates if asked.task is Task.BINARY else None,
        len(fits) * count_fits(family.estimator, family.candidates),
    )

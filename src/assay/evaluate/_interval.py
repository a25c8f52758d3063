"""Intervals for scores that come from resampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from assay.base import ParameterError


@dataclass(frozen=True)
class Interval:
    """A number and the range that covers the true value with probability `level`.

    Parameters
    ----------
    value, low, high : float
        The estimate and the two ends.
    level : float
        Confidence level, for example 0.95.

    Examples
    --------
    >>> Interval(0.8, 0.75, 0.85, 0.95).high
    0.85
    """

    value: float
    low: float
    high: float
    level: float


def corrected_t(
    scores: Sequence[float] | NDArray[np.float64],
    ratio: float,
    *,
    repeats: int = 1,
    level: float = 0.95,
    low: float | None = None,
    high: float | None = None,
) -> Interval:
    r"""Interval for the mean of resampled scores, corrected for overlapping training sets.

    Parameters
    ----------
    scores : sequence of float
        One score per held-out block, J of them.
    ratio : float
        Rows in a test block over rows in its training set; the mean where they differ.
    repeats : int, default=1
        Number R of partitions of the same rows that the blocks come from; less than J.
    level : float in (0, 1), default=0.95
        Confidence level.
    low, high : float, optional
        Range of the metric; the ends are clipped to it.

    Returns
    -------
    Interval
        Around the mean of `scores`.

    Notes
    -----
    .. math:: \bar s \pm t_{J-R,\,(1+level)/2}\,
              \sqrt{(\tfrac1J + \tfrac{n_{test}}{n_{train}})\hat\sigma^2}

    with the sample variance of the scores. The means of partitions of the same rows hardly differ,
    so each costs a degree of freedom. Source: Nadeau and Bengio (2003), Machine Learning 52.

    Examples
    --------
    >>> interval = corrected_t([0.8, 0.9, 0.85, 0.95, 0.9], ratio=0.25)
    >>> round(interval.value, 3), round(interval.low, 3), round(interval.high, 3)
    (0.88, 0.774, 0.986)
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        raise ParameterError(f"corrected_t needs at least 2 scores, got {values.size}")
    if not ratio >= 0:
        raise ParameterError(f"ratio must be at least 0, got {ratio!r}")
    count = len(values)
    if not 1 <= repeats < count:
        raise ParameterError(
            f"repeats must be in [1, {count}) with {count} scores, got {repeats!r}"
        )
    spread = (1 / count + ratio) * float(values.var(ddof=1))
    return _student(float(values.mean()), spread, count - repeats, level, low, high)


def next_t(
    scores: Sequence[float] | NDArray[np.float64],
    *,
    level: float = 0.95,
    low: float | None = None,
    high: float | None = None,
) -> Interval:
    r"""Prediction interval for the score on the next block, from the scores of earlier blocks.

    Parameters
    ----------
    scores : sequence of float
        One score per block of about equal size, J of them, in time order.
    level : float in (0, 1), default=0.95
        Confidence level.
    low, high : float, optional
        Range of the metric; the ends are clipped to it.

    Returns
    -------
    Interval
        Around the mean of `scores`.

    Notes
    -----
    Scores differ from block to block by chance and because the data change over time; the next one
    will differ as much, however many were seen. So this is a prediction interval, while
    `corrected_t` gives a confidence interval for the mean:

    .. math:: \bar s \pm t_{J-1,\,(1+level)/2}\,\sqrt{(1 + \tfrac1J)\hat\sigma^2}

    Examples
    --------
    >>> interval = next_t([0.8, 0.9, 0.85, 0.95, 0.9])
    >>> round(interval.value, 3), round(interval.low, 3), round(interval.high, 3)
    (0.88, 0.707, 1.053)
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        raise ParameterError(f"next_t needs at least 2 scores, got {values.size}")
    count = len(values)
    spread = (1 + 1 / count) * float(values.var(ddof=1))
    return _student(float(values.mean()), spread, count - 1, level, low, high)


def batch_t(
    value: float,
    batches: Sequence[float] | NDArray[np.float64],
    *,
    level: float = 0.95,
    low: float | None = None,
    high: float | None = None,
) -> Interval:
    r"""Interval for one score on one large test set, from the scores of its parts.

    Parameters
    ----------
    value : float
        The score on the whole test set.
    batches : sequence of float
        The scores on m disjoint random parts of about equal size.
    level : float in (0, 1), default=0.95
        Confidence level.
    low, high : float, optional
        Range of the metric; the ends are clipped to it.

    Returns
    -------
    Interval
        Around `value`.

    Notes
    -----
    Batch means: the variance of `value` is estimated by the sample variance of the m batch scores
    over m, with m - 1 degrees of freedom. It needs a metric whose value on a part of 1/m of the
    rows is about unbiased for its value on all of them, and so a large test set.

    Examples
    --------
    >>> interval = batch_t(0.9, [0.88, 0.9, 0.92, 0.9])
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.874, 0.926)
    """
    values = np.asarray(batches, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        raise ParameterError(f"batch_t needs at least 2 batches, got {values.size}")
    count = len(values)
    return _student(value, float(values.var(ddof=1)) / count, count - 1, level, low, high)


def _student(
    value: float, variance: float, freedom: int, level: float, low: float | None, high: float | None
) -> Interval:
    if not 0 < level < 1:
        raise ParameterError(f"level must be in (0, 1), got {level!r}")
    half = float(stdtrit(freedom, (1 + level) / 2)) * math.sqrt(variance)
    floor = -math.inf if low is None else low
    ceiling = math.inf if high is None else high
    # The estimate itself is never clipped, so that an interval always contains its value.
    return Interval(
        value,
        min(value, max(value - half, floor)),
        max(value, min(value + half, ceiling)),
        level,
    )

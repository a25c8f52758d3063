"""The score of one fixed model on new rows, with its interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from assay.base import Predicted, check_interval
from assay.evaluate._interval import Interval
from assay.evaluate._metric import Metric

_MAX_DRAWS, _MIN_DRAWS = 1000, 200
# Draws times rows: limits of the bootstrap of a large test set, in total and at once.
_WORK, _AT_ONCE = 20_000_000, 2_000_000


def sample_interval(
    metric: Metric,
    y: NDArray[Any],
    predicted: Predicted,
    *,
    weight: NDArray[np.float64] | None = None,
    clusters: NDArray[np.int64] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    r"""Score stored predictions of new rows, with a confidence interval.

    Parameters
    ----------
    metric : Metric
        The metric.
    y : ndarray of shape (n,)
        The true values, in the form the metric expects.
    predicted : Predicted
        Predictions of one model that was not fitted on these rows.
    weight : ndarray of shape (n,), optional
        Weight of each row, where the metric takes weights.
    clusters : ndarray of int64 of shape (n,), optional
        Cluster of each row: whole clusters are drawn.
    level : float in (0, 1), default=0.95
        Confidence level.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    Interval
        In the natural sign of the metric.

    Raises
    ------
    ValueError
        If the predictions lack something that the metric needs, such as probabilities.

    Notes
    -----
    The variance v comes from a bootstrap of the rows (or clusters). A metric s between 0 and 1 gets
    Wilson's interval for the effective number of rows that v implies,

    .. math:: m = \frac{s (1 - s)}{v}, \qquad
              \frac{s + z^2 / 2m}{1 + z^2 / m} \pm
              \frac{z}{1 + z^2 / m} \sqrt{\frac{s (1 - s)}{m} + \frac{z^2}{4 m^2}}

    which for accuracy is Wilson's interval itself, and which does not shrink to a point when the
    test set happens to show no mistake (then m is the number of rows, or of the smallest class).
    Any other metric gets the percentiles of the bootstrap, widened for small n as Student's t
    widens the normal distribution (Hesterberg 2015, The American Statistician 69).

    Examples
    --------
    >>> from assay.evaluate import get_metric
    >>> truth = np.repeat([0, 1], 50)
    >>> found = sample_interval(get_metric("accuracy", "binary"), truth, Predicted(label=truth))
    >>> found.value, round(found.low, 3), found.high
    (1.0, 0.963, 1.0)
    """
    check_interval("level", level, 0.0, 1.0)
    usable = weight if metric.takes_weights else None
    score = metric.score(y, predicted, weight=usable)
    value = metric.natural(score)
    n = len(y) if clusters is None else int(clusters.max()) + 1
    draws = np.concatenate(list(_drawn(metric, y, predicted, usable, clusters, n, seed)))
    draws = metric.natural(1.0) * draws[np.isfinite(draws)]
    if not np.isfinite(value) or len(draws) < 2:
        return Interval(value, float("nan"), float("nan"), level)
    if metric.low == 0.0 and metric.high == 1.0:
        low, high = _wilson(value, float(draws.var()), _smallest(metric, y, n), n, level)
    else:
        low, high = _percentiles(draws, n, level)
        low = low if metric.low is None else max(low, metric.low)
        high = high if metric.high is None else min(high, metric.high)
    return Interval(value, min(low, value), max(high, value), level)


def _drawn(
    metric: Metric,
    y: NDArray[Any],
    predicted: Predicted,
    weight: NDArray[np.float64] | None,
    clusters: NDArray[np.int64] | None,
    n: int,
    seed: int,
) -> Iterator[NDArray[np.float64]]:
    """Yield bootstrap scores, greater is better."""
    random = np.random.default_rng(seed)
    rows = len(y)
    left = int(np.clip(_WORK // rows, _MIN_DRAWS, _MAX_DRAWS))
    step = int(np.clip(_AT_ONCE // rows, 1, left)) if metric.formula is not None else 1
    while left > 0:
        times = random.multinomial(n, np.full(n, 1 / n), size=min(step, left)).astype(np.float64)
        left -= len(times)
        if clusters is not None:
            times = times[:, clusters]
        if metric.formula is not None:
            yield metric.formula(y, predicted, times if weight is None else times * weight)
            continue
        taken = np.repeat(np.arange(rows), times[0].astype(np.int64))
        part = Predicted(*(None if a is None else a[taken] for a in _arrays(predicted)))
        try:
            given = None if weight is None else weight[taken]
            yield np.array([metric.score(y[taken], part, weight=given)])
        except ValueError:  # the draw lacks one of the classes
            yield np.array([np.nan])


def _arrays(predicted: Predicted) -> tuple[NDArray[Any] | None, ...]:
    return predicted.label, predicted.probability, predicted.decision, predicted.value


def _smallest(metric: Metric, y: NDArray[Any], n: int) -> int:
    """Return the number of rows behind a score that does not vary between draws."""
    if metric.name == "accuracy" or y.dtype.kind not in "iu" or y.ndim > 1:
        return n
    counts = np.bincount(y)
    return min(n, int(counts[counts > 0].min()))


def _wilson(s: float, variance: float, fewest: int, n: int, level: float) -> tuple[float, float]:
    m = s * (1 - s) / variance if variance > 0 else float(fewest)
    m = float(np.clip(m, 1.0, n))
    z = float(ndtri((1 + level) / 2))
    centre = (s + z * z / (2 * m)) / (1 + z * z / m)
    half = z / (1 + z * z / m) * np.sqrt(s * (1 - s) / m + z * z / (4 * m * m))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


def _percentiles(draws: NDArray[np.float64], n: int, level: float) -> tuple[float, float]:
    tail = (1 - level) / 2
    if n > 1:
        tail = float(ndtr(np.sqrt(n / (n - 1)) * stdtrit(n - 1, tail)))
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(low), float(high)

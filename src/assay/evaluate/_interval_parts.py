"""An interval for an estimate whose variance is a sum of estimated parts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from assay.base import ParameterError
from assay.evaluate._interval import Interval


def interval_of_parts(
    value: float,
    parts: Sequence[tuple[float, float]],
    *,
    level: float = 0.95,
    low: float | None = None,
    high: float | None = None,
    units: int | None = None,
    rows: int | None = None,
) -> Interval:
    r"""Interval around an estimate, from estimated variances and their degrees of freedom.

    Parameters
    ----------
    value : float
        The estimate.
    parts : sequence of (variance, degrees of freedom)
        Their sum is the variance of the estimate.
    level : float in (0, 1), default=0.95
        Confidence level.
    low, high : float, optional
        Range of the metric; the ends are clipped to it. A metric with only one of them
        gets an interval that is longer on the other side.
    units : int, optional
        Number of independent units behind the estimate. With it, a metric between 0 and 1 gets a
        Wilson interval.
    rows : int, optional
        Number of rows behind the estimate, where several make one unit.

    Returns
    -------
    Interval
        Around `value`, which is unchanged.

    Notes
    -----
    With variances :math:`v_i` of :math:`\nu_i` degrees of freedom, the sum v has about

    .. math:: \nu = \frac{(\sum_i v_i)^2}{\sum_i v_i^2 / \nu_i}

    (Welch and Satterthwaite), and the interval is :math:`s \pm t_{\nu} \sqrt v`. For a share s,
    the same t goes into Wilson's formula with the effective number of rows
    :math:`m = s (1 - s) / v`, at most `rows` (if the variance is 0, or s is 0 or 1,
    `units`):

    .. math:: \frac{s + t^2 / 2m}{1 + t^2 / m} \pm
              \frac{t}{1 + t^2 / m} \sqrt{\frac{s (1 - s)}{m} + \frac{t^2}{4 m^2}}

    It stays between 0 and 1, and does not shrink to a point where no mistake was seen.

    The distance d of a metric with one bound (a squared error, an R²) from it is a sum of squares
    or similar: skewed, but its cube root much less so (Wilson and Hilferty). With
    :math:`x = t_\nu \sqrt v / d`, at most 3, where the nearer end is at the bound,

    .. math:: d\,(1 - x/3)^3 \quad\text{and}\quad
              d + t_\nu \sqrt v\, (1 + x/3 + x^2/27)

    are the distances of the two ends (up to there, the second is :math:`d\,(1 + x/3)^3`).

    Examples
    --------
    >>> found = interval_of_parts(0.9, [(0.0009, 99), (0.0004, 4)])
    >>> round(found.low, 3), round(found.high, 3)
    (0.827, 0.973)
    >>> perfect = interval_of_parts(1.0, [(0.0, 99)], low=0.0, high=1.0, units=100)
    >>> round(perfect.low, 3), perfect.high
    (0.962, 1.0)
    >>> error = interval_of_parts(1.0, [(0.04, 99)], low=0.0)
    >>> round(error.low, 3), round(error.high, 3)
    (0.653, 1.452)
    """
    if not 0 < level < 1:
        raise ParameterError(f"level must be in (0, 1), got {level!r}")
    if not parts or any(not (variance >= 0 and freedom > 0) for variance, freedom in parts):
        raise ParameterError(f"parts must be variances with degrees of freedom, got {parts!r}")
    variance = sum(part for part, _ in parts)
    spread = sum(part * part / freedom for part, freedom in parts)
    # If all variances are 0, the largest degrees of freedom count.
    freedom = variance**2 / spread if spread > 0 else max(each for _, each in parts)
    t = float(stdtrit(freedom, (1 + level) / 2))
    if units is not None and low == 0.0 and high == 1.0:
        bottom, top = _wilson(value, variance, units, max(units, rows or 0), t)
    else:
        half = t * math.sqrt(variance)
        below = above = half
        if low is not None and high is None:
            below, above = _skewed(value - low, half)
        elif high is not None and low is None:
            above, below = _skewed(high - value, half)
        bottom, top = value - below, value + above
    floor = -math.inf if low is None else low
    ceiling = math.inf if high is None else high
    return Interval(value, min(value, max(bottom, floor)), max(value, min(top, ceiling)), level)


def _wilson(share: float, variance: float, units: int, most: int, t: float) -> tuple[float, float]:
    s = float(np.clip(share, 0.0, 1.0))
    # Without a single mistake the share has no variance of its own, and the rows set the limit.
    rows = s * (1 - s) / variance if variance > 0 and 0 < s < 1 else float(units)
    rows = float(np.clip(rows, 1.0, most))
    scale = 1 + t * t / rows
    centre = (s + t * t / (2 * rows)) / scale
    half = t / scale * math.sqrt(s * (1 - s) / rows + t * t / (4 * rows * rows))
    return centre - half, centre + half


def _skewed(distance: float, half: float) -> tuple[float, float]:
    """Return the distances of the ends: towards a bound at this distance, and away from it."""
    x = min(half / distance, 3.0) if distance > 0 else 3.0
    # 1 - (1 - x/3)^3 and (1 + x/3)^3 - 1, without cancellation at small x.
    return distance * x * (1 - x / 3 + x * x / 27), half * (1 + x / 3 + x * x / 27)

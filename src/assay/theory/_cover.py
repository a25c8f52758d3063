"""The number of ways to divide points in two by a hyperplane."""

from __future__ import annotations

import math
from numbers import Integral

from scipy.special import betainc


def count_dichotomies(n_points: int, n_dimensions: int) -> int:
    r"""Return the number of labellings of points that a hyperplane through the origin separates.

    Parameters
    ----------
    n_points : int >= 1
        Number p of points in general position: any N of them are linearly independent.
    n_dimensions : int >= 1
        Number N of dimensions. A hyperplane with a free intercept in d dimensions counts as
        N = d + 1.

    Returns
    -------
    int
        Number out of all :math:`2^p` labellings.

    Notes
    -----
    Cover's function counting theorem (1965):

    .. math:: C(p, N) = 2 \sum_{k = 0}^{N - 1} \binom{p - 1}{k}

    Examples
    --------
    Four points in the plane and a line anywhere: all but the two XOR labellings of 16.

    >>> count_dichotomies(4, 3)
    14
    """
    _check(n_points, n_dimensions)
    others = int(n_points) - 1
    return 2 * sum(math.comb(others, k) for k in range(min(int(n_dimensions), others + 1)))


def cover_fraction(n_points: int, n_dimensions: int) -> float:
    r"""Return the share of all labellings of points that a hyperplane can separate.

    Parameters
    ----------
    n_points : int >= 1
        Number p of points in general position.
    n_dimensions : int >= 1
        Number N of dimensions; d + 1 for a hyperplane with intercept in d dimensions.

    Returns
    -------
    float
        1 while p <= N, one half at p = 2N, then falling to 0: with more than twice as many points
        as dimensions, a separation is unlikely to be chance.

    Notes
    -----
    .. math:: \frac{C(p, N)}{2^p} = 2^{1 - p} \sum_{k = 0}^{N - 1} \binom{p - 1}{k}

    computed as a regularised incomplete beta function, so for any p.

    Examples
    --------
    >>> cover_fraction(4, 3), cover_fraction(200, 100), cover_fraction(100, 100)
    (0.875, 0.5, 1.0)
    """
    _check(n_points, n_dimensions)
    if n_points <= n_dimensions:
        return 1.0
    if n_points == 2 * n_dimensions:  # by symmetry; the series is off by the last digit
        return 0.5
    return float(betainc(n_points - n_dimensions, n_dimensions, 0.5))


def _check(n_points: int, n_dimensions: int) -> None:
    for name, value in (("n_points", n_points), ("n_dimensions", n_dimensions)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be an integer >= 1; got {value!r}")

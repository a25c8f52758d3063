"""The number of clusterings of a table."""

from __future__ import annotations

import math
from numbers import Integral

# The number has n log10(n) digits, and the table behind it n of them.
_MOST_ROWS = 2000


def count_partitions(n_samples: int, n_clusters: int | None = None) -> int:
    r"""Return the number of ways to divide rows into non-empty, unlabelled clusters.

    Parameters
    ----------
    n_samples : int in [0, 2000]
        Number n of rows.
    n_clusters : int >= 0 or None, default=None
        Number c of clusters; None = any number of them.

    Returns
    -------
    int
        Exact: a Stirling number of the second kind, or a Bell number.

    Notes
    -----
    .. math:: S(n, c) = \frac{1}{c!} \sum_{i = 0}^{c} (-1)^{c - i} \binom{c}{i} i^n
              \approx \frac{c^n}{c!}, \qquad B(n) = \sum_{c = 0}^{n} S(n, c)

    Too many to try them all: k-means and similar methods search for a good one.

    Examples
    --------
    >>> count_partitions(4, 2), count_partitions(4)
    (7, 15)
    >>> f"{count_partitions(100, 5):.3e}"
    '6.574e+67'
    """
    if not _is_count(n_samples) or n_samples > _MOST_ROWS:
        raise ValueError(f"n_samples must be an integer in [0, {_MOST_ROWS}]; got {n_samples!r}")
    n = int(n_samples)
    if n_clusters is None:
        return _bell(n)
    if not _is_count(n_clusters):
        raise ValueError(f"n_clusters must be an integer >= 0 or None; got {n_clusters!r}")
    c = int(n_clusters)
    if c > n:
        return 0
    signed: int = sum((-1) ** (c - i) * math.comb(c, i) * i**n for i in range(c + 1))
    return signed // math.factorial(c)


def _bell(n: int) -> int:
    """Bell's triangle: each line starts with the last number of the one above."""
    line = [1]
    for _ in range(n):
        following = [line[-1]]
        for number in line:
            following.append(following[-1] + number)
        line = following
    return line[0]


def _is_count(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0

r"""Cuts of a numeric column: equal shares, equal widths, or minimum description length.

Fayyad and Irani (1993) cut a set S of N rows with class entropy Ent(S) at the value T that leaves
the least entropy in the two parts, if the gain exceeds the bits needed to describe it,

.. math:: \text{Gain}(T; S) > \frac{\log_2(N - 1) + \log_2(3^k - 2) - (k\,\text{Ent}(S)
          - k_1 \text{Ent}(S_1) - k_2 \text{Ent}(S_2))}{N}

with k, k1, k2 the numbers of classes in S and its parts; then each part is cut in the same way.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def quantile_cuts(values: Floats, n_intervals: int) -> Floats:
    """Return the inner boundaries of intervals with equally many values."""
    shares = np.linspace(0, 1, n_intervals + 1)
    edges = np.unique(np.quantile(values, shares, method="averaged_inverted_cdf"))
    return edges[1:-1]


def uniform_cuts(values: Floats, n_intervals: int) -> Floats:
    """Return the inner boundaries of intervals of equal width."""
    low, high = values.min(), values.max()
    if low == high:
        return np.empty(0)
    shares = np.linspace(0, 1, n_intervals + 1)[1:-1]
    return np.unique(low * (1 - shares) + high * shares)  # no range, which could overflow


def mdl_cuts(values: Floats, codes: Integers) -> Floats:
    """Return the boundaries whose gain exceeds their description length, ascending.

    Parameters
    ----------
    values : ndarray of float64 of shape (n,)
        One column, without missing values.
    codes : ndarray of int64 of shape (n,)
        Class codes.

    Returns
    -------
    ndarray of float64
        Each half-way between two neighbouring values.

    Examples
    --------
    >>> import numpy as np
    >>> mdl_cuts(np.arange(20.0), np.repeat([0, 1], 10)).tolist()
    [9.5]
    """
    order = np.argsort(values, kind="stable")
    distinct, first = np.unique(values[order], return_index=True)
    # Class counts of all rows below each distinct value, and of all rows.
    above = np.zeros((len(codes) + 1, int(codes.max()) + 1))
    above[np.arange(1, len(codes) + 1), codes[order]] = 1.0
    counts = np.cumsum(above, axis=0)[np.append(first, len(codes))]
    cuts: list[float] = []
    waiting = [(0, len(distinct))]
    while waiting:
        begin, end = waiting.pop()
        at = _best_cut(counts[begin : end + 1] - counts[begin])
        if at is not None:
            cuts.append(_between(distinct[begin + at - 1], distinct[begin + at]))
            waiting += [(begin, begin + at), (begin + at, end)]
    return np.sort(np.array(cuts, dtype=np.float64))


def _best_cut(counts: Floats) -> int | None:
    """Return after how many distinct values to cut (first of ties), or None for no cut."""
    whole, low = counts[-1], counts[1:-1]
    if not len(low) or (whole > 0).sum() < 2:
        return None
    total, below = whole.sum(), low.sum(axis=1)
    high = whole - low
    left, right = _entropy(low), _entropy(high)
    remaining = (below * left + (total - below) * right) / total
    at = int(np.argmin(remaining))
    entropy = float(_entropy(whole[None])[0])
    k, k1, k2 = (int((part > 0).sum()) for part in (whole, low[at], high[at]))
    delta = _log2_of_power(k) - (k * entropy - k1 * left[at] - k2 * right[at])
    price = (math.log2(total - 1) + delta) / total
    return at + 1 if entropy - remaining[at] > price else None


def _entropy(counts: Floats) -> Floats:
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))


def _log2_of_power(k: int) -> float:
    """Return log2(3^k - 2); with many classes the 2 is below rounding."""
    return math.log2(3.0**k - 2.0) if k < 30 else k * math.log2(3.0)


def _between(low: float, high: float) -> float:
    """Return a value above `low` and at most `high`."""
    middle = low / 2 + high / 2
    return float(middle if low < middle <= high else high)

"""Features of a pair of items."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FEATURES = ("difference", "greater")


def pair_features(
    rows: NDArray[Any], first: NDArray[np.int64], second: NDArray[np.int64], features: str
) -> NDArray[Any]:
    """Return a row per pair: the difference of its items, or where the first one is greater.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        The items.
    first, second : ndarray of int64 of shape (p,)
        The pairs.
    features : {'difference', 'greater'}
        a - b, or 1 where a > b and 0 elsewhere.

    Returns
    -------
    ndarray of shape (p, d)

    Examples
    --------
    >>> items = np.array([[1.0, 5.0], [2.0, 5.0]])
    >>> pair_features(items, np.array([1]), np.array([0]), "difference").tolist()
    [[1.0, 0.0]]
    """
    made = rows[first]
    if features == "difference":
        with np.errstate(over="ignore"):
            made -= rows[second]
        # The difference of two finite numbers may overflow.
        limit = np.finfo(made.dtype).max
        np.clip(made, -limit, limit, out=made)
    else:
        np.greater(made, rows[second], out=made)
    return made


def both_orders(
    rows: NDArray[Any],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    features: str,
    size: int = 1 << 14,
) -> NDArray[Any]:
    """Return the features of all pairs, then those of all pairs in reverse order.

    Filled in blocks, so that only the table itself takes memory.
    """
    n = len(first)
    table = np.empty((2 * n, rows.shape[1]), dtype=rows.dtype)
    for start in range(0, n, size):
        block = slice(start, min(start + size, n))
        there, back = first[block], second[block]
        table[block] = pair_features(rows, there, back, features)
        table[n + block.start : n + block.stop] = pair_features(rows, back, there, features)
    return table

"""Duplicate rows: find them, and decide whether they are copies or a coarse table's chance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def duplicate_ids(X: NDArray[Any]) -> NDArray[np.int64]:
    """Give equal rows the same number.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers; NaN equals NaN and -0.0 equals 0.0.

    Returns
    -------
    ndarray of int64 of shape (n_samples,)
        0, 1, ... in order of first appearance.

    Notes
    -----
    O(nd) to mix every row into 64 bits, O(n log n) to sort them. Rows with equal hashes are
    compared in full; should two different rows collide, all rows are sorted instead.

    Examples
    --------
    >>> duplicate_ids(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])).tolist()
    [0, 1, 0]
    """
    n = len(X)
    if n == 0 or X.shape[1] == 0:
        return np.zeros(n, dtype=np.int64)
    bits = _bits(X)
    _, first, ids = np.unique(_mixed(bits), return_index=True, return_inverse=True)
    if not np.array_equal(bits, bits[first][ids]):
        _, first, ids = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[ids.reshape(-1)]


def are_copies(X: NDArray[Any], ids: NDArray[np.int64]) -> bool:
    r"""Return whether duplicate rows are copies rather than expected in a coarse table.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    ids : ndarray of int64
        From `duplicate_ids`.

    Returns
    -------
    bool
        True unless independent columns with the same values would repeat nearly as often.

    Notes
    -----
    Two rows of a table with independent columns are equal with probability
    :math:`\prod_j \sum_v p_{jv}^2`. When at least one in a hundred of the equal pairs is expected
    from that alone (three yes/no columns, a thousand rows), duplicates are the nature of the table:
    keeping them together would force every model to extrapolate to unseen values. Copies (a table
    joined or oversampled carelessly) are very unlikely to arise by chance.
    """
    n = len(ids)
    sizes = np.bincount(ids)
    observed = float((sizes * (sizes - 1.0)).sum() / 2)
    if observed == 0:
        return False
    expected = n * (n - 1.0) / 2
    for column in np.asarray(X).T:
        _, counts = np.unique(column, return_counts=True)
        expected *= float(((counts / n) ** 2).sum())
        if expected < 0.01 * observed:
            return True
    return False


def _bits(X: NDArray[Any]) -> NDArray[np.uint64]:
    rows = np.array(X, dtype=np.float64, order="C")
    rows += 0.0  # -0.0 becomes 0.0
    rows[np.isnan(rows)] = np.nan  # one NaN of the many
    return rows.view(np.uint64)


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One 64-bit hash per row: splitmix64's finalizer after each column."""
    state = np.zeros(len(bits), dtype=np.uint64)
    for column in bits.T:
        state += column
        state += np.uint64(0x9E3779B97F4A7C15)
        state ^= state >> np.uint64(30)
        state *= np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(27)
        state *= np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state

"""A factor of the scatter of rows, updated block by block: the state of a streaming fit.

F'F is the scatter of all rows so far about their mean. A new block adds its centred rows and one
row for the distance between the two means; an orthogonal transformation then brings the stack back
to at most d rows. Nothing is squared, so the factor keeps the full precision of the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.decomposition._exact_blas import one_blas_thread

Matrix = NDArray[np.float64]


def factor_of(X: NDArray[Any], mean: Matrix) -> Matrix:
    """Return F with F'F = (X - mean)'(X - mean) and at most as many rows as columns.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows. Blocks of them are copied, one at a time, unless there are more columns than rows.
    mean : ndarray of shape (n_features,)
        Subtracted from each row.

    Returns
    -------
    ndarray of shape (min(n_samples, n_features), n_features)

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 0.0]])
    >>> F = factor_of(X, X.mean(axis=0))
    >>> (F.T @ F).round(12).tolist()
    [[8.0, -2.0], [-2.0, 14.0]]
    """
    n, d = X.shape
    if n <= d:
        return np.asarray(X - mean, dtype=np.float64)
    size = max(2 * d, 2048)
    found = np.empty((0, d))
    for first in range(0, n, size):
        found = _reduced(np.vstack([found, X[first : first + size] - mean]))
    return found


def merged(
    factor: Matrix, mean: Matrix, count: int, new: Matrix, new_mean: Matrix, new_count: int
) -> tuple[Matrix, Matrix]:
    """Return factor and mean of two groups of rows combined.

    Parameters
    ----------
    factor, mean, count : ndarray, ndarray, int
        Those of the first group.
    new, new_mean, new_count : ndarray, ndarray, int
        Those of the second.

    Returns
    -------
    factor : ndarray of shape (n, n_features)
    mean : ndarray of shape (n_features,)
    """
    gap = new_mean - mean
    total = count + new_count
    between = np.sqrt(count * (new_count / total)) * gap
    return _reduced(np.vstack([factor, new, between])), mean + gap * (new_count / total)


def _reduced(stack: Matrix) -> Matrix:
    if len(stack) <= stack.shape[1]:
        return stack
    with one_blas_thread():
        return np.asarray(np.linalg.qr(stack, mode="r"))

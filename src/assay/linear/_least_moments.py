"""Means and cross products of the columns, which are all that least squares needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from assay._core import linear as kernels

Matrix = NDArray[np.float64]
_EMPTY = np.empty(0)


@dataclass(frozen=True)
class Moments:
    """Weighted means and centred products of the columns of a table and its targets.

    Parameters
    ----------
    total : float
        Sum of the weights (the number of rows where there are none).
    mean_x, mean_y : ndarray of shape (n_features,) and (n_targets,)
        The subtracted means, or zeros without an intercept.
    gram : ndarray of shape (n_features, n_features)
        Products of the columns with each other.
    cross : ndarray of shape (n_features, n_targets)
        Products of the columns with the targets.
    loss : float
        Factor by which subtracting the means magnified rounding errors; 1 for dense tables.
    """

    total: float
    mean_x: Matrix
    mean_y: Matrix
    gram: Matrix
    cross: Matrix
    loss: float = 1.0


def moments(
    X: Any, Y: Matrix, weight: Matrix | None, *, centre: bool, n_threads: int = 1
) -> Moments:
    """Return the moments of the table and its targets, from one pass.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The rows.
    Y : ndarray of shape (n_samples, n_targets)
        The targets.
    weight : ndarray of shape (n_samples,) or None
        Sample weights.
    centre : bool
        Whether means are subtracted.
    n_threads : int, default=1
        Threads; the result does not depend on it.
    """
    if issparse(X):
        return _sparse_moments(X, Y, weight, centre)
    p, width = X.shape[1], X.shape[1] + Y.shape[1]
    mean, product = np.empty(width), np.empty((width, width))
    given = _EMPTY if weight is None else weight
    total = kernels.moments(X, Y, given, centre, mean, product, n_threads)
    gram, cross = np.ascontiguousarray(product[:p, :p]), np.ascontiguousarray(product[:p, p:])
    return Moments(total, mean[:p], mean[p:], gram, cross)


def means(X: Any, Y: Matrix, weight: Matrix | None) -> tuple[float, Matrix, Matrix]:
    """Return sum of weights, column means and target means."""
    w = np.ones(X.shape[0]) if weight is None else weight
    total = float(w.sum())
    mean_x = _times(X, w) / total
    return total, mean_x, (w @ Y) / total


def _sparse_moments(X: Any, Y: Matrix, weight: Matrix | None, centre: bool) -> Moments:
    total, mean_x, mean_y = means(X, Y, weight)
    if not centre:
        mean_x, mean_y = np.zeros_like(mean_x), np.zeros_like(mean_y)
    weighted = X if weight is None else X.multiply(weight[:, None]).tocsr()
    raw = np.asarray((X.T @ weighted).toarray(), dtype=np.float64)
    gram = raw - total * np.outer(mean_x, mean_x)
    cross = np.asarray(weighted.T @ (Y - mean_y), dtype=np.float64)
    if centre:  # sum of w (y - mean) is zero up to rounding
        rest = (Y - mean_y).sum(axis=0) if weight is None else weight @ (Y - mean_y)
        cross -= np.outer(mean_x, rest)
    before, after = np.diagonal(raw), np.diagonal(gram)
    tiny = after <= 64 * np.finfo(np.float64).eps * before  # a constant column
    gram[tiny], gram[:, tiny], cross[tiny] = 0.0, 0.0, 0.0
    loss = float(np.max(before[~tiny] / after[~tiny], initial=1.0))
    return Moments(total, mean_x, mean_y, gram, np.ascontiguousarray(cross), loss)


def _times(X: Any, u: Matrix) -> Matrix:
    """Return X' u as float64."""
    if issparse(X):
        return np.asarray(X.T @ u, dtype=np.float64)
    out = np.empty(X.shape[1])
    kernels.correlate(X, np.zeros(X.shape[1]), np.ascontiguousarray(u), out, 1)
    return out

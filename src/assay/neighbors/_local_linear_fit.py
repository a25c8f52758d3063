r"""Weighted linear fits around many queries at once.

.. math:: h(q) = \sum_j l_j y_j, \qquad
          l_j = \frac{w_j}{W} + w_j (x_j - \bar x)' (S + \rho I)^+ (q - \bar x)

with :math:`W = \sum_j w_j`, the weighted mean :math:`\bar x` and
:math:`S = \sum_j w_j (x_j - \bar x)(x_j - \bar x)'`. It is weighted least squares with an
intercept; where S is singular, the solution with the smallest slope.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Directions with less than this share of the largest spread are treated as undetermined.
_FLAT = 1e-12


def smoother_weights(gaps: Array, weights: Array, ridge: float, degree: int) -> Array:
    """Return the weight of each row around a query in its prediction.

    Parameters
    ----------
    gaps : ndarray of shape (n_queries, n_rows, n_features)
        Rows minus the query.
    weights : ndarray of shape (n_queries, n_rows)
        Kernel weights, >= 0 and not all zero for a query.
    ridge : float
        Penalty on the slope, as a share of the mean spread of a column.
    degree : {0, 1}
        0 = weighted mean, 1 = weighted linear fit.

    Returns
    -------
    ndarray of shape (n_queries, n_rows)
    """
    largest = weights.max(axis=1, keepdims=True)
    weights = weights / largest
    share: Array = weights / weights.sum(axis=1, keepdims=True)
    if degree == 0:
        return share
    scale = np.abs(gaps).max(axis=(1, 2), keepdims=True)
    gaps = gaps / np.where(scale > 0, scale, 1.0)
    mean = (share[:, None, :] @ gaps)[:, 0]
    root = np.sqrt(share)
    spread = root[:, :, None] * (gaps - mean[:, None, :])
    k, d = spread.shape[1:]
    flipped = spread.transpose(0, 2, 1)
    if k > d:
        inverse = _pseudo_inverse(flipped @ spread, ridge, d)
        pulled = spread @ (inverse @ -mean[:, :, None])
    else:
        inverse = _pseudo_inverse(spread @ flipped, ridge, d)
        pulled = inverse @ (spread @ -mean[:, :, None])
    shares: Array = share + root * pulled[:, :, 0]
    return shares


def _pseudo_inverse(matrix: Array, ridge: float, n_columns: int) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    widest = np.maximum(values[:, -1:], 0.0)
    kept = values > _FLAT * widest
    penalty = ridge * np.maximum(values, 0.0).sum(axis=1, keepdims=True) / n_columns
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(kept, 1 / (values + penalty), 0.0)
    return (vectors * inverse[:, None, :]) @ vectors.transpose(0, 2, 1)  # type: ignore[no-any-return]

"""Projection of the rows of a dense table onto axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay._core import decomposition as kernels

Matrix = NDArray[np.float64]


def project(X: NDArray[Any], shift: Matrix, axes: Matrix, n_threads: int) -> Matrix:
    """Return (X - shift) A'.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows; no copy is made.
    shift : ndarray of shape (n_features,)
        Subtracted from each row before the product.
    axes : ndarray of shape (n_axes, n_features)
        The matrix A, one axis per row.
    n_threads : int
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of float64 of shape (n_samples, n_axes)

    Examples
    --------
    >>> import numpy as np
    >>> project(np.array([[3.0, 4.0]]), np.ones(2), np.array([[1.0, 0.0], [1.0, 1.0]]), 1)
    array([[2., 5.]])
    """
    out = np.empty((len(X), len(axes)))
    if out.size:
        kernels.project(X, shift, np.ascontiguousarray(axes), out, n_threads)
    return out

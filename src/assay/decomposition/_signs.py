"""The sign of an axis, fixed by making the largest entry positive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Entries this close to the largest count as equal to it: rounding must not choose between them.
_TIE = 1e-8


def with_signs(axes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows of `axes`, each with the sign that makes its largest entry positive.

    Parameters
    ----------
    axes : ndarray of shape (n_axes, n_features)
        One axis per row. Among entries with equal absolute values, the first decides.

    Returns
    -------
    ndarray of shape (n_axes, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> with_signs(np.array([[0.6, -0.8], [-0.8, -0.6]]))
    array([[-0.6,  0.8],
           [ 0.8,  0.6]])
    """
    if not axes.size:
        return axes.copy()
    size = np.abs(axes)
    top = size.max(axis=1, keepdims=True)
    first = np.argmax(size >= top * (1 - _TIE), axis=1)
    decisive = axes[np.arange(len(axes)), first]
    return axes * np.where(decisive < 0, -1.0, 1.0)[:, None]

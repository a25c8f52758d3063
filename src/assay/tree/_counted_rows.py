"""Weights as row counts, for learners that need counts: Laplace, chi-square, degrees of freedom."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def counted_rows(
    weight: NDArray[np.float64] | None, n_samples: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows of positive weight and their weights as counts.

    A row of weight 2 counts as two rows. Weights that sum to less than the number of rows are
    relative (boosting makes them sum to 1): they are scaled to sum to it.

    Parameters
    ----------
    weight : ndarray of shape (n_samples,) or None
        The sample weights; None = all 1.
    n_samples : int
        Number of rows.

    Returns
    -------
    used : ndarray of int64
        Rows of positive weight.
    counts : ndarray of float64
        Their weights.

    Examples
    --------
    >>> import numpy as np
    >>> counted_rows(np.array([0.0, 2.0, 1.0]), 3)
    (array([1, 2]), array([2., 1.]))
    >>> counted_rows(np.array([0.2, 0.3]), 2)[1]
    array([0.8, 1.2])
    """
    if weight is None:
        return np.arange(n_samples), np.ones(n_samples)
    used = np.flatnonzero(weight > 0)
    total = weight[used].sum()
    return used, weight[used] * (len(used) / total if total < len(used) else 1.0)

"""The chi-square test of a split."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri


def chi_square_deviation(table: ArrayLike) -> float:
    r"""Return how far the class shares in the subsets of a split are from those of the whole.

    Parameters
    ----------
    table : array-like of shape (n_subsets, n_classes)
        Number of examples of each class in each subset of the split.

    Returns
    -------
    float
        Pearson's statistic; 0 when every subset has the same shares of the classes.

    Notes
    -----
    With :math:`n_{kc}` examples of class c in subset k and :math:`\hat n_{kc} = n_c N_k / N`,

    .. math:: \Delta = \sum_k \sum_c \frac{(n_{kc} - \hat n_{kc})^2}{\hat n_{kc}}

    Subsets without examples and classes without examples are left out.

    Examples
    --------
    Patrons of the restaurant example: None, Some, Full; classes No, Yes.

    >>> round(chi_square_deviation([[2, 0], [0, 4], [4, 2]]), 4)
    6.6667
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or not np.isfinite(counts).all() or (counts < 0).any():
        raise ValueError(f"table must be 2-dimensional with finite numbers >= 0; got {table!r}")
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    if not counts.size:
        raise ValueError("table must not be all zero")
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return float(((counts - expected) ** 2 / expected).sum())


def chi_square_threshold(
    n_subsets: int, significance: float = 0.05, *, n_classes: int = 2
) -> float:
    r"""Return the deviation that chance exceeds with a given probability.

    Parameters
    ----------
    n_subsets : int >= 2
        Number d of subsets of the split.
    significance : float in (0, 1), default=0.05
        The probability that the deviation is exceeded by chance.
    n_classes : int >= 2, default=2
        Number K of classes.

    Returns
    -------
    float
        Upper quantile of the chi-square distribution with (d - 1)(K - 1) degrees of freedom.

    Examples
    --------
    >>> [round(chi_square_threshold(d), 2) for d in (2, 3, 4)]
    [3.84, 5.99, 7.81]
    """
    for name, value in (("n_subsets", n_subsets), ("n_classes", n_classes)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 2:
            raise ValueError(f"{name} must be an integer >= 2; got {value!r}")
    if not isinstance(significance, Real) or not 0 < significance < 1:
        raise ValueError(f"significance must be a number in (0, 1); got {significance!r}")
    return float(chdtri((n_subsets - 1) * (n_classes - 1), significance))

"""Entropy and information gain."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr


def entropy(counts: ArrayLike, *, base: float = 2.0) -> float:
    r"""Return the entropy of a distribution given by counts or probabilities.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Not negative, not all zero; they are divided by their sum.
    base : float > 1, default=2.0
        Base of the logarithm: 2 gives bits, e gives nats.

    Returns
    -------
    float

    Notes
    -----
    .. math:: H(p) = -\sum_c p_c \log p_c

    Examples
    --------
    >>> entropy([1, 1]), entropy([1, 1, 1, 1]), round(entropy([0.99, 0.01]), 2)
    (1.0, 2.0, 0.08)
    """
    counts = _not_negative("counts", counts, 1)
    return float(entr(counts / counts.sum()).sum() / _log(base))


def information_gain(table: ArrayLike, *, base: float = 2.0) -> float:
    r"""Return how much a split reduces the entropy of the classes.

    Parameters
    ----------
    table : array-like of shape (n_subsets, n_classes)
        Number of examples of each class in each subset of the split.
    base : float > 1, default=2.0
        Base of the logarithm: 2 gives bits, e gives nats.

    Returns
    -------
    float
        Not negative.

    Notes
    -----
    With :math:`N_k` of the N examples in subset k,

    .. math:: \mathrm{Gain} = H(p) - \sum_k \frac{N_k}{N} H(p_k)

    Examples
    --------
    Patrons of the restaurant example: None, Some, Full; classes No, Yes.

    >>> round(information_gain([[2, 0], [0, 4], [4, 2]]), 3)
    0.541
    """
    table = _not_negative("table", table, 2)
    sizes = table.sum(axis=1)
    shares = table[sizes > 0] / sizes[sizes > 0, None]
    remainder = sizes[sizes > 0] @ entr(shares).sum(axis=1) / sizes.sum()
    before = entr(table.sum(axis=0) / sizes.sum()).sum()
    return max(0.0, float((before - remainder) / _log(base)))


def _not_negative(name: str, values: ArrayLike, ndim: int) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s); got shape {array.shape}")
    if not np.isfinite(array).all() or (array < 0).any() or not array.any():
        raise ValueError(f"{name} must hold finite numbers >= 0, not all zero; got {values!r}")
    return array


def _log(base: float) -> float:
    if not isinstance(base, Real) or isinstance(base, bool) or not 1 < base < np.inf:
        raise ValueError(f"base must be a finite number > 1; got {base!r}")
    return float(np.log(base))

"""One probability per class from one probability per pair of classes.

    min_p  sum_i sum_{j != i} (r_ji p_i - r_ij p_j)^2     with  sum_i p_i = 1,

where r_ij is the probability of class i among the rows of classes i and j. The minimum solves a
linear system with K + 1 unknowns and has no negative p.

Cost    O(n K^3) time.
Source  Wu, Lin and Weng (2004), Journal of Machine Learning Research 5, second method (eq. 21).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# As in libsvm: with 0 or 1 the system may be singular.
_LEAST = 1e-7
_CELLS = 2_000_000  # entries per chunk of systems


def coupled(first_shares: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return the probabilities of the classes.

    Parameters
    ----------
    first_shares : ndarray of float64 of shape (n_rows, n_pairs)
        r_ij for the pairs i < j: (0, 1), (0, 2), ..., (1, 2), ...
    n_classes : int
        K, with K(K - 1)/2 pairs.

    Returns
    -------
    ndarray of float64 of shape (n_rows, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([0.5, 0.3, 0.2])
    >>> pairs = [p[i] / (p[i] + p[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    >>> coupled(np.array([pairs]), 3).round(6).tolist()
    [[0.5, 0.3, 0.2]]
    """
    shares = np.clip(first_shares, _LEAST, 1.0 - _LEAST)
    if n_classes == 2:
        return np.column_stack([first_shares, 1.0 - first_shares])
    step = max(1, _CELLS // (n_classes + 1) ** 2)
    parts = [_solved(shares[at : at + step], n_classes) for at in range(0, len(shares), step)]
    return np.concatenate(parts) if parts else np.empty((0, n_classes))


def _solved(shares: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    r = np.zeros((len(shares), k, k))
    above = np.triu_indices(k, 1)
    r[:, above[0], above[1]] = shares
    r[:, above[1], above[0]] = 1.0 - shares
    system = np.ones((len(shares), k + 1, k + 1))
    system[:, k, k] = 0.0
    system[:, :k, :k] = -r * r.transpose(0, 2, 1)
    on = np.arange(k)
    system[:, on, on] = (r * r).sum(axis=1)  # sum over j of r_ji^2
    right = np.zeros((len(shares), k + 1, 1))
    right[:, k] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :k, 0], 0.0)
    return np.asarray(p / p.sum(axis=1, keepdims=True))

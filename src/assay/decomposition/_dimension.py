"""Number of components: given, from a fraction of the variance, or by Minka's likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from assay.base import ParameterError


def count_components(
    wanted: Any, variance: NDArray[np.float64], total: float, n_samples: int
) -> int:
    """Return the number of components for a value of `n_components`.

    Parameters
    ----------
    wanted : int, float in (0, 1) or 'mle'
        A number; the minimum fraction of variance to keep; or Minka's choice.
    variance : ndarray of shape (n,)
        All variances, descending.
    total : float
        Their sum.
    n_samples : int
        Number of rows, for Minka's choice.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> count_components(0.9, np.array([6.0, 3.0, 1.0]), 10.0, 100)
    2
    """
    if isinstance(wanted, str):
        return likeliest_dimension(variance, n_samples)
    if 0 < wanted < 1:
        if not total > 0:
            return 1
        reached = np.cumsum(variance) / total
        slack = 4 * np.finfo(np.float64).eps * len(variance)  # rounding of the sum
        return min(int(np.searchsorted(reached, wanted - slack)) + 1, len(variance))
    return int(wanted)


def likeliest_dimension(variance: NDArray[np.float64], n_samples: int) -> int:
    r"""Return the dimension with the largest evidence, by Minka's approximation.

    Parameters
    ----------
    variance : ndarray of shape (d,)
        All eigenvalues of the covariance, descending.
    n_samples : int
        Number of rows.

    Returns
    -------
    int
        From 1 to d - 1.

    Notes
    -----
    Minka, Automatic choice of dimensionality for PCA (2000), equation 77. With
    :math:`\tilde\lambda_i = \lambda_i` for :math:`i \le k` and the mean of the rest beyond:

    .. math:: \log p(k) = \log p(U) - \frac{n}{2} \sum_{i \le k} \log \lambda_i
              - \frac{n (d - k)}{2} \log v + \frac{m + k}{2} \log 2\pi
              - \frac{1}{2} \sum_{i \le k} \sum_{j > i} \log
              \left[(\tilde\lambda_j^{-1} - \tilde\lambda_i^{-1})(\lambda_i - \lambda_j) n\right]
              - \frac{k}{2} \log n

    Examples
    --------
    >>> import numpy as np
    >>> likeliest_dimension(np.array([9.0, 5.0, 1.1, 1.0, 0.9]), 200)
    2
    """
    d = len(variance)
    if d < 2:
        raise ParameterError("n_components='mle' needs at least 2 columns; got 1")
    evidence = np.full(d, -np.inf)
    for k in range(1, d):
        if variance[k - 1] < 1e-15:
            break  # directions without variance are not components
        evidence[k] = _log_evidence(variance, k, n_samples)
    return max(int(np.argmax(evidence)), 1)


def _log_evidence(variance: NDArray[np.float64], k: int, n: int) -> float:
    d = len(variance)
    sides = (d - np.arange(1, k + 1) + 1) / 2
    prior = -k * np.log(2) + float(np.sum(gammaln(sides) - np.log(np.pi) * sides))
    rest = max(1e-15, float(variance[k:].sum()) / (d - k))
    smoothed = np.where(np.arange(d) < k, variance, rest)
    i, j = np.triu_indices(d, 1)
    i, j = i[i < k], j[i < k]
    with np.errstate(divide="ignore", invalid="ignore"):  # equal eigenvalues: log 0
        curve = np.log((variance[i] - variance[j]) * (1 / smoothed[j] - 1 / smoothed[i]))
    m = d * k - k * (k + 1) / 2
    found = (
        prior
        - n / 2 * float(np.log(variance[:k]).sum())
        - n * (d - k) / 2 * np.log(rest)
        + (m + k) / 2 * np.log(2 * np.pi)
        - (float(curve.sum()) + len(i) * np.log(n)) / 2
        - k / 2 * np.log(n)
    )
    return float(found) if not np.isnan(found) else -np.inf

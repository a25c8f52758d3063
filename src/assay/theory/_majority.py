"""The error of a majority vote of independent voters."""

from __future__ import annotations

from numbers import Integral, Real

from scipy.special import betainc


def majority_error(n_voters: int, error: float) -> float:
    r"""Return the probability that more than half of independent voters are wrong.

    Parameters
    ----------
    n_voters : int >= 1
        Number M of voters.
    error : float in [0, 1]
        Probability that a single voter is wrong.

    Returns
    -------
    float

    Notes
    -----
    Condorcet's sum, as a regularised incomplete beta function (exact for any M):

    .. math:: \sum_{k = \lceil (M + 1) / 2 \rceil}^{M}
              \binom{M}{k} \epsilon^k (1 - \epsilon)^{M - k}

    A tie, possible when M is even, does not count as an error.

    Examples
    --------
    >>> round(majority_error(11, 0.3), 6), round(majority_error(21, 0.3), 5)
    (0.078225, 0.02639)
    """
    if not isinstance(n_voters, Integral) or isinstance(n_voters, bool) or n_voters < 1:
        raise ValueError(f"n_voters must be an integer >= 1; got {n_voters!r}")
    if not isinstance(error, Real) or isinstance(error, bool) or not 0 <= error <= 1:
        raise ValueError(f"error must be a number in [0, 1]; got {error!r}")
    wrong = n_voters // 2 + 1  # P(at least k of M) = I_eps(k, M - k + 1)
    return float(betainc(wrong, n_voters - wrong + 1, error))

"""Sample sizes for probably approximately correct (PAC) learning."""

from __future__ import annotations

import math
from numbers import Integral, Real


def pac_sample_size(
    error: float,
    delta: float,
    *,
    n_hypotheses: int | None = None,
    log_hypotheses: float | None = None,
) -> int:
    r"""Return the number of examples that make a consistent hypothesis PAC.

    Parameters
    ----------
    error : float in (0, 1]
        Largest error :math:`\epsilon` of a hypothesis that still counts as good.
    delta : float in (0, 1]
        Probability that a bad hypothesis fits all the examples.
    n_hypotheses : int >= 1, default=None
        Size of the hypothesis space; an exact integer of any length.
    log_hypotheses : float >= 0, default=None
        Its natural logarithm instead, for example from `log_decision_lists`.

    Returns
    -------
    int
        The smallest number of examples that is enough.

    Notes
    -----
    A hypothesis with an error above :math:`\epsilon` agrees with N independent examples with
    probability at most :math:`(1 - \epsilon)^N \le e^{-\epsilon N}`. So no bad hypothesis of the
    finite space H survives, except with probability :math:`\delta`, once

    .. math:: N \ge \frac{1}{\epsilon} \left( \ln |H| + \ln \frac{1}{\delta} \right)

    For all Boolean functions of n attributes :math:`\ln |H| = 2^n \ln 2`: as many examples as
    there are cases. To learn, restrict the space or penalise complexity.

    Examples
    --------
    >>> from assay.theory import hypothesis_space_size, log_decision_lists
    >>> pac_sample_size(0.1, 0.05, n_hypotheses=hypothesis_space_size(10))
    7128
    >>> pac_sample_size(0.1, 0.05, log_hypotheses=log_decision_lists(10, 1))
    715
    """
    for name, value in (("error", error), ("delta", delta)):
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value <= 1:
            raise ValueError(f"{name} must be a number in (0, 1]; got {value!r}")
    if (n_hypotheses is None) == (log_hypotheses is None):
        raise ValueError("one of n_hypotheses and log_hypotheses must be given, and only one")
    needed = (_log_size(n_hypotheses, log_hypotheses) - math.log(delta)) / float(error)
    return max(0, math.ceil(needed))


def _log_size(n_hypotheses: int | None, log_hypotheses: float | None) -> float:
    if log_hypotheses is not None:
        if (
            not isinstance(log_hypotheses, Real)
            or isinstance(log_hypotheses, bool)
            or not 0 <= log_hypotheses < math.inf
        ):
            raise ValueError(f"log_hypotheses must be a finite number >= 0; got {log_hypotheses!r}")
        return float(log_hypotheses)
    if not isinstance(n_hypotheses, Integral) or isinstance(n_hypotheses, bool) or n_hypotheses < 1:
        raise ValueError(f"n_hypotheses must be an integer >= 1; got {n_hypotheses!r}")
    return math.log(int(n_hypotheses))

"""The widest margin within a budget of total slack, the other common meaning of C."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from assay.base import DataError, ParameterError
from assay.svm._binary import Machine, Settings, Table, separate

#: Largest penalty C tried; the smallest is its inverse.
_FARTHEST = 1e9
#: The total slack has stopped falling when ten times the penalty saves less than this share.
_STALLED = 1e-4
#: Number of consecutive steps in which this must hold.
_PATIENCE = 3


def separate_within(
    table: Table,
    signs: NDArray[np.float64],
    weight: NDArray[np.float64],
    budget: float,
    settings: Settings,
) -> Machine:
    r"""Solve the soft margin with a budget (James, Witten, Hastie, Tibshirani, eq. 9.12-9.15).

    .. math:: \max_{\beta, b, \xi} M \quad \|\beta\| = 1, \quad
              y_i(\beta \cdot x_i + b) \ge M(1 - \xi_i), \quad
              \xi_i \ge 0, \quad \sum_i s_i \xi_i \le B

    Parameters
    ----------
    table, signs, weight, settings
        As for `separate`.
    budget : float >= 0
        The budget B. With 0 the margin is hard.

    Returns
    -------
    Machine
        The solution, with the penalty C for which the total slack equals the budget.

    Raises
    ------
    ParameterError
        If the budget is so large that the margin is unbounded.
    DataError
        If no function of this kernel stays within the budget.

    Notes
    -----
    With :math:`w = \beta / M` this is :math:`\min \frac{1}{2} \|w\|^2` under the same constraints
    at margin 1. Its multiplier for the budget is the penalty C of the usual form, and the total
    slack of that form falls continuously as C grows; so C is found by Brent's method on log C, each
    step starting from the last solution. The budget is met up to a relative error of 1e-6, or to
    the tolerance.
    """
    most = 2.0 * min(float(weight[signs > 0].sum()), float(weight[signs < 0].sum()))
    if budget >= most:
        raise ParameterError(
            f"slack_budget must be below twice the weight of the smaller class, {most:g}, or the "
            f"margin is unbounded; got {budget!r}"
        )
    if budget == 0:
        return separate(table, signs, weight, np.inf, settings)
    search = _Search(table, signs, weight, budget, settings)
    low, high = search.bracket()
    if low < high:
        brentq(search.excess, low, high, xtol=1e-13, rtol=1e-14, maxiter=100)
    return search.best


class _Search:
    """Keeps the solution closest to the budget, as the result and as the next start."""

    def __init__(
        self,
        table: Table,
        signs: NDArray[np.float64],
        weight: NDArray[np.float64],
        budget: float,
        settings: Settings,
    ) -> None:
        self.data = (table, signs, weight)
        self.weight, self.budget = weight, budget
        self.settings = replace(settings, tol=min(settings.tol * 1e-2, 1e-5))
        self.close = max(1e-6, 1e-3 * settings.tol)
        self.last: Machine | None = None
        self.best: Machine
        self.distance = np.inf

    def excess(self, log_c: float) -> float:
        """Return the total slack minus the budget; 0 if it is close enough."""
        C = float(np.exp(log_c))
        start = None if self.last is None else self.last.coef * (C / self.last.C)
        machine = separate(*self.data, C, self.settings, start)
        self.last = machine
        over = float(self.weight @ machine.slack) - self.budget
        if abs(over) < self.distance:
            self.best, self.distance = machine, abs(over)
        return 0.0 if abs(over) <= self.close * self.budget else over

    def bracket(self) -> tuple[float, float]:
        """Return logarithms of a penalty with too much slack and of one with too little."""
        here, step = 0.0, np.log(10.0)
        over = self.excess(here)
        if over == 0:
            return here, here
        up, stalled = over > 0, 0
        while True:
            there = here + step if up else here - step
            now = self.excess(there)
            if now == 0:
                return there, there
            if (now < 0) == up:
                return min(here, there), max(here, there)
            saved = over - now
            stalled = stalled + 1 if saved < _STALLED * (over + self.budget) else 0
            if up and (stalled == _PATIENCE or there > np.log(_FARTHEST)):
                raise DataError(
                    f"the classes cannot be separated within slack_budget={self.budget:g} by this "
                    f"kernel: the total slack is still {now + self.budget:.6g} at "
                    f"C={np.exp(there):g}; raise the budget or take another kernel"
                )
            if there < -np.log(_FARTHEST):
                return there, there
            here, over = there, now

"""Solve one problem: two classes, or a tube around the targets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.svm import engine

Vector = NDArray[np.float64]
PRECOMPUTED = engine.Kernel("precomputed", gamma=1.0, coef0=0.0, degree=1)


@dataclass(frozen=True)
class Settings:
    """Settings of the solver; they change the solution only within the tolerance."""

    tol: float
    cache_mb: float
    shrinking: bool
    max_iter: int
    n_threads: int


@dataclass(frozen=True)
class Table:
    """Training rows in the engine's form.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the rows; 'precomputed' when they are a Gram matrix.
    rows : ndarray or CSR matrix
        The rows, or their Gram matrix.
    values : ndarray of float32 of shape (n, n), optional
        Precomputed kernel values. They change only the time, not the result.
    exact : ndarray of float64 of shape (n, n), optional
        The same values in float64.
    """

    kernel: engine.Kernel
    rows: Any
    values: NDArray[np.float32] | None = None
    exact: NDArray[np.float64] | None = None

    def part(self, index: NDArray[np.intp]) -> Table:
        """Return the table restricted to some rows."""
        if len(index) == self.rows.shape[0]:
            return self
        if self.kernel.kind == "precomputed":
            return Table(self.kernel, self.rows[np.ix_(index, index)])
        square = np.ix_(index, index)
        values = None if self.values is None else self.values[square]
        exact = None if self.exact is None else self.exact[square]
        return Table(self.kernel, self.rows[index], values, exact)


@dataclass(frozen=True)
class Machine:
    r"""A solved problem: :math:`f(x) = \sum_i c_i K(x_i, x) + b` and its certificate.

    Parameters
    ----------
    coef : ndarray of shape (n_rows,)
        Signed dual variables :math:`c_i = y_i \alpha_i`.
    slack : ndarray of shape (n_rows,)
        Slack of each training row: its hinge loss, or its distance from the tube.
    bias, margin : float
        :math:`b` and :math:`1/\|w\|`.
    C : float
        The penalty of one unit of slack.
    duality_gap, kkt_residual : float
        The certificate: both are 0 at the optimum.
    n_iter : int
        Iterations of the solver.
    stop_reason : str
        'converged', 'max_iter', 'inseparable' or 'stalled'.
    """

    coef: Vector
    slack: Vector
    bias: float
    margin: float
    C: float
    duality_gap: float
    kkt_residual: float
    n_iter: int
    stop_reason: str


def separate(
    table: Table,
    signs: Vector,
    weight: Vector,
    C: float,
    settings: Settings,
    start: Vector | None = None,
) -> Machine:
    r"""Solve the dual of the soft margin.

    .. math:: \min_\alpha \tfrac{1}{2} \sum_{ij} \alpha_i \alpha_j y_i y_j K_{ij} - \sum_i \alpha_i,
              \qquad \sum_i y_i \alpha_i = 0, \quad 0 \le \alpha_i \le C s_i

    Parameters
    ----------
    table : Table
        Training rows.
    signs : ndarray of shape (n_rows,)
        Classes as +1 and -1.
    weight : ndarray of shape (n_rows,)
        Weights s > 0.
    C : float > 0
        Penalty; infinity = no slack.
    settings : Settings
        Settings of the solver.
    start : ndarray of shape (n_rows,), optional
        Signed dual variables of another fit.

    Returns
    -------
    Machine
    """
    linear, upper = np.full(len(signs), -1.0), C * weight
    alpha = None if start is None else np.clip(signs * start, 0.0, upper)
    found = _solve(table, signs, linear, upper, settings, alpha, None)
    slack = _hinge(found.decision, found.bias, signs, linear)
    return _machine(found, C, signs * found.alpha, slack, settings)


def separate_pairs(
    table: Table,
    codes: NDArray[np.int64],
    n_classes: int,
    weight: Vector,
    C: float,
    settings: Settings,
) -> list[Machine]:
    """Solve the soft margin of every pair of classes, in one call of the engine.

    Parameters
    ----------
    table, weight, C, settings
        As for `separate`.
    codes : ndarray of int64 of shape (n_rows,)
        Classes 0..K-1, each with at least one row.
    n_classes : int
        K.

    Returns
    -------
    list of Machine
        One per pair (0, 1), (0, 2), ..., (1, 2), ...; without slacks.
    """
    found = engine.solve_pairs(
        table.rows,
        table.kernel,
        codes,
        n_classes,
        C * weight,
        tol=settings.tol,
        cache_mb=settings.cache_mb,
        shrinking=settings.shrinking,
        max_iter=settings.max_iter,
        n_threads=settings.n_threads,
        values=table.values,
        exact=table.exact,
    )
    machines = []
    members = [codes == k for k in range(n_classes)]
    for number, (i, j) in enumerate(combinations(range(n_classes), 2)):
        coef = np.where(members[i], found.coef[:, j - 1], found.coef[:, i])
        coef = coef[members[i] | members[j]]
        # The objective is |w|^2 / 2 - sum(alpha).
        squared = 2 * (float(found.objective[number]) + float(np.abs(coef).sum()))
        machines.append(
            Machine(
                coef=coef,
                slack=np.empty(0),
                bias=float(found.bias[number]),
                margin=float(1.0 / np.sqrt(squared)) if squared > 0 else float("inf"),
                C=float(C),
                duality_gap=float(found.duality_gap[number]),
                kkt_residual=float(found.kkt_residual[number]),
                n_iter=int(found.n_iter[number]),
                stop_reason=stop_reason(
                    found.stop_reason[number], float(found.kkt_residual[number]), settings
                ),
            )
        )
    return machines


def follow(
    table: Table,
    targets: Vector,
    weight: Vector,
    C: float,
    epsilon: float,
    settings: Settings,
    start: Vector | None = None,
) -> Machine:
    r"""Solve the dual of the tube of half-width epsilon around the targets.

    .. math:: \min \tfrac{1}{2} \beta^\top K \beta - y^\top \beta
              + \varepsilon \sum_i (\alpha_i + \alpha_i^*), \qquad \beta = \alpha - \alpha^*,
              \quad \sum_i \beta_i = 0, \quad 0 \le \alpha_i, \alpha_i^* \le C s_i

    Parameters
    ----------
    table, weight, C, settings
        As for `separate`.
    targets : ndarray of shape (n_rows,)
        The values y.
    epsilon : float >= 0
        Half-width.
    start : ndarray of shape (n_rows,), optional
        The :math:`\beta` of another fit.

    Returns
    -------
    Machine
    """
    n = len(targets)
    signs = np.repeat([1.0, -1.0], n)
    linear = np.concatenate([epsilon - targets, epsilon + targets])
    row_of = np.tile(np.arange(n, dtype=np.int32), 2)
    upper = np.tile(C * weight, 2)
    alpha = None if start is None else np.clip(signs * np.tile(start, 2), 0.0, upper)
    found = _solve(table, signs, linear, upper, settings, alpha, row_of)
    beta = found.alpha[:n] - found.alpha[n:]
    slack = _hinge(np.tile(found.decision, 2), found.bias, signs, linear)
    return _machine(found, C, beta, np.maximum(slack[:n], slack[n:]), settings)


def _solve(
    table: Table,
    signs: Vector,
    linear: Vector,
    upper: Vector,
    settings: Settings,
    start: Vector | None,
    row_of: NDArray[np.int32] | None,
) -> engine.Solution:
    return engine.solve(
        table.rows,
        table.kernel,
        signs,
        linear,
        upper,
        tol=settings.tol,
        cache_mb=settings.cache_mb,
        shrinking=settings.shrinking,
        start=start,
        max_iter=settings.max_iter,
        n_threads=settings.n_threads,
        row_of=row_of,
        values=table.values,
        exact=table.exact,
    )


def _hinge(decision: Vector, bias: float, signs: Vector, linear: Vector) -> Vector:
    # Distance to the margin, or to the tube: -(s f(x) + p).
    return np.maximum(0.0, -(signs * (decision + bias) + linear))


def stop_reason(stop_reason: str, residual: float, settings: Settings) -> str:
    """Return why the solver stopped; stalling within the tolerance counts as converged."""
    return "converged" if stop_reason == "stalled" and residual <= settings.tol else stop_reason


def _machine(
    found: engine.Solution, C: float, coef: Vector, slack: Vector, settings: Settings
) -> Machine:
    squared = float(coef @ found.decision)  # |w|^2 = c'Kc
    return Machine(
        coef=coef,
        slack=slack,
        bias=float(found.bias),
        margin=float(1.0 / np.sqrt(squared)) if squared > 0 else float("inf"),
        C=float(C),
        duality_gap=float(found.duality_gap),
        kkt_residual=float(found.kkt_residual),
        n_iter=int(found.n_iter),
        stop_reason=stop_reason(found.stop_reason, found.kkt_residual, settings),
    )

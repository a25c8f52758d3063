"""Choose and run the solver of the linear SVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, identity, issparse

from assay._core import linear as kernels
from assay.linear._gradient_descent_solver import Binaries, Floats, csr_arrays

#: The core's SvcStop.
STOPS: Final = ("converged", "max_iter", "stalled")


@dataclass(frozen=True)
class Solved:
    """One row, value or reason per binary problem."""

    coef: Floats
    intercept: Floats
    objective: Floats
    gap: Floats
    n_iter: int
    stop: str


@dataclass(frozen=True)
class Task:
    """The objective and the tolerance."""

    penalty: str
    loss: str
    C: float
    constant: float  # of the intercept's column; 0 = no intercept
    tol: float  # of the duality gap, relative
    max_iter: int
    seed: int
    n_threads: int


def solve(rows: Any, problems: Binaries, task: Task) -> Solved:
    """Return the minima of all binary problems."""
    counted = problems.weight > 0
    if not counted.all():
        rows, problems = rows[counted], problems.rows(counted)
    if (task.penalty, task.loss) != ("l1", "hinge"):
        return _solve_in_core(rows, problems, task)
    each = [_solve_lp(rows, problems, k, task) for k in range(problems.count)]
    weights, objective, gap, n_iter, stop = zip(*each, strict=True)
    n = rows.shape[1]
    coef = np.array([row[:n] for row in weights])
    intercept = np.array([task.constant * row[n] if task.constant else 0.0 for row in weights])
    worst = max(stop, key=STOPS.index)
    return Solved(coef, intercept, np.array(objective), np.array(gap), max(n_iter), worst)


def _solve_in_core(rows: Any, problems: Binaries, task: Task) -> Solved:
    coef = np.zeros((problems.count, rows.shape[1]))
    intercept = np.zeros(problems.count)
    call = kernels.SvcCall(
        targets=problems.targets,
        weight=problems.weight,
        positives=problems.positives,
        positive_weight=problems.positive_weight,
        negative_weight=problems.negative_weight,
        squared=task.loss == "squared_hinge",
        sparse=task.penalty == "l1",
        C=task.C,
        constant=task.constant,
        tol=task.tol,
        max_iter=task.max_iter,
        seed=task.seed,
        solver=0,
        coef=coef,
        intercept=intercept,
        n_threads=task.n_threads,
    )
    run: Any = kernels.solve_svc  # the overload is only known at run time
    found = run(*csr_arrays(rows), call)
    stop = STOPS[int(found["stop"].max())]
    n_iter = int(found["n_iter"].max())
    return Solved(coef, intercept, found["objective"], found["gap"], n_iter, stop)


def _solve_lp(
    rows: Any, problems: Binaries, k: int, task: Task
) -> tuple[Floats, float, float, int, str]:
    """Minimise ||w||_1 + sum_i C_i xi_i, including the constant's weight, for problem k."""
    signs = problems.signed(k)[0]
    scale = np.where(signs > 0, problems.positive_weight[k], problems.negative_weight[k])
    costs = task.C * problems.weight * scale
    table = _with_constant(rows, task.constant)
    weights, dual, n_iter, stop = _linear_program(table, signs, costs, task.max_iter)
    slack = np.maximum(0.0, 1.0 - signs * (table @ weights))
    objective = float(np.abs(weights).sum() + costs @ slack)
    # The multipliers, made feasible: 0 <= a <= C and |sum_i a_i y_i z_ij| <= 1.
    alpha = np.clip(dual, 0.0, costs)
    pull = float(np.abs(table.T @ (signs * alpha)).max(initial=0.0))
    gap = objective - float(alpha.sum()) / max(1.0, pull)
    return weights, objective, gap, n_iter, stop


def _with_constant(rows: Any, constant: float) -> Any:
    if not constant:
        return rows.astype(np.float64, copy=False)
    column = np.full((rows.shape[0], 1), constant)
    if issparse(rows):
        return csr_array(hstack([rows.astype(np.float64, copy=False), csr_array(column)]))
    return np.hstack([rows, column])


def _linear_program(
    table: Any, signs: Floats, costs: Floats, max_iter: int
) -> tuple[Floats, Floats, int, str]:
    """Minimise ||w||_1 + sum_i C_i xi_i with y_i z_i.w >= 1 - xi_i, as a linear program."""
    n, d = table.shape
    signed = csr_array(table).multiply(signs[:, None])
    above = hstack([-signed, signed, -identity(n)], format="csr")
    cost = np.concatenate([np.ones(2 * d), costs])
    found = linprog(
        cost, A_ub=above, b_ub=-np.ones(n), method="highs", options={"maxiter": 1000 * max_iter}
    )
    if found.x is None:
        return np.zeros(d), np.zeros(n), 0, "stalled"
    stop = "converged" if found.status == 0 else "max_iter"
    weights = found.x[:d] - found.x[d : 2 * d]
    return weights, -found.ineqlin.marginals, int(found.nit), stop

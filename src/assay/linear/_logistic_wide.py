"""More columns than rows: the same problem in the space of the rows.

The gradient of the loss is a linear combination of rows, so with an L2 penalty the coefficients lie
in their span. With :math:`X^T = Q R` and :math:`w = Q u`, scores are :math:`X w = R^T u` and norms
are equal: n columns instead of p, computed once for a whole path of penalties, without
approximation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import issparse

from assay.linear._least_problem import one_blas_thread
from assay.linear._logistic_solve import Solution, Strength, probabilities, solve_path

Array = NDArray[np.float64]

# The rotation costs 4 p n^2 operations. Up to _FACTORED_COLUMNS the solver factors a p x p matrix
# for each penalty, which n x n ones replace. Beyond that it uses only the diagonal, whose few
# passes over the table are cheaper than the rotation, unless there are few rows or several
# penalties share it (measured).
_MOST_ROWS, _FEW_ROWS, _FACTORED_COLUMNS = 800, 150, 1600
_FEWEST_COLUMNS_PER_ROW, _MANY_COLUMNS_PER_ROW = 1.5, 4
_SEVERAL_PENALTIES = 4


def is_wide(rows: Any, strengths: Sequence[Strength]) -> bool:
    """Whether the problem is better solved in the space of the rows."""
    if issparse(rows) or any(each.l1 > 0 or each.l2 == 0 for each in strengths):
        return False
    n, p = rows.shape
    if n > _MOST_ROWS or p < _FEWEST_COLUMNS_PER_ROW * n:
        return False
    if n <= _FEW_ROWS or p <= _FACTORED_COLUMNS:
        return True
    return len(strengths) >= _SEVERAL_PENALTIES and bool(p >= _MANY_COLUMNS_PER_ROW * n)


def solve_wide(
    rows: Any,
    codes: NDArray[np.int64],
    weight: Array,
    n_classes: int,
    strengths: Sequence[Strength],
    settings: Mapping[str, Any],
    n_threads: int,
    start: Array | None = None,
) -> list[Solution]:
    """Return the same solutions as `solve_path`, for L2 penalties."""
    with one_blas_thread():
        basis, factor = linalg.qr(rows.T, mode="economic", check_finite=False)
        if start is not None:
            start = np.column_stack([start[:, :-1] @ basis, start[:, -1]])
        # The largest of the p rotated components is at most sqrt(n) times the largest of the n.
        inside = {**settings, "tol": settings["tol"] / np.sqrt(len(rows))}
        turned = np.ascontiguousarray(factor.T)
        found = solve_path(turned, codes, weight, n_classes, strengths, inside, n_threads, start)
        return [
            _rotated_back(each, basis, rows, codes, weight, strength, settings)
            for each, strength in zip(found, strengths, strict=True)
        ]


def _rotated_back(
    found: Solution,
    basis: Array,
    rows: Array,
    codes: NDArray[np.int64],
    weight: Array,
    strength: Strength,
    settings: Mapping[str, Any],
) -> Solution:
    """Rotate the solution back to the columns of the table, and certify it there."""
    coef = found.coef @ basis.T
    scores = rows @ coef.T + found.intercept
    excess = probabilities(scores[:, 0] if len(coef) == 1 else scores)
    excess[np.arange(len(codes)), codes] -= 1.0
    excess = (excess[:, 1:] if len(coef) == 1 else excess) * (weight / weight.sum())[:, None]
    gradient = excess.T @ rows + strength.l2 / weight.sum() * coef
    norm = float(np.abs(gradient).max())
    if settings["fit_intercept"]:
        norm = max(norm, float(np.abs(excess.sum(axis=0)).max()))
    stop = "converged" if norm <= settings["tol"] else found.stop_reason
    return replace(found, coef=coef, gradient_norm=norm, stop_reason=stop)

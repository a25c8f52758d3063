r"""Newton's method for logistic losses in the space of a kernel.

.. math:: \min_{A, b} \tfrac{1}{2} \sum_c A_c^\top K A_c
          + \sum_i C_i \ell_{t_i}\big(f_1(x_i), \ldots, f_k(x_i)\big), \qquad
          f_c = K A_c + b_c 1

with the softmax cross-entropy for several columns, and the logistic loss for one. A step linearises
the condition :math:`A = -\nabla \ell` and solves it through
:math:`Z = (K + W^{-1})^{-1}`, which needs neither the inverse of K nor that of W (Rasmussen and
Williams, Gaussian Processes for Machine Learning, algorithms 3.1 and 3.3), with the intercepts b
eliminated by :math:`1^\top A_c = 0`. O(k n^3) for each step; steps converge quadratically.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, log_expit, logsumexp, softmax, xlogy

Matrix = NDArray[np.float64]
Operator = Callable[[Matrix], Matrix]


@dataclass(frozen=True)
class Logistic:
    """A solved problem and its optimality certificate.

    Parameters
    ----------
    coef : ndarray of shape (n, k)
        Dual variables A.
    intercept : ndarray of shape (k,)
        Intercepts b.
    residual : float
        Largest difference between a dual variable and its value implied by the probabilities.
    gap : float
        Primal minus dual objective.
    n_iter : int
        Newton steps.
    stop_reason : str
        'converged', 'max_iter' or 'precision' (no step in float64 decreases the objective).
    """

    coef: Matrix
    intercept: Matrix
    residual: float
    gap: float
    n_iter: int
    stop_reason: str


def minimise(
    gram: Matrix, truth: Matrix, penalty: NDArray[np.float64], tol: float, max_iter: int
) -> Logistic:
    """Solve one problem.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Kernel matrix.
    truth : ndarray of shape (n, k)
        Indicators of the classes; one column of 0 and 1 for the logistic loss of two classes.
    penalty : ndarray of shape (n,)
        :math:`C_i`, C times the weight of row i.
    tol : float
        Largest residual.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    Logistic
    """
    n, k = truth.shape
    coef, intercept = np.zeros((n, k)), np.zeros(k)
    scores = np.zeros((n, k))
    value = _objective(coef, scores - intercept, scores, truth, penalty)
    reason, n_iter = "max_iter", 0
    while n_iter < max_iter:
        n_iter += 1
        gradient = penalty[:, None] * (_probability(scores) - truth)
        solve, hessian = _operators(gram, scores, penalty)
        right = hessian(scores) - gradient
        new = right - solve(gram @ right)
        shift, columns = _thresholds(new, solve, k)
        new = new - columns @ shift
        target = gram @ new + shift
        slope = float(
            ((coef + gradient) * (target - shift - (scores - intercept))).sum()
            + gradient.sum(axis=0) @ (shift - intercept)
        )
        size, found = 1.0, False
        for _ in range(40):
            trial = scores + size * (target - scores)
            bias = intercept + size * (shift - intercept)
            candidate = coef + size * (new - coef)
            lower = _objective(candidate, trial - bias, trial, truth, penalty)
            if lower <= value + 1e-4 * size * min(slope, 0.0):
                found = True
                break
            size /= 2
        if not found:
            reason = "precision"
            break
        coef, intercept, scores, value = candidate, bias, trial, lower
        if _residual(coef, scores, truth, penalty) <= tol:
            reason = "converged"
            break
    residual = _residual(coef, scores, truth, penalty)
    if reason == "precision" and residual <= np.sqrt(np.finfo(np.float64).eps):
        reason = "converged"
    gap = value - _dual(coef, scores - intercept, truth, penalty)
    return Logistic(coef, intercept, residual, max(gap, 0.0), n_iter, reason)


def _probability(scores: Matrix) -> Matrix:
    found: Matrix = expit(scores) if scores.shape[1] == 1 else softmax(scores, axis=1)
    return found


def _objective(
    coef: Matrix, smooth: Matrix, scores: Matrix, truth: Matrix, penalty: NDArray[np.float64]
) -> float:
    """Half the squared norm plus the loss; `smooth` is K A, without intercepts."""
    if truth.shape[1] == 1:
        losses = -log_expit(np.where(truth > 0, scores, -scores))[:, 0]
    else:
        losses = logsumexp(scores, axis=1) - (truth * scores).sum(axis=1)
    return float((coef * smooth).sum() / 2 + penalty @ losses)


def _dual(coef: Matrix, smooth: Matrix, truth: Matrix, penalty: NDArray[np.float64]) -> float:
    """Return the dual objective; minus infinity if the point is not feasible."""
    share = truth - coef / penalty[:, None]
    if share.shape[1] == 1:
        share = np.hstack([share, 1 - share])
    if share.min() < -1e-9:
        return -np.inf
    share = np.maximum(share, 0.0)
    return float(-(coef * smooth).sum() / 2 - penalty @ xlogy(share, share).sum(axis=1))


def _residual(coef: Matrix, scores: Matrix, truth: Matrix, penalty: NDArray[np.float64]) -> float:
    return float(np.abs(coef / penalty[:, None] + _probability(scores) - truth).max())


def _thresholds(free: Matrix, solve: Operator, k: int) -> tuple[Matrix, Matrix]:
    """Return the b for which the columns of A sum to zero, and the derivative of A by b."""
    n = len(free)
    columns = np.stack([solve(np.ones((n, 1)) * unit) for unit in np.eye(k)], axis=2)
    shift = np.linalg.lstsq(columns.sum(axis=0), free.sum(axis=0), rcond=1e-10)[0]
    # Adding a constant to all b of a softmax changes nothing, so they are made to sum to zero.
    return shift if k == 1 else shift - shift.mean(), columns


def _operators(
    gram: Matrix, scores: Matrix, penalty: NDArray[np.float64]
) -> tuple[Operator, Operator]:
    """Return V -> (K + W^-1)^-1 V and V -> W V, W the Hessian of the loss."""
    p = _probability(scores)
    if p.shape[1] == 1:
        weight = penalty[:, None] * p * (1 - p)
        root = np.sqrt(weight)
        factor = _factor(gram, root[:, 0])
        return (
            lambda V: np.asarray(root * cho_solve(factor, root * V, check_finite=False)),
            lambda V: np.asarray(weight * V),
        )
    roots = np.sqrt(penalty[:, None] * p)
    inverses = [_inverse(gram, root) for root in roots.T]
    total = cho_factor(sum(inverses), lower=True, check_finite=False)

    def solve(V: Matrix) -> Matrix:
        each = np.stack([E @ v for E, v in zip(inverses, V.T, strict=True)], axis=1)
        common = cho_solve(total, each.sum(axis=1), check_finite=False)
        return np.asarray(each - np.stack([E @ common for E in inverses], axis=1))

    def hessian(V: Matrix) -> Matrix:
        return np.asarray(penalty[:, None] * p * (V - (p * V).sum(axis=1, keepdims=True)))

    return solve, hessian


def _factor(gram: Matrix, root: NDArray[np.float64]) -> tuple[Matrix, bool]:
    inner = root[:, None] * gram * root
    inner[np.diag_indices_from(inner)] += 1.0
    factor: tuple[Matrix, bool] = cho_factor(
        inner, lower=True, overwrite_a=True, check_finite=False
    )
    return factor


def _inverse(gram: Matrix, root: NDArray[np.float64]) -> Matrix:
    """Return (K + D^-1)^-1 for a diagonal D, given its root."""
    inverse: Matrix = cho_solve(_factor(gram, root), np.diag(root), check_finite=False)
    return root[:, None] * inverse

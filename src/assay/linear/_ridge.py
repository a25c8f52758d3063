"""Linear regression with an L2 penalty."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.base import (
    ParameterError,
    check_interval,
    check_n_jobs,
    check_option,
    check_random_state,
)
from assay.base.stored import Integers, Plain, declared, ensure
from assay.linear._least_model import LinearModel
from assay.linear._least_problem import Problem
from assay.linear._least_solve import Solved, solve, solve_positive
from assay.linear._ridge_path import RidgePath

SOLVERS = ("auto", "cholesky", "svd", "sparse_cg", "lsqr", "sag", "saga", "lbfgs")
#: scikit-learn's iterative solvers; the same problem is solved directly here.
_EXACT = frozenset({"sag", "saga", "lbfgs"})


class Ridge(LinearModel):
    r"""Linear regression with an L2 penalty, which shrinks the weights.

    Parameters
    ----------
    alpha : float >= 0 or array of shape (n_targets,), default=1.0
        Strength of the penalty. Larger values shrink the weights more; 0 is ordinary least squares.
        An array has one value per target.
    fit_intercept : bool, default=True
        Whether to fit an intercept. It is not penalised.
    copy_X : bool, default=True
        Accepted for compatibility with scikit-learn; X is never modified.
    max_iter : int, default=None
        Maximum number of iterations of 'sparse_cg' and 'lsqr'.
    tol : float >= 0, default=0.0001
        Precision of 'sparse_cg' and 'lsqr'; 1e-10 where this is larger.
    solver : str, default='auto'
        'cholesky': normal equations of the columns (or of the rows, if there are fewer), with a
        check of their condition; 'svd': singular value decomposition; 'sparse_cg', 'lsqr':
        iterative. 'auto' is 'cholesky' except for large sparse tables. 'sag', 'saga' and 'lbfgs'
        are accepted and mean 'auto': the minimum is the same.
    positive : bool, default=False
        Whether to require all weights to be >= 0.
    random_state : int, RandomState instance or None, default=None
        Accepted for compatibility with scikit-learn; the fit is deterministic.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The weights.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept.
    solver_ : str
        The solver used. It differs from `solver` when the normal equations would lose too many
        digits: then it is 'svd' (or 'lsqr' for large sparse tables).
    n_iter_ : ndarray of int of shape (n_targets,)
        Number of iterations; 1 for a direct solution.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \min_{w, b} \sum_i v_i (y_i - b - x_i^\top w)^2 + \alpha \|w\|_2^2, \qquad
              (X^\top V X + \alpha I)\, w = X^\top V y

    with rows and targets centred, and v the sample weights. One pass over the table computes the
    products of the columns, O(n d^2); a Cholesky factorisation of them, with columns scaled to unit
    length, gives the weights for each penalty, O(d^3). An estimate of the condition number shows
    how many digits are lost: up to 5 are accepted, up to 10 are recovered from the residuals, and
    beyond that the singular value decomposition is used. Deterministic.

    The penalty treats all weights alike, so scale the columns first.

    See Also
    --------
    LinearRegression : Without a penalty.
    Lasso : A penalty that makes weights exactly zero.

    Examples
    --------
    >>> from assay.linear import Ridge
    >>> model = Ridge(alpha=2.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> model.coef_.tolist(), model.intercept_, model.solver_
    ([0.5], 0.5, 'cholesky')
    """

    model_id: ClassVar[int | None] = 171
    assay_path: ClassVar[RidgePath] = RidgePath()
    stored = declared(solver_=Plain(str), n_iter_=Integers("fits", 0))

    def __init__(
        self,
        alpha: float | ArrayLike = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn weights and intercept.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row's squared error.

        Returns
        -------
        Ridge
            The fitted model.
        """
        self._fit(X, y, sample_weight)
        return self

    def _fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        known: Problem | None = None,
    ) -> Problem:
        """Fit, and return the problem with its cached results, for other penalties."""
        n_threads = self._check_params()
        rows, values, weight = self._fit_data(X, y, sample_weight, multi_output=True, finite=False)
        targets = values[:, None] if values.ndim == 1 else values
        problem = known or Problem(rows, targets, weight, self.fit_intercept, n_threads)
        if not problem.sparse:  # sparse values were checked already
            sure = self._needs_products(problem) and problem.has_finite_products
            if not sure:
                self._check_finite(rows)
        solved = self._solve(problem)
        direct = np.ones(targets.shape[1], dtype=np.int64)
        self._store(solved.coef, solved.intercept, flat=values.ndim == 1)
        self.solver_ = solved.solver
        self.n_iter_ = direct if solved.n_iter is None else solved.n_iter
        return problem

    def _needs_products(self, problem: Problem) -> bool:
        """Whether the products of the columns are computed anyway; they also reveal NaN."""
        return (
            not problem.wide and not self.positive and self.solver in (*_EXACT, "auto", "cholesky")
        )

    def _solve(self, problem: Problem) -> Solved:
        """Solve for this penalty; the problem caches what other penalties can reuse."""
        alpha = penalties(self.alpha, problem.Y.shape[1])
        if self.positive:
            return solve_positive(problem, alpha)
        solver = "auto" if self.solver in _EXACT else self.solver
        return solve(problem, alpha, solver=solver, tol=self.tol, max_iter=self.max_iter)

    def _check_params(self) -> int:
        penalties(self.alpha, None)
        check_option("fit_intercept", self.fit_intercept, [True, False])
        check_option("copy_X", self.copy_X, [True, False])
        check_random_state(self.random_state)
        check_interval("max_iter", self.max_iter, 1, integer=True, options=[None])
        check_interval("tol", self.tol, 0)
        check_option("solver", self.solver, SOLVERS)
        check_option("positive", self.positive, [True, False])
        if self.positive and self.solver not in ("auto", "lbfgs"):
            raise ParameterError(
                f"solver must be 'auto' (or 'lbfgs') when positive=True; got {self.solver!r}"
            )
        return check_n_jobs(self.n_jobs)

    def _check_more(self) -> None:
        fits = len(self.n_iter_) == len(np.atleast_2d(self.coef_))
        ensure(fits, "Ridge.n_iter_ does not have one entry per target")


def penalties(alpha: Any, n_targets: int | None) -> NDArray[np.float64]:
    """Return one penalty per target; with None, check the values only."""
    if np.ndim(alpha) == 0:
        value = alpha.item() if isinstance(alpha, (np.generic, np.ndarray)) else alpha
        check_interval("alpha", value, 0, open_high=True)
        return np.full(n_targets or 1, float(value))
    try:
        values = np.array(alpha, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"alpha must hold numbers only; got {alpha!r}") from None
    if values.ndim != 1 or not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError(
            f"alpha must be a finite number >= 0, or one for each target; got {alpha!r}"
        )
    if n_targets is not None and len(values) not in (1, n_targets):
        raise ParameterError(
            f"alpha must hold one number, or one for each of {n_targets} targets; "
            f"got {len(values)} (numbers of targets and penalties do not correspond)"
        )
    return np.broadcast_to(values, n_targets).copy() if n_targets is not None else values

"""Ordinary least squares."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from assay.base import check_interval, check_n_jobs, check_option
from assay.base.stored import Array, Count, Plain, declared
from assay.linear._least_model import LinearModel
from assay.linear._least_problem import Problem, one_blas_thread
from assay.linear._least_solve import MOST_DENSE, MOST_PRODUCTS, Solved, solve, solve_positive


class LinearRegression(LinearModel):
    r"""Ordinary least squares linear regression.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Accepted for compatibility with scikit-learn; X is never modified.
    tol : float >= 0, default=1e-06
        Tolerance of the iterative solver used for sparse tables with thousands of columns; values
        above 1e-10 are replaced by 1e-10. Unlike in scikit-learn 1.9 it is not a threshold for
        singular values: that would make the result depend on the units of the columns.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.
    positive : bool, default=False
        Whether to require all weights to be >= 0.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The weights. If several solutions exist, the one with the smallest norm.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept.
    rank_ : int
        Rank of the centred table. Not set by iterative solvers or with `positive`.
    singular_ : ndarray of shape (min(n_samples, n_features),)
        Its singular values, largest first. Not set by iterative solvers or with `positive`.
    solver_ : str
        'cholesky' (normal equations) where these keep enough digits, else 'svd'; 'lsqr' for large
        sparse tables; 'nnls' with `positive`.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \min_{w, b} \sum_i v_i (y_i - b - x_i^\top w)^2, \qquad
              X^\top V X\, w = X^\top V y

    with rows and targets centred, and v the sample weights. For one column:
    :math:`w = (N \sum xy - \sum x \sum y) / (N \sum x^2 - (\sum x)^2)`.

    O(n d^2) by the normal equations, with columns scaled to unit length. An estimate of the
    condition number decides whether that is accurate enough: if more than five digits would be lost
    they are recovered from the residuals of the rows; if more than ten, or if columns are linearly
    dependent, the singular value decomposition is used, which takes several times as long.
    Deterministic.

    See Also
    --------
    Ridge : Adds an L2 penalty.
    PolynomialRegression : Curves and interactions.

    Examples
    --------
    >>> from assay.linear import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.coef_.round(9).tolist(), round(model.intercept_, 9), model.rank_
    ([2.0], 1.0, 1)
    """

    model_id: ClassVar[int | None] = 170
    stored = declared(
        solver_=Plain(str),
        singular_=Array("singular", 0, when=lambda model: model.solver_ in ("cholesky", "svd")),
        rank_=Count(0, "singular", when=lambda model: model.solver_ in ("cholesky", "svd")),
    )

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

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
        LinearRegression
            The fitted model.
        """
        check_option("fit_intercept", self.fit_intercept, [True, False])
        check_option("copy_X", self.copy_X, [True, False])
        check_interval("tol", self.tol, 0)
        check_option("positive", self.positive, [True, False])
        n_threads = check_n_jobs(self.n_jobs)
        rows, values, weight = self._fit_data(X, y, sample_weight, multi_output=True)
        targets = values[:, None] if values.ndim == 1 else values
        problem = Problem(rows, targets, weight, self.fit_intercept, n_threads)
        solved = self._solve(problem)
        self._store(solved.coef, solved.intercept, flat=values.ndim == 1)
        self.solver_ = solved.solver
        for name in ("rank_", "singular_"):
            if hasattr(self, name):
                delattr(self, name)
        if self.solver_ in ("cholesky", "svd"):
            self.rank_, self.singular_ = rank_and_singular(problem, self.solver_)
        return self

    def _solve(self, problem: Problem) -> Solved:
        nothing = np.zeros(problem.Y.shape[1])
        if self.positive:
            return solve_positive(problem, nothing)
        solver = "cholesky"
        if problem.sparse and problem.numbers > MOST_DENSE and min(problem.X.shape) > MOST_PRODUCTS:
            solver = "lsqr"
        return solve(problem, nothing, solver=solver, tol=self.tol)


def rank_and_singular(problem: Problem, solver: str) -> tuple[int, NDArray[np.float64]]:
    """Return rank and singular values of the centred table from the solver's results."""
    if solver == "svd":
        return problem.factors.rank, problem.factors.singular
    gram = problem.moments.gram
    with one_blas_thread():
        squares = linalg.eigvalsh(gram, check_finite=False)[::-1]
    # Solved by the normal equations: columns are independent or all zero.
    return int(np.count_nonzero(np.diagonal(gram))), np.sqrt(np.maximum(squares, 0.0))

"""Ordinary least squares."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from assay.base import DataError, check_array_state, check_interval, check_n_jobs, check_option
from assay.linear._least_model import LinearModel
from assay.linear._least_problem import Problem, one_blas_thread
from assay.linear._least_solve import MOST_DENSE, MOST_PRODUCTS, Solved, solve, solve_positive


class LinearRegression(LinearModel):
    r"""Fit a linear function with the smallest sum of squared errors.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is an intercept.
    copy_X : bool, default=True
        For compatibility: X is never written to.
    tol : float >= 0, default=1e-06
        Precision of the iterations that sparse tables with thousands of columns need; 1e-10 where
        this is larger. Not, as in scikit-learn 1.9, a bound below which singular values count as
        zero: that would make the answer depend on the units of the columns.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.
    positive : bool, default=False
        Whether weights must not be negative.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The weights; of many solutions the one of least length.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept.
    rank_ : int
        Rank of the centred table. Not for iterations and not for `positive`.
    singular_ : ndarray of shape (min(n_samples, n_features),)
        Its singular values, largest first. Not for iterations and not for `positive`.
    solver_ : str
        'cholesky' (products of columns) where these keep enough digits, else 'svd'; 'lsqr' for
        large sparse tables; 'nnls' for `positive`.
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
    condition number decides: where more than five digits would be lost they are regained from the
    residuals of the rows, where more than ten, or columns depend on each other, the singular values
    of the table are used, at several times the price. Deterministic.

    See Also
    --------
    Ridge : With a price on large weights.
    PolynomialRegression : Curves and interactions.

    Examples
    --------
    >>> from assay.linear import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.coef_.round(9).tolist(), round(model.intercept_, 9), model.rank_
    ([2.0], 1.0, 1)
    """

    model_id: ClassVar[int | None] = 170

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

    def _check_state(self) -> None:
        super()._check_state()
        if not isinstance(getattr(self, "solver_", None), str):
            raise DataError("the model is damaged: LinearRegression.solver_ is missing or no text")
        if self.solver_ in ("cholesky", "svd"):
            check_array_state(self, "singular_", "f", (None,), low=0.0)
            rank = getattr(self, "rank_", None)
            if not isinstance(rank, int) or not 0 <= rank <= len(self.singular_):
                raise DataError(
                    "the model is damaged: LinearRegression.rank_ does not fit singular_"
                )


def rank_and_singular(problem: Problem, solver: str) -> tuple[int, NDArray[np.float64]]:
    """Return rank and singular values of the centred table, from what the solver has made."""
    if solver == "svd":
        return problem.factors.rank, problem.factors.singular
    gram = problem.moments.gram
    with one_blas_thread():
        squares = linalg.eigvalsh(gram, check_finite=False)[::-1]
    # Solved by products of columns: these are independent, or zero throughout.
    return int(np.count_nonzero(np.diagonal(gram))), np.sqrt(np.maximum(squares, 0.0))

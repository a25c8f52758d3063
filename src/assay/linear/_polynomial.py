"""Polynomial regression."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from assay.base import DataError, check_interval, check_n_jobs, check_option
from assay.base.stored import Array, Integers, Plain, declared, ensure
from assay.linear._least_model import LinearModel, scores
from assay.linear._least_problem import Problem
from assay.linear._least_solve import solve

#: Maximum number of terms; their matrix of products takes 800 MB.
MOST_TERMS = 10_000


class PolynomialRegression(LinearModel):
    r"""Polynomial regression by least squares, with an optional L2 penalty.

    Parameters
    ----------
    degree : int >= 1, default=2
        Highest total degree of a term. Larger values fit more closely and overfit more easily.
    interaction_only : bool, default=False
        Whether to use only products of different columns, without powers.
    fit_intercept : bool, default=True
        Whether to fit a constant term. It is not penalised.
    alpha : float >= 0, default=0.0
        Strength of the L2 penalty, as in `Ridge`; 0 is ordinary least squares.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Attributes
    ----------
    powers_ : ndarray of int of shape (n_terms, n_features_in_)
        Exponent of each column in each term: by degree, then in the order of the columns.
    coef_ : ndarray of shape (n_terms,) or (n_targets, n_terms)
        The weight of each term.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant term.
    solver_ : str
        'cholesky' where the normal equations keep enough digits, else 'svd'.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X was a dataframe.

    Notes
    -----
    .. math:: \min_{w, b} \sum_i v_i (y_i - b - \phi(x_i)^\top w)^2 + \alpha \|w\|_2^2, \qquad
              (\Phi^\top V \Phi + \alpha I)\, w = \Phi^\top V y

    where :math:`\phi(x)` are all products of up to M columns (of M = 2: :math:`x_1, x_2, x_1^2,
    x_1 x_2, x_2^2`), v the sample weights, and terms and targets are centred. There are
    :math:`\binom{d + M}{M} - 1` terms. High powers of columns far from zero are nearly dependent:
    the solver detects this and uses the SVD, but centring and scaling the columns is better.

    See Also
    --------
    Ridge : Linear in the columns.

    Examples
    --------
    >>> from assay.linear import PolynomialRegression
    >>> model = PolynomialRegression(2).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 9.0, 19.0])
    >>> model.powers_.ravel().tolist(), model.predict([[4.0]]).round(9).tolist()
    ([1, 2], [33.0])
    >>> abs(model.coef_).round(9).tolist(), round(model.intercept_, 9)
    ([0.0, 2.0], 1.0)
    """

    model_id: ClassVar[int | None] = 176
    stored = declared(
        coef_=Array("terms | targets, terms"),
        powers_=Integers("terms, features", 0, 64),
        solver_=Plain(str),
    )

    def __init__(
        self,
        degree: int = 2,
        *,
        interaction_only: bool = False,
        fit_intercept: bool = True,
        alpha: float = 0.0,
        n_jobs: int | None = None,
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.fit_intercept = fit_intercept
        self.alpha = alpha
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the weight of each term.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows; sparse ones are made dense.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row's squared error.

        Returns
        -------
        PolynomialRegression
            The fitted model.
        """
        check_interval("degree", self.degree, 1, integer=True)
        check_option("interaction_only", self.interaction_only, [True, False])
        check_option("fit_intercept", self.fit_intercept, [True, False])
        check_interval("alpha", self.alpha, 0, open_high=True)
        n_threads = check_n_jobs(self.n_jobs)
        rows, values, weight = self._fit_data(X, y, sample_weight, multi_output=True)
        targets = values[:, None] if values.ndim == 1 else values
        self.powers_ = powers(rows.shape[1], int(self.degree), self.interaction_only)
        table = expand(rows, self.powers_)
        alpha = np.full(targets.shape[1], float(self.alpha))
        solved = solve(Problem(table, targets, weight, self.fit_intercept, n_threads), alpha)
        self._store(solved.coef, solved.intercept, flat=values.ndim == 1)
        self.solver_ = solved.solver
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the predicted target of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples,) or (n_samples, n_targets)
        """
        rows = self._predict_data(X)
        table = expand(rows, self.powers_)
        return scores(table, self.coef_, self.intercept_, check_n_jobs(self.n_jobs))

    def _check_more(self) -> None:
        sound = len(self.powers_) <= MOST_TERMS and (self.powers_.sum(axis=1) >= 1).all()
        ensure(sound, "PolynomialRegression.powers_ has wrong terms")


def powers(n_features: int, degree: int, interaction_only: bool) -> NDArray[np.int64]:
    """Return the exponents of all terms from degree 1 to `degree`."""
    highest = min(degree, n_features) if interaction_only else degree
    count = (
        sum(comb(n_features, d) for d in range(1, highest + 1))
        if interaction_only
        else comb(n_features + degree, degree) - 1
    )
    if count > MOST_TERMS:
        raise DataError(
            f"a polynomial of degree {degree} in {n_features} columns has {count} terms, more than "
            f"the {MOST_TERMS} allowed: lower degree, set interaction_only, or choose columns first"
        )
    choose = combinations if interaction_only else combinations_with_replacement
    out = np.zeros((count, n_features), dtype=np.int64)
    terms = (columns for d in range(1, highest + 1) for columns in choose(range(n_features), d))
    for row, columns in zip(out, terms, strict=True):
        np.add.at(row, list(columns), 1)
    return out


def expand(rows: Any, exponents: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the terms with these exponents for each row.

    A term is computed from the term with one factor less, if that is present, else from powers.
    """
    X = np.asarray(rows.toarray() if issparse(rows) else rows, dtype=np.float64)
    columns = np.ascontiguousarray(X.T)
    out = np.empty((len(exponents), len(X)))
    place: dict[bytes, int] = {}
    for t, exponent in enumerate(exponents):
        last = int(np.flatnonzero(exponent)[-1])
        shorter = exponent.copy()
        shorter[last] -= 1
        before = place.get(shorter.tobytes())
        with np.errstate(over="ignore"):  # reported below, with a remedy
            if not shorter.any():
                out[t] = columns[last]
            elif before is not None:
                np.multiply(out[before], columns[last], out=out[t])
            else:
                out[t] = np.prod(X**exponent, axis=1)
        place[exponent.tobytes()] = t
    if not np.isfinite(out).all():
        raise DataError(
            "powers of X are too large for float64: scale the columns, or lower the degree"
        )
    return np.ascontiguousarray(out.T)

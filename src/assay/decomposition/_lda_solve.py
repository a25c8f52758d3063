"""Discriminant functions and axes from the sums of classes, by three routes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import clone

from assay.base import DataError, ParameterError
from assay.decomposition._class_scatter import Classes, Matrix
from assay.decomposition._exact_blas import one_blas_thread
from assay.decomposition._factor import factor_of
from assay.decomposition._signs import with_signs

#: Eigenvalues of correlations below this fraction of the largest are too imprecise to use.
DOUBT = 1e-6
#: Minimum reciprocal condition number for using a Cholesky factor.
TRUST = 1e-10


class Solved(NamedTuple):
    """Discriminant functions, axes, and the covariance they come from."""

    coef: Matrix
    intercept: Matrix
    scalings: Matrix | None
    ratio: Matrix | None
    covariance: Matrix | None
    j1: float


def solve(model: Any, classes: Classes, priors: Matrix) -> Solved:
    """Return the solution for the parameters of the model."""
    with one_blas_thread():
        if model.solver == "svd":
            return _by_whitening(model, classes, priors)
        covariance, overall = _covariances(model, classes, priors)
        if model.solver == "lsqr":
            return _by_equations(classes, priors, covariance)
        return _by_eigenvectors(classes, priors, covariance, overall)


def _by_equations(classes: Classes, priors: Matrix, covariance: Matrix) -> Solved:
    """Discriminant functions only: C w_k = m_k."""
    means = classes.sums.means
    apart = means - priors @ means
    found = _solved(covariance, np.concatenate([means, apart]).T).T
    coef, along = found[: len(means)], found[len(means) :]
    j1 = float(priors @ np.sum(apart * along, axis=1))
    return Solved(coef, _offset(means, coef, priors), None, None, covariance, j1)


def _by_eigenvectors(
    classes: Classes, priors: Matrix, covariance: Matrix, overall: Matrix
) -> Solved:
    """Axes v of (C_total - C_within) v = lambda C_within v."""
    means = classes.sums.means
    try:
        values, vectors = linalg.eigh(overall - covariance, covariance, check_finite=False)
    except linalg.LinAlgError:
        raise DataError(
            "the covariance within classes is singular (columns that are constant within classes "
            "or duplicates, or too few rows); set shrinkage, or use solver='svd'"
        ) from None
    values, vectors = values[::-1], vectors[:, ::-1]
    coef = (means @ vectors) @ vectors.T
    n_axes = min(len(means) - 1, means.shape[1])
    scalings = np.ascontiguousarray(with_signs(vectors[:, :n_axes].T).T)
    sum_of = float(values.sum())
    if sum_of <= 0:  # with shrinkage, the total may be smaller than the scatter within classes
        sum_of = float(np.maximum(values, 0.0).sum())
    ratio = values[:n_axes] / sum_of if sum_of else np.zeros(n_axes)
    places = (means - priors @ means) @ vectors
    j1 = float(priors @ np.sum(places**2, axis=1))
    return Solved(coef, _offset(means, coef, priors), scalings, ratio, covariance, j1)


def _by_whitening(model: Any, classes: Classes, priors: Matrix) -> Solved:
    """Axes of the class means after whitening the scatter within classes."""
    means, total = classes.sums.means, classes.total
    n_classes, d = means.shape
    white = _whitening(classes, model.tol)
    centre = priors @ means
    apart = means - centre
    scaled = np.sqrt(total * priors / (n_classes - 1))[:, None] * (apart @ white)
    _, singular, right = linalg.svd(scaled, full_matrices=False, check_finite=False)
    squares = singular**2
    rank = int(np.count_nonzero(singular > model.tol * singular.max(initial=0.0)))
    n_axes = min(n_classes - 1, d)
    sum_of = float(squares.sum())
    ratio = np.zeros(n_axes)  # 0 for axes that the class means do not span
    known = squares[:n_axes]
    ratio[: len(known)] = known / sum_of if sum_of else known
    scalings = np.ascontiguousarray(with_signs((white @ right[:rank].T).T).T)
    places = apart @ scalings
    coef = places @ scalings.T
    intercept = -0.5 * np.sum(places**2, axis=1) + _log(priors) - coef @ centre
    covariance = classes.within(priors, None) if model.store_covariance else None
    j1 = float(priors @ np.sum(places**2, axis=1))
    return Solved(coef, intercept, scalings, ratio, covariance, j1)


def _whitening(classes: Classes, tol: float) -> Matrix:
    """Return A with A' C A = I on the directions with scatter within classes."""
    within, total = classes.sums.within, classes.total
    spread = np.sqrt(np.diagonal(within) / total)
    spread[spread == 0] = 1.0
    n, d = classes.X.shape
    if n >= d:
        values, vectors = linalg.eigh(within / total / np.outer(spread, spread), check_finite=False)
        top = values.max(initial=0.0)
        # Too small to be precise from products, unless clearly below the threshold.
        doubtful = (values < DOUBT * top) & (values + 1e-12 * top >= tol**2)
        if not doubtful.any():
            kept = values > tol**2
            white = vectors[:, kept] / np.sqrt(values[kept])
            return (white / spread[:, None])[:, ::-1]  # type: ignore[no-any-return]
    factor = factor_of(classes.centred(), np.zeros(d)) / (spread * np.sqrt(total))
    _, singular, right = linalg.svd(factor, full_matrices=False, check_finite=False)
    rank = int(np.count_nonzero(singular > tol))
    return (right[:rank] / spread).T / singular[:rank]  # type: ignore[no-any-return]


def _covariances(model: Any, classes: Classes, priors: Matrix) -> tuple[Matrix, Matrix]:
    """Return the covariance within classes and, for 'eigen', that of all rows."""
    if model.covariance_estimator is None:
        within = classes.within(priors, model.shrinkage)
        overall = classes.total_covariance(model.shrinkage) if model.solver == "eigen" else within
        return within, overall
    within = np.zeros_like(classes.sums.within)
    for k, prior in enumerate(priors):
        within += prior * _estimated(model, classes.X[classes.codes == k])
    return within, _estimated(model, classes.X) if model.solver == "eigen" else within


def _estimated(model: Any, rows: NDArray[Any]) -> Matrix:
    estimator = clone(model.covariance_estimator).fit(rows)
    if not hasattr(estimator, "covariance_"):
        raise ParameterError(
            f"covariance_estimator must have covariance_ after fit; "
            f"{type(estimator).__name__} does not have a covariance_ attribute"
        )
    return np.asarray(estimator.covariance_, dtype=np.float64)


def _solved(matrix: Matrix, right: Matrix) -> Matrix:
    """Return M^-1 B; where M is singular, the solution of least norm."""
    scale = np.sqrt(np.diagonal(matrix))
    if (scale > 0).all():
        unit = matrix / np.outer(scale, scale)
        lower, failed = linalg.lapack.dpotrf(unit, lower=1)
        if not failed:
            rcond, _ = linalg.lapack.dpocon(lower, np.abs(unit).sum(axis=0).max(), uplo="L")
            if rcond > TRUST:
                half = linalg.cho_solve((lower, True), right / scale[:, None], check_finite=False)
                return half / scale[:, None]  # type: ignore[no-any-return]
    return linalg.lstsq(matrix, right, check_finite=False)[0]  # type: ignore[no-any-return]


def _offset(means: Matrix, coef: Matrix, priors: Matrix) -> Matrix:
    return np.asarray(-0.5 * np.sum(means * coef, axis=1) + _log(priors))


def _log(priors: Matrix) -> Matrix:
    # A class of prior 0 is never chosen; a finite value keeps the state of the model finite.
    return np.log(np.maximum(priors, np.finfo(np.float64).tiny))

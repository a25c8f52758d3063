"""Weights for a whole sequence of penalties: `lasso_path` and `enet_path`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from assay.base import DataError, ParameterError, check_interval, check_n_jobs, real_values
from assay.linear._least_lasso import LassoSettings, lasso_solutions, warn_unless_converged


def lasso_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    eps: float = 1e-3,
    n_alphas: int = 100,
    alphas: ArrayLike | int | None = None,
    precompute: object = "auto",
    Xy: ArrayLike | None = None,
    copy_X: bool = True,
    coef_init: ArrayLike | None = None,
    verbose: bool = False,
    return_n_iter: bool = False,
    positive: bool = False,
    tol: float = 1e-4,
    max_iter: int = 1000,
    n_jobs: int | None = None,
) -> tuple[NDArray[Any], ...]:
    r"""Compute the weights of the lasso for a sequence of penalties.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows. No intercept is fitted: centre columns and targets first if you want one.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The targets.
    eps : float in (0, 1), default=0.001
        Ratio of the smallest to the largest penalty. Used when `alphas` does not list the
        penalties.
    n_alphas : int >= 1, default=100
        Number of penalties when `alphas` does not list them: evenly spaced on a log scale, from the
        smallest penalty for which all weights are zero.
    alphas : array-like, int or None, default=None
        The penalties, in any order. An integer is used as `n_alphas`.
    precompute, Xy, copy_X : object
        Accepted for compatibility with scikit-learn: products are computed when needed, and X is
        never modified.
    coef_init : array-like of shape (n_features,) or (n_targets, n_features), default=None
        Weights to start from.
    verbose : bool, default=False
        Accepted for compatibility with scikit-learn; nothing is printed.
    return_n_iter : bool, default=False
        Whether to also return the number of sweeps for each penalty.
    positive : bool, default=False
        Whether to require all weights to be >= 0.
    tol : float >= 0, default=0.0001
        As in `Lasso`.
    max_iter : int >= 1, default=1000
        Maximum number of sweeps for each penalty.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The penalties, descending.
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        The weights for each.
    dual_gaps : ndarray of shape (n_alphas,) or (n_targets, n_alphas)
        Duality gaps: each objective is at most this far above its minimum.
    n_iters : ndarray of int of shape (n_alphas,) or (n_targets, n_alphas)
        Number of coordinate descent sweeps. Only with `return_n_iter`.

    Notes
    -----
    .. math:: \min_w \frac{1}{2n} \|y - Xw\|_2^2 + \alpha \|w\|_1

    Each solution starts from that of the next larger penalty; it is still exact (see `Lasso`).

    Examples
    --------
    >>> from assay.linear import lasso_path
    >>> X, y = [[1.0, 0.0], [0.0, 2.0], [-1.0, -2.0]], [2.0, 1.0, -3.0]
    >>> alphas, coefs, gaps = lasso_path(X, y, alphas=[2.0, 1.0, 0.1])
    >>> alphas.tolist(), coefs.round(3).tolist()
    ([2.0, 1.0, 0.1], [[0.0, 0.5, 1.85], [0.25, 0.5, 0.5]])
    """
    return enet_path(
        X,
        y,
        l1_ratio=1.0,
        eps=eps,
        n_alphas=n_alphas,
        alphas=alphas,
        precompute=precompute,
        Xy=Xy,
        copy_X=copy_X,
        coef_init=coef_init,
        verbose=verbose,
        return_n_iter=return_n_iter,
        positive=positive,
        tol=tol,
        max_iter=max_iter,
        n_jobs=n_jobs,
    )


def enet_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: int = 100,
    alphas: ArrayLike | int | None = None,
    precompute: object = "auto",
    Xy: ArrayLike | None = None,
    copy_X: bool = True,
    coef_init: ArrayLike | None = None,
    verbose: bool = False,
    return_n_iter: bool = False,
    positive: bool = False,
    tol: float = 1e-4,
    max_iter: int = 1000,
    n_jobs: int | None = None,
) -> tuple[NDArray[Any], ...]:
    r"""Compute the weights of the elastic net for a sequence of penalties.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows. No intercept is fitted: centre columns and targets first if you want one.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The targets.
    l1_ratio : float in (0, 1], default=0.5
        Share of the absolute values in the penalty: 1 is the lasso.
    eps : float in (0, 1), default=0.001
        Ratio of the smallest to the largest penalty. Used when `alphas` does not list the
        penalties.
    n_alphas : int >= 1, default=100
        Number of penalties when `alphas` does not list them: evenly spaced on a log scale, from the
        smallest penalty for which all weights are zero.
    alphas : array-like, int or None, default=None
        The penalties, in any order. An integer is used as `n_alphas`.
    precompute, Xy, copy_X : object
        Accepted for compatibility with scikit-learn: products are computed when needed, and X is
        never modified.
    coef_init : array-like of shape (n_features,) or (n_targets, n_features), default=None
        Weights to start from.
    verbose : bool, default=False
        Accepted for compatibility with scikit-learn; nothing is printed.
    return_n_iter : bool, default=False
        Whether to also return the number of sweeps for each penalty.
    positive : bool, default=False
        Whether to require all weights to be >= 0.
    tol : float >= 0, default=0.0001
        As in `ElasticNet`.
    max_iter : int >= 1, default=1000
        Maximum number of sweeps for each penalty.
    n_jobs : int, default=None
        Threads; None = 1, -1 = all cores. The result does not depend on it.

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The penalties, descending.
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        The weights for each.
    dual_gaps : ndarray of shape (n_alphas,) or (n_targets, n_alphas)
        Duality gaps: each objective is at most this far above its minimum.
    n_iters : ndarray of int of shape (n_alphas,) or (n_targets, n_alphas)
        Number of coordinate descent sweeps. Only with `return_n_iter`.

    Notes
    -----
    .. math:: \min_w \frac{1}{2n} \|y - Xw\|_2^2 + \alpha \rho \|w\|_1
              + \frac{\alpha (1 - \rho)}{2} \|w\|_2^2

    Each solution starts from that of the next larger penalty; it is still exact (see `ElasticNet`).

    Examples
    --------
    >>> from assay.linear import enet_path
    >>> alphas, coefs, gaps = enet_path([[1.0], [-1.0]], [2.0, -2.0], alphas=[2.0, 1.0])
    >>> coefs.round(3).tolist()
    [[0.5, 1.0]]
    """
    del precompute, Xy, copy_X, verbose
    check_interval("l1_ratio", l1_ratio, 0, 1, open_low=True)
    check_interval("eps", eps, 0, 1, open_low=True, open_high=True)
    check_interval("max_iter", max_iter, 1, 2**31 - 1, integer=True)
    check_interval("tol", tol, 0)
    settings = LassoSettings(l1_ratio, False, positive, tol, max_iter, check_n_jobs(n_jobs))
    rows, values = _table(X, y)
    targets = values[:, None] if values.ndim == 1 else values
    if isinstance(alphas, (int, np.integer)) and not isinstance(alphas, bool):
        n_alphas, alphas = int(alphas), None
    sequence = _sequence(alphas, rows, targets, l1_ratio, eps, n_alphas, positive)
    starts = _starts(coef_init, targets.shape[1], rows.shape[1])
    found = [
        lasso_solutions(rows, np.ascontiguousarray(target), None, sequence, settings, start)
        for target, start in zip(targets.T, starts, strict=True)
    ]
    warn_unless_converged("the path", found, max_iter, tol, stacklevel=3)
    coefs = np.array([each.coef.T for each in found])
    gaps, counts = np.array([each.gap for each in found]), np.array([e.n_iter for e in found])
    if values.ndim == 1:
        coefs, gaps, counts = coefs[0], gaps[0], counts[0]
    return (sequence, coefs, gaps, counts) if return_n_iter else (sequence, coefs, gaps)


def _table(X: ArrayLike, y: ArrayLike) -> tuple[Any, NDArray[np.float64]]:
    try:
        rows = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), order="C")
    except ValueError as error:
        raise DataError(str(error)) from None
    if issparse(rows) and not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    values = real_values(y, multi_output=True)
    if len(values) != rows.shape[0]:
        raise DataError(f"X has {rows.shape[0]} rows but y has {len(values)}")
    return rows, values


def _sequence(
    alphas: Any,
    rows: Any,
    targets: NDArray[np.float64],
    l1_ratio: float,
    eps: float,
    n_alphas: int,
    positive: bool,
) -> NDArray[np.float64]:
    if alphas is not None:
        given = np.sort(np.array(alphas, dtype=np.float64).ravel())[::-1]
        if not given.size or not (np.isfinite(given) & (given >= 0)).all():
            raise ParameterError(f"alphas must be finite numbers >= 0; got {alphas!r}")
        return np.ascontiguousarray(given)
    check_interval("n_alphas", n_alphas, 1, integer=True)
    slopes = np.asarray(rows.T @ targets, dtype=np.float64)
    slopes = slopes if positive else np.abs(slopes)
    top = float(slopes.max(initial=0.0)) / (rows.shape[0] * l1_ratio)
    if top <= 0:
        # No column is correlated with a target: any penalty gives zeros.
        return np.full(n_alphas, float(np.finfo(np.float64).resolution))
    top *= 1 + 1e-14  # so that rounding leaves no weight at the first of them
    return np.geomspace(top, top * eps, n_alphas)


def _starts(
    coef_init: ArrayLike | None, n_targets: int, n_features: int
) -> list[NDArray[np.float64] | None]:
    if coef_init is None:
        return [None] * n_targets
    start = np.atleast_2d(np.array(coef_init, dtype=np.float64))
    if start.shape != (n_targets, n_features) or not np.isfinite(start).all():
        raise ParameterError(
            f"coef_init must hold finite numbers, shape ({n_targets}, {n_features}); "
            f"got shape {start.shape}"
        )
    return list(start)

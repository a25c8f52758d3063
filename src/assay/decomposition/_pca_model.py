"""PCA as a normal distribution (probabilistic PCA), and the checks of a restored model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError


def model_covariance(model: Any, *, inverse: bool) -> NDArray[np.float64]:
    r"""Return the covariance of the model, or its inverse.

    Parameters
    ----------
    model : PCA
        Fitted.
    inverse : bool
        Whether to return the inverse.

    Returns
    -------
    ndarray of shape (n_features, n_features)

    Notes
    -----
    The components are orthonormal, so for any function f of the eigenvalues

    .. math:: f(C) = \Phi (f(\Lambda) - f(\sigma^2) I) \Phi^\top + f(\sigma^2) I
    """
    along, rest = model.explained_variance_, _rest(model)
    along = np.maximum(along, rest)
    if inverse:
        _need_variance(model, along, rest)
        along, rest = 1 / along, (1 / rest if rest else 0.0)
    found = (model.components_.T * (along - rest)) @ model.components_
    found.flat[:: len(found) + 1] += rest
    return found  # type: ignore[no-any-return]


def log_likelihood(model: Any, rows: NDArray[Any]) -> NDArray[np.float64]:
    r"""Return the log-density of each row.

    Parameters
    ----------
    model : PCA
        Fitted.
    rows : ndarray of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    ndarray of shape (n_samples,)

    Notes
    -----
    .. math:: -\frac{1}{2} \left( d \log 2\pi + \log |C| + \sum_{i \le k} \frac{y_i^2}{\lambda_i}
              + \frac{\|x - \hat x\|^2}{\sigma^2} \right)

    Tipping and Bishop, Probabilistic principal component analysis (1999).
    """
    d, k = model.n_features_in_, model.n_components_
    rest = _rest(model)
    along = np.maximum(model.explained_variance_, rest)
    _need_variance(model, along, rest)
    constant = d * np.log(2 * np.pi) + float(np.log(along).sum())
    constant += (d - k) * np.log(rest) if rest else 0.0
    out = np.empty(len(rows))
    for first in range(0, len(rows), 2048):
        centred = rows[first : first + 2048] - model.mean_
        places = centred @ model.components_.T
        out[first : first + 2048] = np.sum(places**2 / along, axis=1)
        if rest:
            away = centred - places @ model.components_
            out[first : first + 2048] += np.sum(away**2, axis=1) / rest
    return np.asarray(-0.5 * (out + constant))


def _rest(model: Any) -> float:
    """Return the variance of directions left out; 0 if there are none."""
    return 0.0 if model.n_components_ == model.n_features_in_ else float(model.noise_variance_)


def _need_variance(model: Any, along: NDArray[np.float64], rest: float) -> None:
    if along.min(initial=np.inf) > 0 and (rest > 0 or model.n_components_ == model.n_features_in_):
        return
    raise DataError(
        "the covariance of the model is singular: some directions have no variance; keep fewer "
        "components, or leave out columns that are constant or duplicates"
    )

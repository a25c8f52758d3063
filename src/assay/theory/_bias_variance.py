"""Bias and variance: the common error of several models, and how much they disagree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class BiasVariance(NamedTuple):
    """The squared error of several models, split into two parts.

    Parameters
    ----------
    error : float
        Mean squared error of the single models.
    bias : float
        Squared error of their mean.
    variance : float
        Mean squared distance of the models from their mean.
    """

    error: float
    bias: float
    variance: float


def bias_variance(predictions: ArrayLike, truth: ArrayLike) -> BiasVariance:
    r"""Split the squared error of several models into squared bias and variance.

    Parameters
    ----------
    predictions : array-like of shape (n_models,) or (n_models, n_samples)
        Predictions of each model, for instance models fitted on different samples.
    truth : number or array-like of shape (n_samples,)
        The true value, one or one per row.

    Returns
    -------
    BiasVariance
        With ``error = bias + variance``, up to rounding.

    Notes
    -----
    .. math:: \frac1M \sum_m (\hat y_m - t)^2
              = (\bar y - t)^2 + \frac1M \sum_m (\hat y_m - \bar y)^2

    averaged over the rows. A simple model errs by bias, a flexible one by variance. Since no term
    is negative, the mean prediction is never worse than the average model (Jensen).

    Examples
    --------
    >>> bias_variance([1.0, 3.0], 1.5)
    BiasVariance(error=1.25, bias=0.25, variance=1.0)
    """
    guess = np.asarray(predictions, dtype=np.float64)
    true = np.asarray(truth, dtype=np.float64)
    if guess.ndim not in (1, 2) or not guess.size or true.shape != guess.shape[1:]:
        raise ValueError(
            "predictions must have shape (n_models,) with a number as truth, or (n_models, "
            f"n_samples) with (n_samples,); got {guess.shape} and {true.shape}"
        )
    if not (np.isfinite(guess).all() and np.isfinite(true).all()):
        raise ValueError("predictions and truth must hold finite numbers only")
    mean = guess.mean(axis=0)
    return BiasVariance(
        float(((guess - true) ** 2).mean()),
        float(((mean - true) ** 2).mean()),
        float(((guess - mean) ** 2).mean()),
    )

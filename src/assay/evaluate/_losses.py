"""Empirical losses: the mean error of predictions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from assay.base import DataError, check_option, check_weight

_LOSSES = ("absolute", "squared", "zero_one")


def empirical_loss(
    truth: ArrayLike,
    predicted: ArrayLike,
    loss: str = "squared",
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Return the mean loss of predictions.

    Parameters
    ----------
    truth, predicted : array-like of shape (n_samples,)
        True and predicted values: numbers, or labels for 'zero_one'.
    loss : {'absolute', 'squared', 'zero_one'}, default='squared'
        :math:`|y - \hat y|` (L1), :math:`(y - \hat y)^2` (L2), or 1 for every prediction that is
        not the truth (0/1).
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.

    Returns
    -------
    float

    Notes
    -----
    .. math:: \frac1N \sum_{i = 1}^N L(y_i, \hat y_i)

    For costs that depend on the kind of mistake, see `decide` and `CostMatrix`.

    Examples
    --------
    >>> [empirical_loss([1, 2, 4], [1, 3, 2], loss) for loss in ("absolute", "squared", "zero_one")]
    [1.0, 1.6666666666666667, 0.6666666666666666]
    """
    check_option("loss", loss, _LOSSES)
    true, guess = np.asarray(truth), np.asarray(predicted)
    if true.ndim != 1 or true.shape != guess.shape or not len(true):
        raise DataError(
            "truth and predicted must have the same shape (n_samples,), at least one row; "
            f"got {true.shape} and {guess.shape}"
        )
    if loss == "zero_one":
        each = (true != guess).astype(np.float64)
    else:
        try:
            error = guess.astype(np.float64) - true.astype(np.float64)
        except ValueError:
            raise DataError(f"loss {loss!r} needs numbers; use 'zero_one' for labels") from None
        each = np.abs(error) if loss == "absolute" else error * error
    return float(np.average(each, weights=check_weight(sample_weight, true)))

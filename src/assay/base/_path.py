"""What one unit of work leaves behind: the records a family's path yields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Predicted:
    """Predictions of one candidate for one block of rows.

    A classifier gives `label` and, where it can, `probability` or `decision`; a regressor gives
    `value`.

    Parameters
    ----------
    label : ndarray of int64 of shape (n,), optional
        Class codes.
    probability : ndarray of float64 of shape (n, n_classes), optional
        Columns in the order of the class codes of the whole problem.
    decision : ndarray of float64 of shape (n,) or (n, n_classes), optional
        Decision function of a classifier without probabilities.
    value : ndarray of float64 of shape (n,), optional
        Predictions of a regressor.
    """

    label: NDArray[np.int64] | None = None
    probability: NDArray[np.float64] | None = None
    decision: NDArray[np.float64] | None = None
    value: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Fitted:
    """One candidate after one unit: a prediction per test block and how large the model is.

    Parameters
    ----------
    predictions : sequence of Predicted
        One per test block, in the order asked.
    size : float
        Effective number of parameters, used to break ties towards the simpler model.
    """

    predictions: Sequence[Predicted]
    size: float

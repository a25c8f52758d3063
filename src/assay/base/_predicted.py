"""What one unit of work leaves behind: the records a family's path yields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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

    def blocks(self, sizes: Sequence[int]) -> list[Predicted]:
        """Cut predictions for consecutive blocks of rows, of these sizes, into one record each."""
        ends = np.cumsum(sizes)[:-1]

        def cut(array: NDArray[Any] | None) -> list[Any]:
            return [None] * len(sizes) if array is None else np.split(array, ends)

        columns = map(cut, (self.label, self.probability, self.decision, self.value))
        return [Predicted(*parts) for parts in zip(*columns, strict=True)]


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

"""What one unit of work leaves behind: the predictions of its candidates."""

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
        columns: list[NDArray[Any] | None]
        columns = [self.label, self.probability, self.decision, self.value]
        blocks, start = [], 0
        for size in sizes:
            rows = slice(start, start + size)
            blocks.append(Predicted(*(None if each is None else each[rows] for each in columns)))
            start = rows.stop
        return blocks


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


@dataclass(frozen=True, eq=False)
class Answer:
    """What one candidate predicts for all test rows of a training set, block after block.

    Parameters
    ----------
    predicted : Predicted
        A classifier with probabilities may leave out the labels: they are then the most probable
        classes.
    size : float
        Effective number of parameters of the model.
    classes : ndarray of shape (n_columns,), optional
        Class codes of the columns of probabilities and decisions, those of the training rows;
        None = all classes.
    """

    predicted: Predicted
    size: float
    classes: NDArray[Any] | None = None

    def complete(self, n_classes: int | None) -> Predicted:
        """Return the predictions with one column for each class of the whole problem.

        Classes that do not occur in the training rows get probability 0 and the lowest possible
        decision.
        """
        if n_classes is None:
            return self.predicted
        classes = np.arange(n_classes) if self.classes is None else self.classes.astype(np.int64)
        label, shares = self.predicted.label, self.predicted.probability
        if label is None and shares is not None:
            label = shares.argmax(axis=1)
            label = label if self.classes is None else classes[label]
        return Predicted(
            None if label is None else label.astype(np.int64, copy=False),
            None if shares is None else _aligned(shares, classes, n_classes, 0.0),
            _decision(self.predicted.decision, classes, n_classes),
        )


def _decision(
    decision: NDArray[np.float64] | None, classes: NDArray[np.int64], n_classes: int
) -> NDArray[np.float64] | None:
    if decision is None:
        return None
    if decision.ndim == 2 and decision.shape[1] == 1:
        decision = decision[:, 0]
    if n_classes == 2:
        # One training class only has no boundary, and a scorer expects one column for two classes.
        usable = decision.ndim == 1 and len(classes) == 2
        return decision.astype(np.float64, copy=False) if usable else None
    if decision.ndim == 1:
        decision = np.column_stack([-decision, decision])
    if decision.shape[1] != len(classes):  # one against one: no column per class
        return None
    # scikit-learn's filler for a class that could not be learned.
    return _aligned(decision, classes, n_classes, float(np.finfo(np.float64).min))


def _aligned(
    given: NDArray[np.float64], classes: NDArray[np.int64], n_classes: int, filler: float
) -> NDArray[np.float64]:
    """Return columns in the order of all classes; `filler` for those the training rows lack."""
    given = np.asarray(given, dtype=np.float64)
    if given.shape[1] == n_classes:
        return given
    whole = np.full((len(given), n_classes), filler)
    whole[:, classes] = given
    return whole

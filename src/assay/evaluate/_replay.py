"""Stored predictions with the methods of a fitted estimator, so that any scorer can score them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from assay.base import Predicted


def _has(field: str) -> Any:
    return available_if(lambda self: getattr(self.predicted, field) is not None)


class Replay(BaseEstimator):
    """A fitted estimator whose predictions for one block of rows are already known.

    Parameters
    ----------
    predicted : Predicted
        The stored predictions.

    Notes
    -----
    The matrix passed to a method must have as many rows as the stored block; its values are not
    read. A method exists only if its predictions were stored. Built by `replay`.
    """

    def __init__(self, predicted: Predicted) -> None:
        self.predicted = predicted

    def _answer(self, X: Any, field: str) -> Any:
        answer = getattr(self.predicted, field)
        if len(X) != len(answer):
            raise ValueError(
                f"stored predictions cover {len(answer)} rows; got {len(X)}: "
                "a scorer must predict the whole block"
            )
        return answer

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _ReplayClassifier(ClassifierMixin, Replay):
    def __init__(self, predicted: Predicted, n_classes: int = 2) -> None:
        super().__init__(predicted)
        self.n_classes = n_classes
        self.classes_: NDArray[np.int64] = np.arange(n_classes)

    def predict(self, X: Any) -> Any:
        return self._answer(X, "label")

    @_has("probability")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        return self._answer(X, "probability")

    @_has("decision")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        return self._answer(X, "decision")


class _ReplayRegressor(RegressorMixin, Replay):
    def predict(self, X: Any) -> Any:
        return self._answer(X, "value")


def replay(predicted: Predicted, n_classes: int | None = None) -> Replay:
    """Make a stand-in estimator that returns stored predictions.

    Parameters
    ----------
    predicted : Predicted
        The predictions for one block.
    n_classes : int, optional
        Number of classes of the whole problem; None for regression.

    Returns
    -------
    Replay
        Accepted by every scikit-learn scorer as a fitted classifier or regressor.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import get_scorer
    >>> from assay.base import Predicted
    >>> model = replay(Predicted(label=np.array([0, 1, 1])), n_classes=2)
    >>> float(get_scorer("f1")(model, np.zeros((3, 1)), np.array([0, 1, 1])))
    1.0
    """
    if n_classes is None:
        return _ReplayRegressor(predicted)
    return _ReplayClassifier(predicted, n_classes)

"""What the paths of least-squares models share: groups, checks, predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import Answer, Path, Predicted, TrainingSet


class LeastPath(Path[NDArray[Any]]):
    """A path whose candidates differ in `alpha` only and are fitted together."""

    def group(self, params: Mapping[str, Any]) -> str:
        """Return all parameters but the penalty."""
        return repr(sorted((name, value) for name, value in params.items() if name != "alpha"))

    def check(self, model: Any, training: TrainingSet) -> None:  # noqa: ARG002
        """Check the parameters."""
        model._check_params()

    def run(self, models: Sequence[Any], training: TrainingSet) -> NDArray[Any]:
        """Fit the models; return the rows that they predict."""
        X, y, weight, rows = training.kept
        self._fit_together(models, X, y, weight)
        return rows

    def read(self, run: NDArray[Any], model: Any) -> Answer:
        """Predict; the size is the number of weights that are not zero, and the intercept."""
        value = np.asarray(model.predict(run), dtype=np.float64).reshape(-1)
        size = np.count_nonzero(model.coef_) + np.size(model.intercept_)
        return Answer(Predicted(value=value), float(size))

    @abstractmethod
    def _fit_together(
        self,
        models: Sequence[Any],
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
    ) -> None:
        """Fit all models of a group on one training set."""

"""Every penalty of logistic regression from one table (a path for `assay.select`).

Candidates that differ in `C`, `l1_ratio` or `penalty` are solved one after the other, each from the
solution of the stronger penalty before it, on one scaled copy of the training rows. Solutions are
exact to rounding, so they are those of single fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import Answer, Path, Predicted, TrainingSet
from assay.linear._logistic_solve import probabilities, strength_of

#: Parameters that only change the penalty.
_STRENGTHS = ("C", "l1_ratio", "penalty")


class LogisticPath(Path[NDArray[Any]]):
    """The path of `LogisticRegression`."""

    def group(self, params: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return all parameters that are not of the penalty."""
        return tuple(
            (name, repr(params[name])) for name in sorted(params) if name not in _STRENGTHS
        )

    def check(self, model: Any, training: TrainingSet) -> None:  # noqa: ARG002
        """Check the penalty; the other parameters are those of the whole group."""
        strength_of(model.get_params(deep=False))

    def run(self, models: Sequence[Any], training: TrainingSet) -> NDArray[Any]:
        """Fit the models, strongest penalty first; return the rows that they predict, checked."""
        models = sorted(models, key=_order)
        X, y, weight, queries = training.kept
        models[0]._fit_together(models, X, y, weight)
        rows: NDArray[Any] = models[0]._predict_data(queries)
        return rows

    def read(self, run: NDArray[Any], model: Any) -> Answer:
        """Predict; the size is the number of coefficients that are not zero, and the intercepts."""
        scores = model._scores(run)
        size = np.count_nonzero(model.coef_) + len(model.intercept_)
        predicted = Predicted(model._labels(scores), probabilities(scores))
        return Answer(predicted, float(size), model.classes_)


def _order(model: Any) -> tuple[float, float]:
    strength = strength_of(model.get_params(deep=False))
    total = strength.l1 + strength.l2
    return (strength.l1 / total if total else 2.0, -total)

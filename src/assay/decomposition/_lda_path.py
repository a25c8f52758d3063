"""Every discriminant from one set of sums (a path for `assay.select`).

Candidates of any solver, shrinkage and number of axes need the same means and scatter of classes.
They are made once per training set; on a matrix that all training sets share, by subtracting those
of the test blocks from those of all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from assay.base import Answer, Candidates, Path, Predicted, TrainingSet
from assay.decomposition._class_blocks import BlockSums
from assay.decomposition._class_scatter import Classes


class _Run(NamedTuple):
    """The first model, what it learned of the classes, and the rows to predict."""

    first: Any
    known: Classes
    rows: NDArray[Any]


class DiscriminantPath(Path[_Run]):
    """The path of `LinearDiscriminantAnalysis`."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> BlockSums:  # noqa: ARG002
        """Return an empty store of sums, filled by the training sets that come."""
        return BlockSums(X)

    def group(self, params: Mapping[str, Any]) -> str:  # noqa: ARG002
        """Return the same for all candidates: they share the sums."""
        return "sums"

    def check(self, model: Any, training: TrainingSet) -> None:  # noqa: ARG002
        """Check the parameters."""
        model._check_params()

    def run(self, models: Sequence[Any], training: TrainingSet) -> _Run:
        """Fit the first model."""
        first, weight, sums = models[0], training.weight, None
        n_threads = first._check_params()
        if training.shared is not None and (weight is None or weight.all()):
            sums = training.shared.without(
                training.y, weight, training.train, training.tests, n_threads
            )
        X, y, given = training.data()
        known = first._fit(X, y, given, sums=sums)
        return _Run(first, known, first._predict_data(training.test_rows()))

    def read(self, run: _Run, model: Any) -> Answer:
        """Fit the other models beside the first; the size is weights and intercepts."""
        if model is not run.first:
            model._fit_beside(run.first, run.known)
        scores = model._scores(run.rows)
        predicted = Predicted(model.classes_[best_class(scores)], class_probabilities(scores))
        size = np.count_nonzero(model.coef_) + len(model.intercept_)
        return Answer(predicted, float(size), model.classes_)


def best_class(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the position of the most probable class, from the values of `decision_function`."""
    if scores.ndim == 1:
        return (scores > 0).astype(np.int64)
    return np.asarray(scores.argmax(axis=1))


def class_probabilities(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each class, from the values of `decision_function`."""
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return np.asarray(softmax(scores, axis=1))

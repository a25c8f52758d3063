"""Every discriminant from one set of sums (a path for `assay.select`).

Candidates of any solver, shrinkage and number of axes need the same means and scatter of classes.
They are made once per training set; on a matrix that all training sets share, by subtracting those
of the test blocks from those of all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import clone

from assay.base import Fitted, Predicted
from assay.decomposition._class_blocks import BlockSums

Candidates = Sequence[Mapping[str, Any]]


class DiscriminantPath:
    """The path of `LinearDiscriminantAnalysis`."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> BlockSums:  # noqa: ARG002
        """Return an empty store of sums, filled by the training sets that come."""
        return BlockSums(X)

    def n_fits(self, candidates: Candidates) -> int:  # noqa: ARG002
        """Return 1: all candidates share the sums."""
        return 1

    def fit_predict(
        self,
        estimator: Any,
        shared: BlockSums | None,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        train: NDArray[np.integer[Any]],
        tests: Sequence[NDArray[np.integer[Any]]],
        candidates: Candidates,
    ) -> Iterator[Fitted]:
        """Yield, per candidate and in their order, the predictions for each block of `tests`.

        Parameters
        ----------
        estimator : LinearDiscriminantAnalysis
            Unfitted template; a candidate overrides its parameters.
        shared : BlockSums or None
            What `share` returned.
        X : ndarray of shape (n_samples, n_features)
            The whole table, encoded.
        y : ndarray of shape (n_samples,)
            Class codes 0..K-1.
        weight : ndarray or None
            Weights of the rows.
        train : ndarray of int
            Training rows.
        tests : sequence of ndarray of int
            Blocks of rows to predict.
        candidates : sequence of mapping
            Parameter settings.

        Yields
        ------
        Fitted
            With size = weights and intercepts.

        Raises
        ------
        ParameterError, DataError
            In its turn, for a candidate that could not be fitted on these rows either.
        """
        n_classes, sizes = int(y.max()) + 1, [len(test) for test in tests]
        given = None if weight is None else weight[train]
        first: Any = None
        for candidate in candidates:
            model = clone(estimator).set_params(**candidate)
            if first is None:
                n_threads = model._check_params()
                sums = None
                if shared is not None and (weight is None or weight.all()):
                    sums = shared.without(y, weight, train, tests, n_threads)
                known = model._fit(X[train], y[train], given, sums=sums)
                queries = model._predict_data(X[np.concatenate(tests)])
                first = model
            else:
                model._fit_beside(first, known)
            scores = model._scores(queries)
            label = model.classes_[best_class(scores)].astype(np.int64)
            probability = class_probabilities(scores)
            if probability.shape[1] != n_classes:
                whole = np.zeros((len(queries), n_classes))
                whole[:, model.classes_] = probability
                probability = whole
            size = float(np.count_nonzero(model.coef_) + len(model.intercept_))
            yield Fitted(Predicted(label, probability).blocks(sizes), size)

    def refit(
        self,
        estimator: Any,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        candidate: Mapping[str, Any],
    ) -> Any:
        """Fit one candidate on all rows, as an ordinary fit."""
        return clone(estimator).set_params(**candidate).fit(X, y, sample_weight=weight)


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

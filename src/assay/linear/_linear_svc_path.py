"""All candidates of the linear SVM on one checked table (a path for `assay.select`).

A warm start would change the last digits of a solution, so candidates share only what has the same
bits anyway: the slice of the table, its checks and its class codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Fitted, Predicted

Candidates = Sequence[Mapping[str, Any]]


class LinearSVCPath:
    """The path of `LinearSVC`."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> None:  # noqa: ARG002
        """Share nothing between training sets."""
        return

    def n_fits(self, candidates: Candidates) -> int:
        """Return one fit per candidate."""
        return len(candidates)

    def fit_predict(
        self,
        estimator: Any,
        shared: None,  # noqa: ARG002
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
        estimator : LinearSVC
            Unfitted template; a candidate overrides its parameters.
        shared : None
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
            With size = nonzero coefficients and intercepts.
        """
        template = clone(estimator)
        data = template._fit_data(X[train], y[train], None if weight is None else weight[train])
        queries = X[np.concatenate(tests)]
        n_classes, sizes = int(y.max()) + 1, [len(test) for test in tests]
        for candidate in candidates:
            model = clone(estimator).set_params(**candidate)
            task = model._task()
            model.classes_, model.n_features_in_ = template.classes_, template.n_features_in_
            model._fit_codes(*data, task)
            found = model._decide(queries)
            codes = model._labels(found)
            decision = _decision(found, model.classes_, n_classes)
            size = float(np.count_nonzero(model.coef_) + len(model.intercept_))
            label = model.classes_[codes].astype(np.int64)
            yield Fitted(Predicted(label, decision=decision).blocks(sizes), size)

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


def _decision(
    found: NDArray[np.float64], classes: NDArray[Any], n_classes: int
) -> NDArray[np.float64]:
    """Return decisions: a vector for two classes, else a column for every class of the problem.

    Classes that do not occur in the training rows get the lowest possible decision.
    """
    if n_classes == 2 or len(classes) == n_classes:
        return found
    columns = np.column_stack([-found, found]) if found.ndim == 1 else found
    whole = np.full((len(found), n_classes), np.finfo(np.float64).min)
    whole[:, classes] = columns
    return whole

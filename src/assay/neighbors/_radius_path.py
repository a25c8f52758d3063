"""Every radius and every weighting from one search (a path for `assay.select`).

The rows within the largest radius contain those within every smaller one. So a set of candidates
costs one search for each distinct metric, instead of one for each candidate, and gives the same
bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Estimator, Fitted, Predicted
from assay.neighbors._index import chunks
from assay.neighbors._metric import freeze
from assay.neighbors._path import SEARCH, Candidates

#: What the neighbours of each query say, and which queries have none.
Answer = tuple[NDArray[np.float64], NDArray[np.bool_]]


class RadiusPath(ABC):
    """What both paths share: the searches, and the order of the answers."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> None:  # noqa: ARG002
        """Share nothing between training sets: neighbours depend on the rows held out."""
        return

    def n_fits(self, candidates: Candidates) -> int:
        """Return the number of searches that these candidates cost: one for each metric."""
        return len({_search(each) for each in candidates})

    def fit_predict(
        self,
        estimator: Estimator,
        shared: None,  # noqa: ARG002
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,  # noqa: ARG002
        train: NDArray[np.integer[Any]],
        tests: Sequence[NDArray[np.integer[Any]]],
        candidates: Candidates,
    ) -> Iterator[Fitted]:
        """Yield, per candidate and in their order, the predictions for each block of `tests`.

        Parameters
        ----------
        estimator : Estimator
            Unfitted template; a candidate overrides its parameters.
        shared : None
            What `share` returned.
        X : ndarray of shape (n_samples, n_features)
            The whole table, encoded.
        y : ndarray of shape (n_samples,)
            Class codes 0..K-1, or target values.
        weight : ndarray or None
            Not used: a fit has no sample weights either.
        train : ndarray of int
            Training rows.
        tests : sequence of ndarray of int
            Blocks of rows to predict.
        candidates : sequence of mapping
            Parameter settings.

        Yields
        ------
        Fitted
            With size = training rows / mean number of neighbours, the effective number of
            parameters.

        Raises
        ------
        ParameterError, DataError
            In its turn, for a candidate that could not be fitted, or asked, on its own either.
        """
        known, truth, asked = X[train], y[train], X[np.concatenate(tests)]
        models = [_fitted(estimator, candidate, known, truth) for candidate in candidates]
        answers = iter(_answers([m for m in models if not isinstance(m, ValueError)], asked))
        for model in models:
            if isinstance(model, ValueError):
                raise model
            neighbours, answer = next(answers)
            whole = self._predicted(model, answer, y)
            size = len(train) * len(asked) / max(neighbours, 1)
            yield Fitted(whole.blocks([len(test) for test in tests]), size)

    def refit(
        self,
        estimator: Estimator,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,  # noqa: ARG002
        candidate: Mapping[str, Any],
    ) -> Any:
        """Fit one candidate on all rows, as an ordinary fit."""
        return clone(estimator).set_params(**candidate).fit(X, y)

    @abstractmethod
    def _predicted(self, model: Any, answer: Answer, y: NDArray[Any]) -> Predicted: ...


class RadiusClassifierPath(RadiusPath):
    """The path of `RadiusNeighborsClassifier`."""

    def _predicted(self, model: Any, answer: Answer, y: NDArray[Any]) -> Predicted:
        shares, alone = model._settled(*answer)
        label = model._labels(shares, alone)
        model._tell(alone)
        probability = np.zeros((len(shares), int(y.max()) + 1))
        probability[:, model.classes_] = shares
        return Predicted(label=label.astype(np.int64), probability=probability)


class RadiusRegressorPath(RadiusPath):
    """The path of `RadiusNeighborsRegressor`."""

    def _predicted(self, model: Any, answer: Answer, y: NDArray[Any]) -> Predicted:  # noqa: ARG002
        model._tell(answer[1])
        return Predicted(value=answer[0])


def _search(candidate: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(freeze(candidate.get(name)) for name in SEARCH)


def _fitted(
    estimator: Estimator, candidate: Mapping[str, Any], X: NDArray[Any], y: NDArray[Any]
) -> Any:
    """Fit, or return the error, to be raised when it is the candidate's turn."""
    try:
        return clone(estimator).set_params(**candidate).fit(X, y)
    except ValueError as error:
        return error


def _answers(models: Sequence[Any], asked: NDArray[Any]) -> list[tuple[int, Answer]]:
    """Return the number of neighbours, and what they say, of every model."""
    groups: dict[Any, list[int]] = {}
    for place, model in enumerate(models):
        groups.setdefault(model._plan().search_key, []).append(place)
    parts: list[list[tuple[int, Answer]]] = [[] for _ in models]
    for places in groups.values():
        first = models[places[0]]
        widest = max(float(models[place].radius) for place in places)
        queries = first._predict_data(asked)
        for part in chunks(len(queries), len(first.rows_)):
            reach = first._reach(queries[part], widest)
            for place in places:
                found = reach.within(float(models[place].radius))
                parts[place].append((len(found.rows), models[place]._tally(found)))
    return [_joined(pieces) for pieces in parts]


def _joined(pieces: Sequence[tuple[int, Answer]]) -> tuple[int, Answer]:
    said, alone = (np.concatenate([answer[at] for _, answer in pieces]) for at in (0, 1))
    return sum(count for count, _ in pieces), (said, alone)

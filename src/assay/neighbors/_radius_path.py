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
from assay.neighbors._path import Candidates, SearchPath

#: What the neighbours of each query say, and which queries have none.
Answer = tuple[NDArray[np.float64], NDArray[np.bool_]]


class RadiusPath(SearchPath, ABC):
    """What both paths share: the searches, and the order of the answers."""

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

        Parameters are those of `NeighborPath`. The size is the number of training rows by the mean
        number of neighbours. What a candidate could not do on its own either is raised in its turn.
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

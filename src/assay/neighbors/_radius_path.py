"""Every radius and every weighting from one search (a path for `assay.select`).

The rows within the largest radius contain those within every smaller one. So a set of candidates
costs one search for each distinct metric, instead of one for each candidate, and gives the same
bits.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.base import Answer, Path, Predicted, TrainingSet
from assay.neighbors._index import chunks
from assay.neighbors._path import search_group

#: What the neighbours of each query predict, and which queries have none.
Votes = tuple[NDArray[np.float64], NDArray[np.bool_]]


class _Found(NamedTuple):
    """The votes of every model, or why it could not be fitted, and the number of queries."""

    votes: dict[Any, tuple[int, Votes]]
    errors: dict[Any, ValueError]
    n_queries: int


class RadiusPath(Path[_Found]):
    """The path of `RadiusNeighborsClassifier` and `RadiusNeighborsRegressor`."""

    def group(self, params: Mapping[str, Any]) -> Hashable:
        """Return the parameters of the search."""
        return search_group(params)

    def run(self, models: Sequence[Any], training: TrainingSet) -> _Found:
        """Fit the models and search within the largest radius."""
        X, y, _, asked = training.kept
        errors: dict[Any, ValueError] = {}
        for model in models:
            try:
                model.fit(X, y)
            except ValueError as error:  # raised when it is the turn of the candidate
                errors[model] = error
        usable = [model for model in models if model not in errors]
        found = _votes(usable, asked) if usable else []
        return _Found(dict(zip(usable, found, strict=True)), errors, len(asked))

    def read(self, run: _Found, model: Any) -> Answer:
        """Predict; the size is the number of training rows by the mean number of neighbours."""
        if model in run.errors:
            raise run.errors[model]
        neighbours, (votes, alone) = run.votes.pop(model)
        size = model.n_samples_fit_ * run.n_queries / max(neighbours, 1)
        if not hasattr(model, "classes_"):
            model._tell(alone)
            return Answer(Predicted(value=votes), size)
        shares, alone = model._settled(votes, alone)
        label = model._labels(shares, alone)
        model._tell(alone)
        return Answer(Predicted(label, shares), size, model.classes_)


def _votes(models: Sequence[Any], asked: NDArray[Any]) -> list[tuple[int, Votes]]:
    """Return the number of neighbours, and their votes, for every model of one search."""
    first = models[0]
    widest = max(float(model.radius) for model in models)
    queries = first._predict_data(asked)
    parts: list[list[tuple[int, Votes]]] = [[] for _ in models]
    for part in chunks(len(queries), len(first.rows_)):
        reach = first._reach(queries[part], widest)
        for model, pieces in zip(models, parts, strict=True):
            found = reach.within(float(model.radius))
            pieces.append((len(found.rows), model._tally(found)))
    return [_joined(pieces) for pieces in parts]


def _joined(pieces: Sequence[tuple[int, Votes]]) -> tuple[int, Votes]:
    votes, alone = (np.concatenate([found[at] for _, found in pieces]) for at in (0, 1))
    return sum(count for count, _ in pieces), (votes, alone)

"""Every number of neighbours and every weighting from one search (a path for `assay.select`).

The neighbours for the largest k contain those for every smaller one, and the votes for every k are
partial sums of one pass (see `_vote`). So a set of candidates costs one search for each distinct
metric, instead of one for each candidate, and gives the same bits.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import Answer, ParameterError, Path, Predicted, TrainingSet
from assay.neighbors._index import chunks
from assay.neighbors._metric import freeze
from assay.neighbors._search import Plan, resolve
from assay.neighbors._vote import balance, class_factors, class_shares, means, vote_weights

#: Parameters that say which search is made.
_SEARCH = (
    *("metric", "p", "metric_params", "categorical_features"),
    *("algorithm", "leaf_size"),
)
_PLAIN = (type(None), str, int, float)
#: A plan and the array that its predictions go to.
Member = tuple[Plan, NDArray[np.float64]]
#: By model, what it predicts, or why it cannot be fitted.
_Answers = dict[Any, Answer | ParameterError]


def search_group(params: Mapping[str, Any]) -> Hashable:
    """Return what candidates of one search have in common."""
    values = map(params.get, _SEARCH)
    return tuple([each if type(each) in _PLAIN else freeze(each) for each in values])


class NeighborPath(Path[_Answers]):
    """The path of `KNeighborsClassifier` and `KNeighborsRegressor`."""

    def group(self, params: Mapping[str, Any]) -> Hashable:
        """Return the parameters of the search."""
        return search_group(params)

    def run(self, models: Sequence[Any], training: TrainingSet) -> _Answers:
        """Search for the most neighbours and predict with every model.

        The size is training rows / k, the effective number of parameters.
        """
        refs, targets, _, queries = training.kept
        n_classes = training.n_classes or 0
        shape = (len(queries), n_classes) if n_classes else (len(queries), *targets.shape[1:])
        answers: _Answers = {}
        plans: dict[Any, Member] = {}
        for model in models:
            try:
                plans[model] = (resolve(vars(model), len(refs)), np.empty(shape))
            except ParameterError as error:  # raised when it is the turn of the candidate
                answers[model] = error
        group = list(plans.values())
        for first in list(plans)[:1]:
            first._keep_rows(first._fit_rows(refs))
            asked = first._predict_data(queries)
            widest = min(max(plan.reach for plan, _ in group), len(refs))
            for part in chunks(len(asked), widest * targets[:1].size + n_classes):
                distance, index = first._nearest(asked[part], False, widest, group[0][0])
                found = targets[index]
                for members in _same_weights(group):
                    _vote(part, distance, found, targets, n_classes, members)
        for model, (plan, answer) in plans.items():
            predicted = Predicted(probability=answer) if n_classes else Predicted(value=answer)
            answers[model] = Answer(predicted, len(refs) / plan.k)
        return answers

    def read(self, run: _Answers, model: Any) -> Answer:
        """Return the answer of a model."""
        answer = run.pop(model)
        if isinstance(answer, ParameterError):
            raise answer
        return answer


def _same_weights(group: Sequence[Member]) -> Iterator[list[Member]]:
    """Split the plans of one search into sets whose neighbours have the same weights."""
    shared: dict[tuple[Any, ...], list[Member]] = {}
    for member in group:
        plan = member[0]
        # A kernel looks at the next neighbour, and a user's function may look at how many
        # distances it gets: only an equal k gives the same weights.
        alike = plan.weights in ("uniform", "distance")
        key = (plan.weights, freeze(plan.class_weight), 0 if alike else plan.k)
        shared.setdefault(key, []).append(member)
    yield from shared.values()


def _vote(
    part: slice,
    distance: NDArray[np.float64],
    found: NDArray[Any],
    targets: NDArray[Any],
    n_classes: int,
    members: Sequence[Member],
) -> None:
    """Let the neighbours of one chunk decide, for plans that differ in k only."""
    counts = sorted({plan.k for plan, _ in members})
    widest = counts[-1]
    first = members[0][0]
    weights = vote_weights(distance, first.weights, widest)
    factors = class_factors(first.class_weight, targets, np.arange(n_classes))
    weights = balance(weights, found[:, :widest], factors)
    near = found[:, :widest]
    results = (
        class_shares(near, weights, n_classes, counts)
        if n_classes
        else means(near, weights, counts)
    )
    for k, result in zip(counts, results, strict=True):
        for plan, answer in members:
            if plan.k == k:
                answer[part] = result

"""Every number of neighbours and every weighting from one search (a path for `assay.select`).

The neighbours for the largest k contain those for every smaller one, and the votes for every k are
partial sums of one pass (see `_vote`). So a set of candidates costs one search for each distinct
metric, instead of one for each candidate, and gives the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Estimator, Fitted, ParameterError, Predicted, did_you_mean
from assay.neighbors._index import chunks
from assay.neighbors._metric import freeze
from assay.neighbors._search import Plan, resolve
from assay.neighbors._vote import balance, class_factors, class_shares, means, vote_weights

Candidates = Sequence[Mapping[str, Any]]
#: Parameters that say which search is made.
_SEARCH = (
    *("metric", "p", "metric_params", "categorical_features"),
    *("algorithm", "leaf_size"),
)
#: A plan and the array that its predictions go to.
Member = tuple[Plan, NDArray[np.float64]]


class SearchPath:
    """What every path of a search shares."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> None:  # noqa: ARG002
        """Share nothing between training sets: neighbours depend on the rows held out."""
        return

    def n_fits(self, candidates: Candidates) -> int:
        """Return the number of searches that these candidates cost: one for each metric."""
        return len({tuple(freeze(each.get(name)) for name in _SEARCH) for each in candidates})

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


class NeighborPath(SearchPath, ABC):
    """What both paths share: grouping of the candidates, search, and assembly."""

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
            With size = training rows / k, the effective number of parameters.

        Raises
        ------
        ParameterError
            In its turn, for a candidate that could not be fitted on these rows either.
        """
        plans = _plans(estimator, candidates, len(train))
        ends = np.cumsum([len(test) for test in tests])[:-1]
        usable = [
            (plan, {name: value for name, value in each.items() if name in _SEARCH})
            for plan, each in zip(plans, candidates, strict=True)
            if isinstance(plan, Plan)
        ]
        rows = (X[train], X[np.concatenate(tests)])
        answers = iter(self._answers(estimator, *rows, y[train], self._n_classes(y), usable))
        for plan in plans:
            if isinstance(plan, ParameterError):
                raise plan
            predictions = [self._predicted(block) for block in np.split(next(answers), ends)]
            yield Fitted(predictions=predictions, size=len(train) / plan.k)

    def _answers(
        self,
        estimator: Estimator,
        refs: NDArray[Any],
        queries: NDArray[Any],
        targets: NDArray[Any],
        n_classes: int,
        usable: Sequence[tuple[Plan, dict[str, Any]]],
    ) -> list[NDArray[np.float64]]:
        """Predict the queries with every plan."""
        shape = (len(queries), n_classes) if n_classes else (len(queries), *targets.shape[1:])
        out = [np.empty(shape) for _ in usable]
        groups: dict[tuple[Any, ...], tuple[dict[str, Any], list[Member]]] = {}
        for (plan, search), answer in zip(usable, out, strict=True):
            groups.setdefault(plan.search_key, (search, []))[1].append((plan, answer))
        for search, group in groups.values():
            model: Any = clone(estimator).set_params(**search)
            model._keep_rows(model._fit_rows(refs))
            asked = model._predict_data(queries)
            widest = min(max(plan.reach for plan, _ in group), len(refs))
            for part in chunks(len(asked), widest * targets[:1].size + n_classes):
                distance, index = model._nearest(asked[part], False, widest, group[0][0])
                found = targets[index]
                for members in _same_weights(group):
                    self._vote(part, distance, found, targets, n_classes, members)
        return out

    def _vote(
        self,
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
        results = self._decide(found[:, :widest], weights, n_classes, counts)
        for k, result in zip(counts, results, strict=True):
            for plan, answer in members:
                if plan.k == k:
                    answer[part] = result

    @abstractmethod
    def _n_classes(self, y: NDArray[Any]) -> int: ...

    @abstractmethod
    def _decide(
        self,
        targets: NDArray[Any],
        weights: NDArray[np.float64] | None,
        n_classes: int,
        counts: Sequence[int],
    ) -> Iterator[NDArray[np.float64]]: ...

    @abstractmethod
    def _predicted(self, answer: NDArray[np.float64]) -> Predicted: ...


class ClassifierPath(NeighborPath):
    """The path of `KNeighborsClassifier`."""

    def _n_classes(self, y: NDArray[Any]) -> int:
        return int(y.max()) + 1

    def _decide(
        self,
        targets: NDArray[Any],
        weights: NDArray[np.float64] | None,
        n_classes: int,
        counts: Sequence[int],
    ) -> Iterator[NDArray[np.float64]]:
        return class_shares(targets, weights, n_classes, counts)

    def _predicted(self, answer: NDArray[np.float64]) -> Predicted:
        return Predicted(label=answer.argmax(axis=1), probability=answer)


class RegressorPath(NeighborPath):
    """The path of `KNeighborsRegressor`."""

    def _n_classes(self, y: NDArray[Any]) -> int:  # noqa: ARG002
        return 0

    def _decide(
        self,
        targets: NDArray[Any],
        weights: NDArray[np.float64] | None,
        n_classes: int,  # noqa: ARG002
        counts: Sequence[int],
    ) -> Iterator[NDArray[np.float64]]:
        return means(targets, weights, counts)

    def _predicted(self, answer: NDArray[np.float64]) -> Predicted:
        return Predicted(value=answer)


def _plans(
    estimator: Estimator, candidates: Candidates, n_train: int
) -> list[Plan | ParameterError]:
    params = estimator.get_params(deep=False)
    return [_plan(type(estimator).__name__, params, each, n_train) for each in candidates]


def _plan(
    owner: str, params: dict[str, Any], candidate: Mapping[str, Any], n_train: int
) -> Plan | ParameterError:
    for name in candidate:
        if name not in params:
            return ParameterError(f"{owner} has no parameter {name!r}{did_you_mean(name, params)}")
    try:
        return resolve({**params, **candidate}, n_train)
    except ParameterError as error:
        return error


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

"""What the paths of least-squares models share: candidates, grouping, predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Estimator, Fitted, ParameterError, Predicted

Candidates = Sequence[Mapping[str, Any]]


class TrainingSet(NamedTuple):
    """The rows that a group of candidates is fitted on."""

    rows: Any
    targets: NDArray[np.float64]
    weight: NDArray[np.float64] | None


class LeastPath(ABC):
    """A path whose candidates form groups, each fitted together on one training set."""

    def share(self, X: Any, candidates: Candidates) -> None:  # noqa: ARG002
        """Share nothing between training sets."""
        return

    def n_fits(self, candidates: Candidates) -> int:
        """Return how many groups these candidates form."""
        own = self.own_parameters
        settings = [{k: v for k, v in each.items() if k not in own} for each in candidates]
        return len({repr(sorted(each.items())) for each in settings})

    def fit_predict(
        self,
        estimator: Estimator,
        shared: None,  # noqa: ARG002
        X: Any,
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
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
            Target values.
        weight : ndarray or None
            Sample weights.
        train : ndarray of int
            Training rows.
        tests : sequence of ndarray of int
            Blocks of rows to predict.
        candidates : sequence of mapping
            Parameter settings.

        Yields
        ------
        Fitted
            With size = number of weights that are not zero, and the intercept.

        Raises
        ------
        ParameterError
            In its turn, for a candidate that could not be fitted either.
        """
        models: list[Any] = [clone(estimator).set_params(**each) for each in candidates]
        errors = [_error(model) for model in models]
        groups: dict[Hashable, list[Any]] = {}
        for model, error in zip(models, errors, strict=True):
            if error is None:
                groups.setdefault(self._group(model), []).append(model)
        fitted: set[Hashable] = set()
        whole = None
        for model, error in zip(models, errors, strict=True):
            if error is not None:
                raise error
            if whole is None:
                part = None if weight is None else weight[train]
                whole, queries = TrainingSet(X[train], y[train], part), X[np.concatenate(tests)]
            key = self._group(model)
            if key not in fitted:
                self._fit_group(groups[key], whole)
                fitted.add(key)
            value = np.asarray(model.predict(queries), dtype=np.float64).reshape(-1)
            size = float(np.count_nonzero(model.coef_) + np.size(model.intercept_))
            yield Fitted(Predicted(value=value).blocks([len(test) for test in tests]), size)

    def refit(
        self,
        estimator: Estimator,
        X: Any,
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        candidate: Mapping[str, Any],
    ) -> Any:
        """Fit one candidate on all rows, as an ordinary fit."""
        return clone(estimator).set_params(**candidate).fit(X, y, sample_weight=weight)

    #: Parameters that may differ within a group.
    own_parameters: frozenset[str] = frozenset({"alpha"})

    def _group(self, model: Any) -> Hashable:
        """Return what the models of a group have in common."""
        params = model.get_params(deep=False)
        return repr(sorted((k, v) for k, v in params.items() if k not in self.own_parameters))

    @abstractmethod
    def _fit_group(self, models: Sequence[Any], on: TrainingSet) -> None:
        """Fit all models of a group on one training set."""


def _error(model: Any) -> ParameterError | None:
    try:
        model._check_params()
    except ParameterError as error:
        return error
    return None

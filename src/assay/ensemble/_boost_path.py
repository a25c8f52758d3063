"""Every number of rounds from the longest run (a path for `assay.select`).

Random choices belong to (seed, round), and rows held back to the seed: the model with fewer rounds
is the beginning of the model with more. Candidates that differ in `n_estimators` only cost one run;
the columns of the table are sorted once, for all training sets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Fitted, ParameterError, Predicted
from assay.ensemble._boost_fit import Real, Training, staged_scores
from assay.tree.engine import Nodes, Ranks

Candidates = Sequence[Mapping[str, Any]]
_LENGTH = "n_estimators"


class BoostPath(ABC):
    """What both paths share: the longest run of each group of candidates, and its stages."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> Ranks:  # noqa: ARG002
        """Sort every column; nominal ones arrive as numbers here, so none is special."""
        return Ranks.build(_matrix(X))

    def n_fits(self, candidates: Candidates) -> int:
        """Return the number of runs that these candidates cost."""
        return len({_key(candidate) for candidate in candidates})

    def fit_predict(
        self,
        estimator: Any,
        shared: Ranks,
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
        estimator : GradientBoostingClassifier or GradientBoostingRegressor
            Unfitted template; a candidate overrides its parameters.
        shared : Ranks
            What `share` returned.
        X : ndarray of shape (n_samples, n_features)
            The whole table, encoded.
        y : ndarray of shape (n_samples,)
            Class codes 0..K-1, or target values.
        weight : ndarray or None
            Weights of all rows.
        train : ndarray of int
            Training rows.
        tests : sequence of ndarray of int
            Blocks of rows to predict.
        candidates : sequence of mapping
            Parameter settings.

        Yields
        ------
        Fitted
            With size = numbers in the trees, as for a single fit.
        """
        rows = _matrix(X)
        queries = rows[np.concatenate(tests)]
        ends = np.cumsum([len(test) for test in tests])[:-1]
        answers: dict[str, dict[int, tuple[Real, Any]]] = {}
        for candidate in candidates:
            key = _key(candidate)
            model = clone(estimator).set_params(**candidate)
            model._checked()
            if key not in answers:
                group = [each for each in candidates if _key(each) == key]
                longest = max((_length(estimator, each) for each in group), key=_as_int)
                run = clone(estimator).set_params(**{**candidate, _LENGTH: longest})
                self._fit(run, shared, rows, y, weight, train)
                answers[key] = self._stages(run, queries, [_length(estimator, e) for e in group])
            score, run = answers[key][_length(estimator, candidate)]
            blocks = np.split(score, ends)
            n_rounds = min(int(_length(estimator, candidate)), run.n_iter_)
            size = float(run.tree_start_[n_rounds * len(run.start_)])
            yield Fitted([self._predicted(run, block, y) for block in blocks], size)

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

    def _stages(
        self, run: Any, queries: NDArray[Any], lengths: Sequence[Any]
    ) -> dict[int, tuple[Real, Any]]:
        """Scores after each length asked for; a run that ended early has its last for the rest."""
        stops = sorted({min(int(length), run.n_iter_) for length in lengths})
        nodes, rows = Nodes.from_state(run), run._predict_data(queries)
        scores = dict(
            zip(stops, staged_scores(nodes, run.start_, rows, stops, run.n_jobs), strict=True)
        )
        return {length: (scores[min(int(length), run.n_iter_)], run) for length in lengths}

    def _fit(
        self,
        run: Any,
        shared: Ranks,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        train: NDArray[np.integer[Any]],
    ) -> None:
        part = None if weight is None else weight[train]
        if run.categorical_features is not None and not isinstance(run.categorical_features, str):
            # Levels are learned from the training rows: nothing to share.
            run.fit(X[train], y[train], sample_weight=part)
            return
        self._fit_shared(run, shared, X, y, part, np.asarray(train, dtype=np.int64))

    @abstractmethod
    def _fit_shared(
        self,
        run: Any,
        shared: Ranks,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        train: NDArray[np.int64],
    ) -> None: ...

    @abstractmethod
    def _predicted(self, run: Any, score: Real, y: NDArray[Any]) -> Predicted: ...


class ClassifierPath(BoostPath):
    """The path of `GradientBoostingClassifier`."""

    def _fit_shared(
        self,
        run: Any,
        shared: Ranks,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        train: NDArray[np.int64],
    ) -> None:
        settings = run._checked()
        rows, codes, weights = run._fit_data(X[train], y[train], weight)
        data = Training(rows, codes.astype(np.float64), weights, shared, train)
        run._fit_codes(data, settings)

    def _predicted(self, run: Any, score: Real, y: NDArray[Any]) -> Predicted:
        n_classes = int(y.max()) + 1
        shares = run._shares(score)
        if shares.shape[1] < n_classes:
            whole = np.zeros((len(shares), n_classes))
            whole[:, run.classes_.astype(np.int64)] = shares
            shares = whole
        return Predicted(label=run._labels(score).astype(np.int64), probability=shares)


class RegressorPath(BoostPath):
    """The path of `GradientBoostingRegressor`."""

    def _fit_shared(
        self,
        run: Any,
        shared: Ranks,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        train: NDArray[np.int64],
    ) -> None:
        settings = run._checked()
        rows, values, weights = run._fit_data(X[train], y[train], weight)
        run._fit_values(Training(rows, values, weights, shared, train), settings)

    def _predicted(self, run: Any, score: Real, y: NDArray[Any]) -> Predicted:  # noqa: ARG002
        return Predicted(value=run._answer(score))


def _matrix(X: NDArray[Any]) -> NDArray[Any]:
    kind = X.dtype if X.dtype == np.float32 else np.float64
    return np.ascontiguousarray(X, dtype=kind)


def _key(candidate: Mapping[str, Any]) -> str:
    return repr(sorted((name, value) for name, value in candidate.items() if name != _LENGTH))


def _length(estimator: Any, candidate: Mapping[str, Any]) -> Any:
    return candidate.get(_LENGTH, getattr(estimator, _LENGTH))


def _as_int(length: Any) -> int:
    try:
        return int(length)
    except (TypeError, ValueError):
        raise ParameterError(f"n_estimators must be an integer >= 1; got {length!r}") from None

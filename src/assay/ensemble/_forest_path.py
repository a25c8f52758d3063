"""Every number of trees, and every way to combine them, from one forest (a path).

Tree t depends on the seed and on t alone, so the first trees of a long forest are those of a short
one. Candidates that differ only in `n_estimators`, `combine` and how the work is done share one
forest: the longest is grown, and the sums over its trees are read off at each stop. The columns of
the table are sorted once for all training sets; the bins of each come from its own rows only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Fitted, Predicted
from assay.ensemble._forest_grow import grown_forest
from assay.ensemble._forest_plan import COMBINATIONS, check_forest
from assay.ensemble._oob import Combine
from assay.ensemble._sharing import run_key, sorted_columns
from assay.tree.engine import Ranks

Candidates = Sequence[Mapping[str, Any]]
Rows = NDArray[np.int64]
#: A way to combine the trees, and their number.
Point = tuple[Combine, int]

#: Parameters that leave the trees alone.
_FREE = frozenset(
    {"n_estimators", "combine", "n_jobs", "verbose", "oob_score", "oob_tol", "warm_start"}
)


class ForestPath(ABC):
    """What both paths share: grouping, growing, and reading off."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> Ranks | None:  # noqa: ARG002
        """Sort the columns of the table, once for all training sets."""
        return sorted_columns(X)

    def n_fits(self, candidates: Candidates) -> int:
        """Return the number of forests that these candidates cost."""
        alone = [each for each in candidates if each.get("n_estimators") == "oob"]
        shared = {run_key(each, _FREE) for each in candidates if each not in alone}
        return len(alone) + len(shared)

    def fit_predict(
        self,
        estimator: Any,
        shared: Ranks | None,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        train: Rows,
        tests: Sequence[Rows],
        candidates: Candidates,
    ) -> Iterator[Fitted]:
        """Yield, per candidate and in their order, the predictions for each block of `tests`.

        Parameters
        ----------
        estimator : Forest
            Unfitted template; a candidate overrides its parameters.
        shared : Ranks or None
            What `share` returned.
        X : ndarray of shape (n_samples, n_features)
            The whole table, encoded.
        y : ndarray of shape (n_samples,)
            Class codes 0..K-1, or target values.
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
            With size = number of nodes.
        """
        settings = [{**estimator.get_params(deep=False), **each} for each in candidates]
        wanted = _wanted(settings)
        unit = _Unit(shared, X, y, weight, train, np.concatenate(tests))
        read: dict[str, _Read] = {}
        for each, setting in zip(candidates, settings, strict=True):
            # What is wrong with a candidate is told in its turn, as by a fit of its own.
            model = clone(estimator).set_params(**each)
            check_forest(setting, classifier="combine" in setting)
            if setting["n_estimators"] == "oob":
                found, point = unit.alone(model)
            else:
                key, point = run_key(setting, _FREE), _point(setting)
                if key not in read:
                    read[key] = unit.together(model, wanted[key])
                found = read[key]
            whole = self._predicted(found.answers[point], found.classes, y)
            yield Fitted(
                whole.blocks([len(test) for test in tests]), float(found.tree_start[point[1]])
            )

    def refit(
        self,
        estimator: Any,
        X: NDArray[Any],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        candidate: Mapping[str, Any],
    ) -> Any:
        """Fit one candidate on all rows, as an ordinary fit."""
        return clone(estimator).set_params(**candidate).fit(X, y, weight)

    @abstractmethod
    def _predicted(
        self, answers: NDArray[np.float64], classes: NDArray[Any] | None, y: NDArray[Any]
    ) -> Predicted:
        """Put the answers of a forest into a record."""


class ClassifierPath(ForestPath):
    """The path of the forests that classify."""

    def _predicted(
        self, answers: NDArray[np.float64], classes: NDArray[Any] | None, y: NDArray[Any]
    ) -> Predicted:
        if classes is None:
            raise ValueError("a classifier has classes")
        # Classes that are not among the training rows have probability 0.
        whole = np.zeros((len(answers), int(y.max()) + 1))
        whole[:, classes] = answers
        return Predicted(label=classes[answers.argmax(axis=1)], probability=whole)


class RegressorPath(ForestPath):
    """The path of the forests that predict numbers."""

    def _predicted(
        self,
        answers: NDArray[np.float64],
        classes: NDArray[Any] | None,  # noqa: ARG002
        y: NDArray[Any],  # noqa: ARG002
    ) -> Predicted:
        return Predicted(value=answers[:, 0])


@dataclass(frozen=True)
class _Read:
    """What one forest says about the test rows, by way of combining and number of trees."""

    answers: dict[Point, NDArray[np.float64]]
    classes: NDArray[Any] | None
    tree_start: NDArray[np.int64]


@dataclass(frozen=True)
class _Unit:
    """One training set of a table, and the rows to predict."""

    shared: Ranks | None
    X: NDArray[Any]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    train: Rows
    test: Rows

    def together(self, model: Any, points: set[Point]) -> _Read:
        """Grow the longest forest and read all points off it."""
        longest = max(n for _, n in points)
        training = (
            model.set_params(n_estimators=longest)
            ._prepared(
                *self._data(), ranks=None if self.shared is None else (self.shared, self.train)
            )
            .training
        )
        nodes, _ = grown_forest(training, longest, None)
        rows = model._predict_data(self.X[self.test])
        answers: dict[Point, NDArray[np.float64]] = {}
        for combine in {name for name, _ in points}:
            stops = sorted({n for name, n in points if name == combine})
            found = nodes.predict(rows, training.plan.n_threads, combine, stops)
            answers |= {(combine, n): each for n, each in zip(stops, found, strict=True)}
        return _Read(answers, getattr(model, "classes_", None), nodes.tree_start)

    def alone(self, model: Any) -> tuple[_Read, Point]:
        """Fit a forest that chooses its own number of trees."""
        model.fit(*self._data())
        point = (model._combine(), model.n_estimators_)
        answers = {point: model._answers(self.X[self.test])}
        return _Read(answers, getattr(model, "classes_", None), model.tree_start_), point

    def _data(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
        weight = None if self.weight is None else self.weight[self.train]
        return self.X[self.train], self.y[self.train], weight


def _point(setting: Mapping[str, Any]) -> Point:
    return setting.get("combine", "mean"), setting["n_estimators"]


def _wanted(settings: Sequence[Mapping[str, Any]]) -> dict[str, set[Point]]:
    """Say what is to be read off each forest; senseless settings are left out."""
    wanted: dict[str, set[Point]] = {}
    for setting in settings:
        combine, n = _point(setting)
        if combine in COMBINATIONS and isinstance(n, int | np.integer) and n >= 1:
            wanted.setdefault(run_key(setting, _FREE), set()).add((combine, int(n)))
    return wanted

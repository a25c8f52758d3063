"""Every number of trees, and every way to combine them, from one forest (a path).

Tree t depends on the seed and on t alone, so the first trees of a long forest are those of a short
one. Candidates that differ only in `n_estimators`, `combine` and how the work is done share one
forest: the longest is grown, and the sums over its trees are read off at each stop. The columns of
the table are sorted once for all training sets; the bins of each come from its own rows only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Answer, Candidates, Path, Predicted, TrainingSet
from assay.ensemble._forest_grow import grown_forest
from assay.ensemble._forest_plan import check_forest
from assay.ensemble._oob import Combine
from assay.ensemble._sharing import run_key, sorted_columns
from assay.tree.engine import Ranks

#: A way to combine the trees, and their number.
Point = tuple[Combine, int]

#: Parameters that leave the trees alone.
_FREE = frozenset(
    {"n_estimators", "combine", "n_jobs", "verbose", "oob_score", "oob_tol", "warm_start"}
)


@dataclass(frozen=True)
class _Grown:
    """What one forest predicts for the test rows, by way of combining and number of trees."""

    answers: dict[Point, NDArray[np.float64]]
    classes: NDArray[Any] | None
    tree_start: NDArray[np.int64]

    def at(self, point: Point) -> Answer:
        """Read one point; the size is the number of nodes."""
        answer, size = self.answers[point], float(self.tree_start[point[1]])
        if self.classes is None:
            return Answer(Predicted(value=answer[:, 0]), size)
        return Answer(Predicted(probability=answer), size, self.classes)


class ForestPath(Path[_Grown | TrainingSet]):
    """The path of all forests: grouping, growing, and reading off."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> Ranks | None:  # noqa: ARG002
        """Sort the columns of the table, once for all training sets."""
        return sorted_columns(X)

    def group(self, params: Mapping[str, Any]) -> str | None:
        """Return a key of the parameters that the trees depend on.

        None: the forest chooses its own number of trees.
        """
        return None if params.get("n_estimators") == "oob" else run_key(params, _FREE)

    def check(self, model: Any, training: TrainingSet) -> None:
        """Check the parameters."""
        check_forest(model.get_params(deep=False), classifier=training.n_classes is not None)

    def run(self, models: Sequence[Any], training: TrainingSet) -> _Grown | TrainingSet:
        """Grow the longest forest and read all points off it."""
        if models[0].n_estimators == "oob":
            return training
        points = {_point(model) for model in models}
        longest = max(n for _, n in points)
        forest = clone(models[0]).set_params(n_estimators=longest)
        ranks = None if training.shared is None else (training.shared, training.train)
        grown = forest._prepared(*training.data(), ranks=ranks).training
        nodes, _ = grown_forest(grown, longest, None)
        rows = forest._predict_data(training.test_rows())
        answers: dict[Point, NDArray[np.float64]] = {}
        for combine in {name for name, _ in points}:
            stops = sorted({n for name, n in points if name == combine})
            found = nodes.predict(rows, grown.plan.n_threads, combine, stops)
            answers |= {(combine, n): each for n, each in zip(stops, found, strict=True)}
        return _Grown(answers, getattr(forest, "classes_", None), nodes.tree_start)

    def read(self, run: _Grown | TrainingSet, model: Any) -> Answer:
        """Read a point, or fit a forest that chooses its own number of trees."""
        if isinstance(run, _Grown):
            return run.at(_point(model))
        model.fit(*run.data())
        point = (model._combine(), model.n_estimators_)
        answers = {point: model._answers(run.test_rows())}
        return _Grown(answers, getattr(model, "classes_", None), model.tree_start_).at(point)


def _point(model: Any) -> Point:
    return getattr(model, "combine", "mean"), int(model.n_estimators)

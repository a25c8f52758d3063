"""Every number of rounds from the longest run (a path for `assay.select`).

Random choices belong to (seed, round), and rows held back to the seed: the model with fewer rounds
is the beginning of the model with more. Candidates that differ in `n_estimators` only cost one run;
the columns of the table are sorted once, for all training sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Answer, Candidates, Path, Predicted, TrainingSet
from assay.ensemble._boost_fit import Real, Training, staged_scores
from assay.tree.engine import Nodes, Ranks


class _Run(NamedTuple):
    """The model with most rounds, and its scores of the test rows by their number."""

    longest: Any
    scores: dict[int, Real]


class BoostPath(Path[_Run]):
    """The path of gradient boosting: the longest run of each group, and its stages."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> Ranks:  # noqa: ARG002
        """Sort every column; nominal ones arrive as numbers here, so none is special."""
        kind = X.dtype if X.dtype == np.float32 else np.float64
        return Ranks.build(np.ascontiguousarray(X, dtype=kind))

    def group(self, params: Mapping[str, Any]) -> str:
        """Return all parameters but the number of rounds."""
        return repr(sorted((name, params[name]) for name in params if name != "n_estimators"))

    def check(self, model: Any, training: TrainingSet) -> None:  # noqa: ARG002
        """Check the parameters."""
        model._checked()

    def run(self, models: Sequence[Any], training: TrainingSet) -> _Run:
        """Fit the longest run."""
        lengths = [int(model.n_estimators) for model in models]
        longest = clone(models[0]).set_params(n_estimators=max(lengths))
        nominal = longest.categorical_features
        if nominal is not None and not isinstance(nominal, str):
            # Levels are learned from the training rows: nothing to share.
            longest.fit(*training.data())
        else:
            _fit(longest, training)
        stops = sorted({min(length, longest.n_iter_) for length in lengths})
        rows = longest._predict_data(training.test_rows())
        found = staged_scores(
            Nodes.from_state(longest), longest.start_, rows, stops, longest.n_jobs
        )
        return _Run(longest, dict(zip(stops, found, strict=True)))

    def read(self, run: _Run, model: Any) -> Answer:
        """Read a stage, or the last of a run that ended early; the size is that of its trees."""
        longest = run.longest
        n_rounds = min(int(model.n_estimators), longest.n_iter_)
        score = run.scores[n_rounds]
        size = float(longest.tree_start_[n_rounds * len(longest.start_)])
        if not hasattr(longest, "classes_"):
            return Answer(Predicted(value=longest._answer(score)), size)
        predicted = Predicted(longest._labels(score), longest._shares(score))
        return Answer(predicted, size, longest.classes_)


def _fit(model: Any, training: TrainingSet) -> None:
    """Fit on columns that are sorted already."""
    settings = model._checked()
    rows, targets, weight = model._fit_data(*training.data())
    train = np.asarray(training.train, dtype=np.int64)
    data = Training(rows, targets.astype(np.float64), weight, training.shared, train)
    if training.n_classes is None:
        model._fit_values(data, settings)
    else:
        model._fit_codes(data, settings)

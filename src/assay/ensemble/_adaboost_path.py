"""Every number of learners from the longest run (a path for `assay.select`).

A run of AdaBoost begins with every shorter one, so candidates that differ in `n_estimators` and
`formulation` only are read off one run. The columns are sorted once for all training sets; the bins
of each come from its own rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Answer, Candidates, Path, Predicted, TrainingSet
from assay.ensemble._sharing import run_key, sorted_columns
from assay.tree.engine import Ranks

#: Parameters that change how a run is read, not the run.
_FREE = frozenset({"n_estimators", "formulation", "n_jobs"})


class _Run(NamedTuple):
    """The model with most learners, and its decisions about the test rows by their number."""

    longest: Any
    decisions: dict[int, NDArray[np.float64]]


class AdaBoostPath(Path[_Run]):
    """The path of `AdaBoostClassifier`."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> Ranks | None:  # noqa: ARG002
        """Sort the columns of the table, once for all training sets."""
        return sorted_columns(X)

    def group(self, params: Mapping[str, Any]) -> str:
        """Return a key of the parameters that a run depends on."""
        return run_key(params, _FREE)

    def check(self, model: Any, training: TrainingSet) -> None:  # noqa: ARG002
        """Check the parameters."""
        model._check_parameters()

    def run(self, models: Sequence[Any], training: TrainingSet) -> _Run:
        """Fit the longest run of learners."""
        asked = {int(model.n_estimators) for model in models}
        longest = clone(models[0]).set_params(n_estimators=max(asked))
        ranks = None if training.shared is None else (training.shared, training.train)
        longest._fit(*training.data(), ranks)
        return _Run(longest, _stages(longest, training.test_rows(), asked))

    def read(self, run: _Run, model: Any) -> Answer:
        """Read a stage; the size is the number of nodes (of learners, where they have none)."""
        longest, decisions = run
        n = min(int(model.n_estimators), max(decisions))
        decision = decisions[n]
        size = n if hasattr(longest, "estimators_") else longest.tree_start_[n]
        predicted = Predicted(longest._labels(decision), longest._probabilities(decision))
        return Answer(predicted, float(size), longest.classes_)


def _stages(
    model: Any, queries: NDArray[Any], asked: Collection[int]
) -> dict[int, NDArray[np.float64]]:
    """Return decisions after so many learners, and after the last: all would fill the memory."""
    kept: dict[int, NDArray[np.float64]] = {}
    for n, decision in enumerate(model.staged_decision_function(queries), start=1):
        if n - 1 not in asked:
            kept.pop(n - 1, None)
        kept[n] = decision
    return kept

"""Every number of learners from the longest run (a path for `assay.select`).

A run of AdaBoost begins with every shorter one, so candidates that differ in `n_estimators` and
`formulation` only are read off one run. The columns are sorted once for all training sets; the bins
of each come from its own rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from assay.base import Fitted, Predicted
from assay.ensemble._sharing import run_key, sorted_columns
from assay.tree.engine import Ranks

Candidates = Sequence[Mapping[str, Any]]
Rows = NDArray[np.int64]

#: Parameters that change how a run is read, not the run.
_FREE = frozenset({"n_estimators", "formulation", "n_jobs"})


class AdaBoostPath:
    """The path of `AdaBoostClassifier`."""

    def share(self, X: NDArray[Any], candidates: Candidates) -> Ranks | None:  # noqa: ARG002
        """Sort the columns of the table, once for all training sets."""
        return sorted_columns(X)

    def n_fits(self, candidates: Candidates) -> int:
        """Return the number of runs that these candidates cost."""
        return len({run_key(each, _FREE) for each in candidates})

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
        estimator : AdaBoostClassifier
            Unfitted template; a candidate overrides its parameters.
        shared : Ranks or None
            What `share` returned.
        X : ndarray of shape (n_samples, n_features)
            The whole table, encoded.
        y : ndarray of shape (n_samples,)
            Class codes 0..K-1.
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
            With size = number of nodes (of learners, where they are no trees of the core).
        """
        settings = [{**estimator.get_params(deep=False), **each} for each in candidates]
        asked = _asked(settings)
        part = None if weight is None else weight[train]
        queries = X[np.concatenate(tests)]
        runs: dict[str, tuple[Any, dict[int, NDArray[np.float64]]]] = {}
        for each, setting in zip(candidates, settings, strict=True):
            model = clone(estimator).set_params(**each)
            model._check_parameters()  # what is wrong with a candidate is told in its turn
            key = run_key(setting, _FREE)
            if key not in runs:
                model.set_params(n_estimators=max(asked[key]))
                ranks = None if shared is None else (shared, train)
                model._fit(X[train], y[train], part, ranks)
                runs[key] = model, _stages(model, queries, asked[key])
            run, decisions = runs[key]
            n = min(int(setting["n_estimators"]), max(decisions))
            whole = _predicted(run, decisions[n], int(y.max()) + 1)
            yield Fitted(whole.blocks([len(test) for test in tests]), _size(run, n))

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


def _asked(settings: Sequence[Mapping[str, Any]]) -> dict[str, set[int]]:
    """Return the numbers of learners that candidates of one run ask for."""
    asked: dict[str, set[int]] = {}
    for setting in settings:
        n = setting["n_estimators"]
        if isinstance(n, int | np.integer) and n >= 1:
            asked.setdefault(run_key(setting, _FREE), set()).add(int(n))
    return asked


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


def _size(run: Any, n: int) -> float:
    return float(n) if hasattr(run, "estimators_") else float(run.tree_start_[n])


def _predicted(run: Any, decision: NDArray[np.float64], n_classes: int) -> Predicted:
    """Put the answers of a run into a record, with columns for classes it did not see."""
    classes = np.asarray(run.classes_).astype(np.int64)
    probability = np.zeros((len(decision), n_classes))
    probability[:, classes] = run._probabilities(decision)
    return Predicted(label=run._labels(decision).astype(np.int64), probability=probability)

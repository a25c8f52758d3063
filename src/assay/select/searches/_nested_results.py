"""Results of a nested search in scikit-learn's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from assay.base import Predicted
from assay.evaluate import get_metric
from assay.select.choose import Outcome, ScoreTable
from assay.select.plan import Plan, pair_out


def inner_scores(outcome: Outcome, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean inner scores, of shape (blocks, candidates), greater is better.

    Parameters
    ----------
    outcome : Outcome
        What the search found.
    places : ndarray of int64
        For each column of its table, the position of the candidate in the user's grids.
    """
    table, plan = _table(outcome)
    found = np.empty((len(plan.outers), len(places)))
    for number, outer in enumerate(plan.outers):
        found[number, places] = table.means(table.rows_of(0, outer.inner))[0]
    return found


def cv_results(
    outcome: Outcome, places: NDArray[np.int64], params: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the table that `GridSearchCV` calls ``cv_results_``.

    Parameters
    ----------
    outcome : Outcome
        What the search found.
    places : ndarray of int64
        For each column of its table, the position of the candidate in the user's grids.
    params : sequence of dict
        The candidates, in the order of the user's grids.

    Notes
    -----
    A split is a fit without two blocks, scored on one of them; there are K(K-1). Candidates that
    failed have NaN and the last rank.
    """
    table, plan = _table(outcome)
    rows = table.rows_of(0, plan.final)
    scores = np.empty((len(rows), len(places)))
    scores[:, places] = table.score[rows]
    mean = np.empty(len(places))
    mean[places] = table.means(rows)[0]
    found: dict[str, Any] = {}
    for name in sorted({name for each in params for name in each}):
        column = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=True)
        for i, each in enumerate(params):
            if name in each:
                column[i] = each[name]
        found[f"param_{name}"] = column
    found["params"] = [dict(each) for each in params]
    found |= {f"split{i}_test_score": each for i, each in enumerate(scores)}
    found["mean_test_score"] = mean
    found["std_test_score"] = scores.std(axis=0)
    able = np.where(np.isfinite(mean), mean, -np.inf)
    found["rank_test_score"] = rankdata(-able, method="min").astype(np.int32)
    return found


def outer_metrics(
    outcome: Outcome,
    scorings: Mapping[str, Any],
    y: NDArray[Any],
    weight: ArrayLike | None,
    n_classes: int | None,
) -> dict[str, NDArray[np.float64]]:
    """Return the scores of the outer blocks by other metrics, from the same predictions.

    As in scikit-learn, greater is better: losses are negative.

    Parameters
    ----------
    outcome : Outcome
        What the search found; its choices stay.
    scorings : mapping of str to str or callable
        The metrics by name.
    y : ndarray
        Class codes or numbers of all rows.
    weight : array-like or None
        Weights of all rows.
    n_classes : int or None
        None for numbers.
    """
    outer, weights = outcome.outer, None if weight is None else np.asarray(weight, dtype=float)
    found = {}
    for name, scoring in scorings.items():
        metric = get_metric(scoring, outcome.task)
        scores = []
        for nested in outcome.nested:
            mine = outer.block == nested.block
            parts = (outer.label, outer.probability, outer.decision, outer.value)
            taken = [None if part is None else part[mine] for part in parts]
            # NaN: the model chosen for this block does not provide it.
            taken = [None if a is None or np.isnan(a).any() else a for a in taken]
            rows = outer.row[mine]
            try:
                score = metric.score(
                    y[rows],
                    Predicted(*taken),
                    weight=None if weights is None else weights[rows],
                    n_classes=n_classes,
                )
            except (AttributeError, ValueError):  # it needs what the chosen model does not provide
                score = float("nan")
            scores.append(score)
        found[name] = np.array(scores)
    return found


def _table(outcome: Outcome) -> tuple[ScoreTable, Plan]:
    if outcome.table is None:
        raise ValueError("the outcome has no table of scores")
    return outcome.table, pair_out(outcome.plan.blocks)

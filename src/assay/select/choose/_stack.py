"""Stacking with weights from out-of-fold predictions.

The members are the best candidates by the same inner scores that choose a single one. Their weights
are non-negative, sum to one, and minimise log loss (classes) or squared error (numbers) on the
out-of-fold predictions. The score of the stack is estimated by learning the weights again without
block j and scoring on block j, for every inner block j.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.ensemble import convex_weights
from assay.select.choose._model_spec import ModelSpec, mixed, votes
from assay.select.choose._out_of_fold import OutOfFoldPredictions, PredictedRows, cross_fitted
from assay.select.choose._score import ScoreTable

Floats = NDArray[np.float64]

MOST_MEMBERS = 16
# Further members: the next best candidates, besides the best of each family.
_EXTRA = 3
# Members below this weight are left out: each costs a fit and contributes almost nothing.
_LEAST_WEIGHT = 0.02
# Weight of the prior towards equal weights, in rows.
_PRIOR_ROWS = 10.0


@dataclass(frozen=True, eq=False)
class Stacked:
    """A stack and its scores on blocks that its weights were learned without.

    Parameters
    ----------
    spec : ModelSpec
        Members and weights, from all pieces.
    out_of_fold : list of Predicted
        Per piece, with weights learned from the other groups.
    scores : list of float
        Of these.
    """

    spec: ModelSpec
    out_of_fold: list[Predicted]
    scores: list[float]


def best_of_families(table: ScoreTable, ranking: Sequence[int]) -> list[int]:
    """Return the best candidate of each family, best first."""
    best: dict[int, int] = {}
    for column in ranking:
        best.setdefault(table.candidates[column].family, column)
    return list(best.values())


def members_of(table: ScoreTable, ranking: Sequence[int], most: int = MOST_MEMBERS) -> list[int]:
    """Return the best candidate of each family, then the next best of all.

    Parameters
    ----------
    table : ScoreTable
        Knows the families.
    ranking : sequence of int
        Columns, best first.
    most : int, default=MOST_MEMBERS
        How many at most.
    """
    first = best_of_families(table, ranking)[:most]
    extra = [column for column in ranking if column not in first]
    return [*first, *extra[: min(_EXTRA, most - len(first))]]


def stacked(
    level: OutOfFoldPredictions, pieces: Sequence[PredictedRows], members: Sequence[int]
) -> Stacked | None:
    """Return the best mean of the members; None where there is nothing to learn it from.

    Parameters
    ----------
    level : OutOfFoldPredictions
        The predictions.
    pieces : sequence of PredictedRows
        The question.
    members : sequence of int
        Columns.
    """
    members = [column for column in members if level.has(pieces, column)]
    if len(members) < 2:
        return None
    n_classes = level.question.n_classes
    data = [_evidence(level, piece, members) for piece in pieces]

    def learn(train: list[int]) -> Callable[[int], Predicted]:
        weights = _weights([data[at] for at in train], n_classes)
        used = np.flatnonzero(weights)

        def predict(at: int) -> Predicted:
            parts = [level.predictions(pieces[at], members[m]) for m in used]
            return mixed(parts, weights[used].tolist(), n_classes)

        return predict

    out_of_fold = cross_fitted(pieces, learn)
    if out_of_fold is None:
        return None
    weights = _weights(data, n_classes)
    used = np.flatnonzero(weights)
    spec = ModelSpec(tuple(members[m] for m in used), tuple(weights[used].tolist()))
    scores = [level.score(piece, each) for piece, each in zip(pieces, out_of_fold, strict=True)]
    return Stacked(spec, out_of_fold, scores)


def _evidence(
    level: OutOfFoldPredictions, piece: PredictedRows, members: Sequence[int]
) -> tuple[Floats, Floats | None, Floats]:
    """Return the members' predictions of the truth of a piece, the truth, and the weights."""
    out_of_fold = [level.predictions(piece, column) for column in members]
    truth, weight = level.truth(piece), level.weight(piece)
    n_classes = level.question.n_classes
    if n_classes is None:
        values = np.column_stack([np.asarray(each.value) for each in out_of_fold])
        return values, truth.astype(np.float64), weight
    rows = np.arange(len(truth))
    return (
        np.column_stack([votes(each, n_classes)[rows, truth] for each in out_of_fold]),
        None,
        weight,
    )


def _weights(data: Sequence[tuple[Floats, Floats | None, Floats]], n_classes: int | None) -> Floats:
    """Return the weights of least loss; those too small to matter are dropped."""
    out_of_fold = np.concatenate([each[0] for each in data])
    weight = np.concatenate([each[2] for each in data])
    if not weight.any():
        weight = np.ones(len(weight))
    if n_classes is None:
        truth = np.concatenate([np.asarray(each[1]) for each in data])
        # In units of the best member's error, so that the ridge means the same for any target.
        squares = np.average((out_of_fold - truth[:, None]) ** 2, axis=0, weights=weight)
        scale = float(np.sqrt(squares.min())) or 1.0
        out_of_fold, truth, loss = out_of_fold / scale, truth / scale, "squared"
    else:
        truth, loss = None, "log"
    ridge = _PRIOR_ROWS / len(out_of_fold)
    found = convex_weights(out_of_fold, truth, loss=loss, sample_weight=weight, ridge=ridge)
    kept = np.flatnonzero(found >= _LEAST_WEIGHT)
    if len(kept) < len(found):
        again = convex_weights(
            out_of_fold[:, kept], truth, loss=loss, sample_weight=weight, ridge=ridge
        )
        found = np.zeros(len(found))
        found[kept] = again
    return found

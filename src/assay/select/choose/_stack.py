"""Honest stacking: weights from predictions for rows that no fit behind them saw.

The members are the best candidates by the same inner scores that choose a single one. Their weights
are not negative and add up to one; they have the least log loss (classes) or squared error
(numbers) on the level-1 data. How good such a stack is, is estimated by learning the weights again
without block j and scoring them on block j, for every level-1 block j.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.ensemble import convex_weights
from assay.select.choose._level_one import LevelOne, Piece, cross_fitted
from assay.select.choose._recipe import Recipe, mixed, votes
from assay.select.choose._score import ScoreTable

Floats = NDArray[np.float64]

MOST_MEMBERS = 16
# The next best of all, beside the best of each family.
_EXTRA = 3
# A member below this weight is left out: it costs a fit and says next to nothing.
_LEAST_WEIGHT = 0.02
# How many rows' worth of evidence equal weights have.
_PRIOR_ROWS = 10.0


@dataclass(frozen=True, eq=False)
class Stacked:
    """A stack and what it scores where its weights were learned without the block.

    Parameters
    ----------
    recipe : Recipe
        Members and weights, from all pieces.
    said : list of Predicted
        Per piece, with weights learned from the other groups.
    scores : list of float
        Of these.
    """

    recipe: Recipe
    said: list[Predicted]
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


def stacked(level: LevelOne, pieces: Sequence[Piece], members: Sequence[int]) -> Stacked | None:
    """Return the best mean of the members; None where there is nothing to learn it from.

    Parameters
    ----------
    level : LevelOne
        The predictions.
    pieces : sequence of Piece
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
            parts = [level.said(pieces[at], members[m]) for m in used]
            return mixed(parts, weights[used].tolist(), n_classes)

        return predict

    said = cross_fitted(pieces, learn)
    if said is None:
        return None
    weights = _weights(data, n_classes)
    used = np.flatnonzero(weights)
    recipe = Recipe(tuple(members[m] for m in used), tuple(weights[used].tolist()))
    scores = [level.score(piece, each) for piece, each in zip(pieces, said, strict=True)]
    return Stacked(recipe, said, scores)


def _evidence(
    level: LevelOne, piece: Piece, members: Sequence[int]
) -> tuple[Floats, Floats | None, Floats]:
    """Return what the members say about the truth of a piece, the truth, and the weights."""
    said = [level.said(piece, column) for column in members]
    truth, weight = level.truth(piece), level.weight(piece)
    n_classes = level.question.n_classes
    if n_classes is None:
        values = np.column_stack([np.asarray(each.value) for each in said])
        return values, truth.astype(np.float64), weight
    rows = np.arange(len(truth))
    return np.column_stack([votes(each, n_classes)[rows, truth] for each in said]), None, weight


def _weights(data: Sequence[tuple[Floats, Floats | None, Floats]], n_classes: int | None) -> Floats:
    """Return the weights of least loss, those too small to matter left out."""
    said = np.concatenate([each[0] for each in data])
    weight = np.concatenate([each[2] for each in data])
    if not weight.any():
        weight = np.ones(len(weight))
    if n_classes is None:
        truth = np.concatenate([np.asarray(each[1]) for each in data])
        # In units of the best member's error, so that the ridge means the same for any target.
        squares = np.average((said - truth[:, None]) ** 2, axis=0, weights=weight)
        scale = float(np.sqrt(squares.min())) or 1.0
        said, truth, loss = said / scale, truth / scale, "squared"
    else:
        truth, loss = None, "log"
    ridge = _PRIOR_ROWS / len(said)
    found = convex_weights(said, truth, loss=loss, sample_weight=weight, ridge=ridge)
    kept = np.flatnonzero(found >= _LEAST_WEIGHT)
    if len(kept) < len(found):
        again = convex_weights(said[:, kept], truth, loss=loss, sample_weight=weight, ridge=ridge)
        found = np.zeros(len(found))
        found[kept] = again
    return found

"""Level-1 data: what candidates say about blocks that their fits did not see, from the ledger.

For outer block i these are the predictions on the blocks j of the fits without {i, j}. No fit
behind them saw block i, so nothing that is learned from them knows block i's targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.select.choose._evidence import Evidence
from assay.select.plan import take

# A question with one block only is cut into so many parts of it.
_PARTS = 5


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows that were predicted by one fit that did not see them.

    Parameters
    ----------
    place : int
        Row of the score table: which fit, which block.
    group : tuple of (int, int)
        Pieces of one group are left out together: (repeat, block), or parts of the only block.
    rows : ndarray of int64
        Rows of the problem.
    taken : ndarray of int64 or None
        Their positions in the block; None for all of it.
    """

    place: int
    group: tuple[int, int]
    rows: NDArray[np.int64]
    taken: NDArray[np.int64] | None = None


class LevelOne:
    """Predictions of some candidates at all places of a plan.

    Parameters
    ----------
    evidence : Evidence
        The search so far.
    wanted : iterable of int
        Columns of the table.
    """

    def __init__(self, evidence: Evidence, wanted: Iterable[int]) -> None:
        self.question, self.table = evidence.question, evidence.table
        self._partitions = evidence.partitions
        self._said: dict[tuple[int, int], Predicted] = {}
        columns = set(wanted)
        row = 0
        for repeat in evidence.repeats:
            for split, fit in enumerate(evidence.plan.splits):
                for first, entries in evidence.predictions(repeat, split):
                    for column, entry in enumerate(entries, first):
                        if column in columns and entry.fitted is not None:
                            for step, predicted in enumerate(entry.fitted.predictions):
                                self._said[row + step, column] = predicted
                row += len(fit.tests)

    def pieces(self, places: Sequence[int]) -> list[Piece]:
        """Cut a question into pieces that can be left out; places without a score are no part."""
        found = []
        for place in places:
            if self.table.defined[place]:
                repeat, _, block = self.table.places[place]
                found.append(Piece(place, (repeat, block), self._partitions[repeat].rows(block)))
        if len(found) == 1:
            whole = found[0]
            positions = np.arange(len(whole.rows))
            return [
                Piece(whole.place, (whole.group[0], part), whole.rows[taken], taken)
                for part in range(_PARTS)
                if len(taken := positions[positions % _PARTS == part])
            ]
        return found

    def said(self, piece: Piece, column: int) -> Predicted:
        """Return what a candidate says about a piece."""
        whole = self._said[piece.place, column]
        return whole if piece.taken is None else take(whole, piece.taken)

    def has(self, pieces: Iterable[Piece], column: int) -> bool:
        """Say whether a candidate has predictions for all of these pieces."""
        return all((piece.place, column) in self._said for piece in pieces)

    def truth(self, piece: Piece) -> NDArray[np.float64] | NDArray[np.int64]:
        """Return the truth of a piece: class codes or values."""
        return np.asarray(self.question.y[piece.rows])

    def weight(self, piece: Piece) -> NDArray[np.float64]:
        """Return the weights of a piece."""
        if self.question.weight is None:
            return np.ones(len(piece.rows))
        return self.question.weight[piece.rows]

    def score(self, piece: Piece, predicted: Predicted) -> float:
        """Return the score of predictions for a piece; NaN where it is undefined."""
        return self.question.score(piece.rows, predicted)[0]


def cross_fitted(
    pieces: Sequence[Piece],
    learn: Callable[[list[int]], Callable[[int], Predicted]],
) -> list[Predicted] | None:
    """Return predictions for every piece, by what was learned from pieces of other groups.

    Parameters
    ----------
    pieces : sequence of Piece
        The question.
    learn : callable
        From positions of pieces to learn from, to a function from a position to predictions.

    Returns
    -------
    list of Predicted or None
        None where a repeat has one group only: nothing is left to learn from.
    """
    said: list[Predicted | None] = [None] * len(pieces)
    for group in dict.fromkeys(piece.group for piece in pieces):
        others = [
            at
            for at, piece in enumerate(pieces)
            if piece.group != group and piece.group[0] == group[0]
        ]
        if not others:
            return None
        predict = learn(others)
        for at, piece in enumerate(pieces):
            if piece.group == group:
                said[at] = predict(at)
    return [each for each in said if each is not None]


def mean_score(scores: Sequence[float]) -> float:
    """Return the mean of the scores that are defined; NaN without any."""
    defined = [score for score in scores if np.isfinite(score)]
    return float(np.mean(defined)) if defined else float("nan")

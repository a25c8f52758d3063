"""Out-of-fold predictions of candidates, from the ledger.

For outer block i these are the predictions on the blocks j of the fits without {i, j}. None of
these fits saw block i, so what is learned from them does not know the targets of block i.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.select.choose._evidence import Evidence
from assay.select.plan import take

# Number of parts into which a single block is cut.
_PARTS = 5


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """Rows predicted by one fit that did not see them.

    Parameters
    ----------
    place : int
        Row of the score table: which fit, which block.
    group : tuple of (int, int)
        Rows of one group are left out together: (repeat, block), or parts of the only block.
    rows : ndarray of int64
        Row numbers.
    taken : ndarray of int64 or None
        Their positions in the block; None for all of it.
    """

    place: int
    group: tuple[int, int]
    rows: NDArray[np.int64]
    taken: NDArray[np.int64] | None = None


class OutOfFoldPredictions:
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
        self._predicted: dict[tuple[int, int], Predicted] = {}
        columns = set(wanted)
        row = 0
        for repeat in evidence.repeats:
            for split, fit in enumerate(evidence.plan.splits):
                for first, entries in evidence.predictions(repeat, split):
                    for column, entry in enumerate(entries, first):
                        if column in columns and entry.fitted is not None:
                            for step, predicted in enumerate(entry.fitted.predictions):
                                self._predicted[row + step, column] = predicted
                row += len(fit.tests)

    def pieces(self, places: Sequence[int]) -> list[PredictedRows]:
        """Return the predicted rows that can be left out in turn; undefined places are skipped."""
        found = []
        for place in places:
            if self.table.defined[place]:
                repeat, _, block = self.table.places[place]
                found.append(
                    PredictedRows(place, (repeat, block), self._partitions[repeat].rows(block))
                )
        if len(found) == 1:
            whole = found[0]
            positions = np.arange(len(whole.rows))
            return [
                PredictedRows(whole.place, (whole.group[0], part), whole.rows[taken], taken)
                for part in range(_PARTS)
                if len(taken := positions[positions % _PARTS == part])
            ]
        return found

    def predictions(self, piece: PredictedRows, column: int) -> Predicted:
        """Return the predictions of a candidate for some rows."""
        whole = self._predicted[piece.place, column]
        return whole if piece.taken is None else take(whole, piece.taken)

    def has(self, pieces: Iterable[PredictedRows], column: int) -> bool:
        """Return whether a candidate has predictions for all of these rows."""
        return all((piece.place, column) in self._predicted for piece in pieces)

    def truth(self, piece: PredictedRows) -> NDArray[np.float64] | NDArray[np.int64]:
        """Return the truth of a piece: class codes or values."""
        return np.asarray(self.question.y[piece.rows])

    def weight(self, piece: PredictedRows) -> NDArray[np.float64]:
        """Return the weights of a piece."""
        if self.question.weight is None:
            return np.ones(len(piece.rows))
        return self.question.weight[piece.rows]

    def score(self, piece: PredictedRows, predicted: Predicted) -> float:
        """Return the score of predictions for a piece; NaN where it is undefined."""
        return self.question.score(piece.rows, predicted)[0]


def cross_fitted(
    pieces: Sequence[PredictedRows],
    learn: Callable[[list[int]], Callable[[int], Predicted]],
) -> list[Predicted] | None:
    """Return predictions for every piece from a model learned on pieces of other groups.

    Parameters
    ----------
    pieces : sequence of PredictedRows
        The rows.
    learn : callable
        From positions of pieces to learn from, to a function from a position to predictions.

    Returns
    -------
    list of Predicted or None
        None if a repeat has one group only, so that nothing is left to learn from.
    """
    predicted: list[Predicted | None] = [None] * len(pieces)
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
                predicted[at] = predict(at)
    return [each for each in predicted if each is not None]


def mean_score(scores: Sequence[float]) -> float:
    """Return the mean of the scores that are defined; NaN without any."""
    defined = [score for score in scores if np.isfinite(score)]
    return float(np.mean(defined)) if defined else float("nan")

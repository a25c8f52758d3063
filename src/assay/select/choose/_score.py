"""Scores of all candidates on all blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

#: (repeat, split, block): one block predicted by one fit
Place = tuple[int, int, int]


@dataclass(frozen=True)
class Candidate:
    """Family and index of a candidate."""

    family: int
    index: int


@dataclass(eq=False)
class ScoreTable:
    """Scores and sizes, one row per place, one column per candidate; NaN where there is none.

    Parameters
    ----------
    candidates : list of Candidate
        The columns.
    places : list of (repeat, split, block)
        The rows.
    score, size : ndarray of shape (places, candidates)
        Greater score is better.
    failed : dict
        (repeat, split, column) -> why the fit failed.
    reason : dict
        (row, column) -> why a score is undefined although there are predictions.
    notes : dict
        (family, text) -> number of fits with this warning.
    priority : ndarray of shape (candidates,), optional
        A tie goes to the lowest, and only means that are equal to the last bit are tied: what
        `GridSearchCV` does. Without it means may differ by rounding, and a tie goes to the smaller
        model, then to the earlier candidate.
    dropped : dict
        column -> why the candidate was stopped early for some blocks.
    """

    candidates: list[Candidate]
    places: list[Place]
    score: NDArray[np.float64]
    size: NDArray[np.float64]
    failed: dict[tuple[int, int, int], str] = field(default_factory=dict)
    reason: dict[tuple[int, int], str] = field(default_factory=dict)
    notes: dict[tuple[int, str], int] = field(default_factory=dict)
    priority: NDArray[np.int64] | None = None
    dropped: dict[int, str] = field(default_factory=dict)

    def rows_of(self, repeat: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """Row numbers of (split, block) pairs of one repeat."""
        return [self._row[repeat, split, block] for split, block in pairs]

    @cached_property
    def _row(self) -> dict[Place, int]:
        return {place: row for row, place in enumerate(self.places)}

    @cached_property
    def defined(self) -> NDArray[np.bool_]:
        """Places where the metric is defined for at least one candidate.

        Where it is defined for none, the cause is the block (one class only), not the candidates.
        """
        return np.asarray(np.isfinite(self.score).any(axis=1))

    def means(
        self, rows: Sequence[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Mean score, standard deviation and mean size of each candidate over some places.

        A candidate without a score at a defined place has NaN: it does not take part.
        """
        picked = [row for row in rows if self.defined[row]]
        if not picked:
            nothing = np.full(len(self.candidates), np.nan)
            return nothing, nothing, nothing
        # One row per candidate, as in scikit-learn: the means agree to the last bit.
        score = np.ascontiguousarray(self.score[picked].T)
        spread = score.std(axis=1, ddof=1) if len(picked) > 1 else np.zeros(len(score))
        return score.mean(axis=1), spread, self.size[picked].mean(axis=0)

    def ranking(self, rows: Sequence[int]) -> list[int]:
        """Columns from best to worst; see `priority` for ties."""
        score, _, size = self.means(rows)
        able = np.flatnonzero(np.isfinite(score))
        value = score[able]
        if self.priority is None:  # equal means summed in another order must stay tied
            value = np.array([float(f"{each:.12g}") for each in value])
        tied = size if self.priority is None else self.priority
        order = np.lexsort((able, tied[able], -value))
        return [int(column) for column in able[order]]

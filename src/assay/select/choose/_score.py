"""Scores of all candidates on all blocks, from the ledger alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.evaluate import CostMatrix, Metric, decide
from assay.select.plan import Plan
from assay.select.run import Family, Runner

#: (repeat, split, block): one block predicted by one fit
Place = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Judge:
    """Scores predictions for the rows of a problem; greater is better.

    Parameters
    ----------
    metric : Metric
        The metric.
    X, y, weight
        The rows, the truth and the weights.
    n_classes : int, optional
        None for regression.
    positive : int, default=1
        Code of the positive class of a binary problem.
    cost : CostMatrix, optional
        Labels are then the decisions of least expected cost, whatever the model would say.
    queries : ndarray of int64, optional
        Query of each row, for a metric that scores queries.
    """

    metric: Metric
    X: NDArray[Any]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    n_classes: int | None
    positive: int = 1
    cost: CostMatrix | None = None
    queries: NDArray[np.int64] | None = None

    @cached_property
    def truth(self) -> NDArray[Any]:
        """The truth as metrics see it: the positive class is 1; of a ranking, with the query."""
        if self.metric.by_query:
            return np.column_stack([self.y, np.asarray(self.queries, dtype=np.float64)])
        return 1 - self.y if self._flips else self.y

    @property
    def _flips(self) -> bool:
        # Costs are told by class: there is no positive one.
        return self.n_classes == 2 and self.positive == 0 and self.cost is None

    def decided(self, predicted: Predicted) -> Predicted:
        """Return the predictions with the labels that follow from the costs, if there are any."""
        if self.cost is None:
            return predicted
        probability = predicted.probability
        label = None if probability is None else decide(probability, self.cost)
        return replace(predicted, label=label)

    def seen(self, predicted: Predicted) -> Predicted:
        """Return predictions as metrics see them: the positive class is 1."""
        if not self._flips:
            return self.decided(predicted)
        label, probability, decision = predicted.label, predicted.probability, predicted.decision
        return Predicted(
            None if label is None else 1 - label,
            None if probability is None else probability[:, ::-1],
            None if decision is None else -decision,
        )

    def score(
        self, rows: NDArray[np.int64], predicted: Predicted, *, taken: NDArray[Any] | None = None
    ) -> tuple[float, str | None]:
        """Return the score and, where it is undefined, why.

        `rows` are the rows the predictions are for; `taken`, if given, picks some of them by
        position, with repeats.
        """
        seen = self.seen(predicted)
        if taken is not None:
            rows, seen = rows[taken], take(seen, taken)
        try:
            value = self.metric.score(
                self.truth[rows],
                seen,
                weight=None if self.weight is None else self.weight[rows],
                X=None if self.metric.formula is not None else self.X[rows],
                n_classes=self.n_classes,
            )
        except Exception as error:  # a scorer is anybody's code
            return float("nan"), f"{type(error).__name__}: {error}"
        return (value, None) if np.isfinite(value) else (float("nan"), "it is undefined there")


def take(predicted: Predicted, rows: NDArray[Any]) -> Predicted:
    """Return the predictions for some of the rows."""

    def part(array: NDArray[Any] | None) -> Any:
        return None if array is None else array[rows]

    return Predicted(
        part(predicted.label),
        part(predicted.probability),
        part(predicted.decision),
        part(predicted.value),
    )


@dataclass(frozen=True)
class Candidate:
    """Where a candidate comes from."""

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
        (family, text) -> how many fits said so.
    priority : ndarray of shape (candidates,), optional
        A tie goes to the lowest, and only means that are equal to the last bit are tied: what
        `GridSearchCV` does. Without it means may differ by rounding, and a tie goes to the smaller
        model, then to the earlier candidate.
    dropped : dict
        column -> why the candidate was given up for some blocks, although nothing failed.
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

        Where it is defined for none, the block is to blame (one class only), not the candidates.
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
        # A candidate is a row, as scikit-learn has it: its means have the same last bit.
        score = np.ascontiguousarray(self.score[picked].T)
        spread = score.std(axis=1, ddof=1) if len(picked) > 1 else np.zeros(len(score))
        return score.mean(axis=1), spread, self.size[picked].mean(axis=0)

    def ranking(self, rows: Sequence[int]) -> list[int]:
        """Columns from best to worst; see `priority` for ties."""
        score, _, size = self.means(rows)
        able = np.flatnonzero(np.isfinite(score))
        value = score[able]
        if self.priority is None:  # sums of the same numbers in another order must stay ties
            value = np.array([float(f"{each:.12g}") for each in value])
        tied = size if self.priority is None else self.priority
        order = np.lexsort((able, tied[able], -value))
        return [int(column) for column in able[order]]


def columns(families: Sequence[Family]) -> list[Candidate]:
    """Return every candidate of every family, in order."""
    return [
        Candidate(f, i) for f, family in enumerate(families) for i in range(len(family.candidates))
    ]


def predictions(
    runner: Runner, plan: Plan, repeat: int, split: int
) -> Iterator[tuple[int, list[Any]]]:
    """Yield (first column, entries) of each family for one split."""
    column = 0
    for family, member in enumerate(runner.families):
        yield column, runner.entries(runner.unit(family, repeat, plan.splits[split]))
        column += len(member.candidates)


def score_table(
    runner: Runner, plan: Plan, judge: Judge, priority: NDArray[np.int64] | None = None
) -> ScoreTable:
    """Score every candidate on every block that one of its fits did not see."""
    names = columns(runner.families)
    places = [
        (repeat, split, block)
        for repeat in range(len(runner.partitions))
        for split in range(len(plan.splits))
        for block in plan.splits[split].tests
    ]
    shape = (len(places), len(names))
    table = ScoreTable(names, places, np.full(shape, np.nan), np.full(shape, np.nan))
    table.priority = priority
    row = 0
    for repeat, partition in enumerate(runner.partitions):
        for split, fit in enumerate(plan.splits):
            rows = [partition.rows(block) for block in fit.tests]
            for first, entries in predictions(runner, plan, repeat, split):
                for column, entry in enumerate(entries, first):
                    for note in entry.notes:
                        key = (names[column].family, note)
                        table.notes[key] = table.notes.get(key, 0) + 1
                    if entry.fitted is None:
                        table.failed[repeat, split, column] = entry.failed or "failed"
                        continue
                    for step, predicted in enumerate(entry.fitted.predictions):
                        score, reason = judge.score(rows[step], predicted)
                        table.score[row + step, column] = score
                        table.size[row + step, column] = entry.fitted.size
                        if reason is not None:
                            table.reason[row + step, column] = reason
            row += len(rows)
    return table

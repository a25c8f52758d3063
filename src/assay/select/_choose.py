"""Nested choice: pick by inner scores, judge on the block that had no part in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError, Predicted
from assay.select._outcome import OuterPredictions
from assay.select._plan import Outer, Plan
from assay.select._run import Runner
from assay.select._score import Judge, ScoreTable
from assay.select._trivial import trivial_prediction
from assay.select._unit import Unit


@dataclass(frozen=True, eq=False)
class Judged:
    """An outer block after the choice: the winner, its inner score and its honest predictions."""

    repeat: int
    outer: Outer
    rows: NDArray[np.int64]
    train: NDArray[np.int64]
    column: int
    inner: float
    predicted: Predicted
    score: float
    baseline: float


def nested_choice(
    runner: Runner, plan: Plan, judge: Judge, table: ScoreTable
) -> tuple[list[Judged], list[Unit], list[str]]:
    """Choose for every outer block and judge the choices.

    Parameters
    ----------
    runner, plan, judge, table
        The search so far: every candidate is fitted on every split of the plan.

    Returns
    -------
    judged : list of Judged
        One per repeat and outer block.
    units : list of Unit
        The fits that were added.
    notes : list of str
        Choices whose fit failed, so that the next best was taken.
    """
    units: list[Unit] = []
    notes: list[str] = []
    rankings: dict[tuple[int, Outer], list[int]] = {}
    for repeat in range(len(runner.partitions)):
        for outer in plan.outers:
            inner = table.rows_of(repeat, outer.inner)
            if table.defined[inner].any():
                rankings[repeat, outer] = table.ranking(inner)
            else:
                notes.append(
                    f"block {outer.block}: {judge.metric.name} is undefined on all blocks that "
                    "could choose for it; it was left out"
                )
    found: dict[tuple[int, Outer], tuple[int, Predicted]] = {}
    step = 0
    while len(found) < len(rankings):
        waiting = {
            key: _nth(ranking, step) for key, ranking in rankings.items() if key not in found
        }
        batch = {
            (repeat, outer): _outer_unit(runner, plan, table, repeat, outer, column)
            for (repeat, outer), column in waiting.items()
        }
        new = [unit for (_, outer), (unit, _) in batch.items() if outer.served_by is None]
        runner.run(new)
        units += new
        for (repeat, outer), (unit, position) in batch.items():
            entry = runner.entries(unit)[position]
            if entry.fitted is None:
                name = runner.families[unit.family].name
                notes.append(
                    f"block {outer.block}: the chosen candidate of {name} failed "
                    f"({entry.failed}); the next best was taken"
                )
                continue
            test = unit.split.tests.index(outer.block)
            found[repeat, outer] = waiting[repeat, outer], entry.fitted.predictions[test]
        step += 1
    judged = [
        _judged(runner, judge, table, repeat, outer, *found[repeat, outer])
        for repeat, outer in rankings
    ]
    return judged, units, notes


def _nth(ranking: Sequence[int], step: int) -> int:
    if step >= len(ranking):
        raise DataError(
            "no candidate could be fitted and scored for every block; see the messages of the "
            "failed candidates, or use fewer blocks or another metric"
        )
    return ranking[step]


def _outer_unit(
    runner: Runner, plan: Plan, table: ScoreTable, repeat: int, outer: Outer, column: int
) -> tuple[Unit, int]:
    """Return the unit with the fit of an outer choice, and the position of the choice in it."""
    candidate = table.candidates[column]
    if outer.served_by is not None:
        unit = runner.unit(candidate.family, repeat, plan.splits[outer.served_by])
        return unit, candidate.index
    return runner.unit(candidate.family, repeat, outer.fit, [candidate.index]), 0


def _judged(
    runner: Runner,
    judge: Judge,
    table: ScoreTable,
    repeat: int,
    outer: Outer,
    column: int,
    predicted: Predicted,
) -> Judged:
    partition = runner.partitions[repeat]
    rows = partition.rows(outer.block)
    train = partition.train_rows(outer.fit.train, outer.fit.tests)
    inner = float(table.means(table.rows_of(repeat, outer.inner))[0][column])
    score, _ = judge.score(rows, predicted)
    trivial, _ = judge.score(rows, trivial_prediction(judge, train, len(rows)))
    decided = judge.decided(predicted)
    return Judged(repeat, outer, rows, train, column, inner, decided, score, trivial)


def outer_predictions(judge: Judge, judged: Sequence[Judged]) -> OuterPredictions:
    """Collect the honest predictions of all outer blocks."""

    def joined(field: str) -> NDArray[np.float64] | None:
        parts = [getattr(each.predicted, field) for each in judged]
        if all(part is None for part in parts):
            return None
        width = next(part.shape[1:] for part in parts if part is not None)
        return np.concatenate(
            [
                np.full((len(each.rows), *width), np.nan) if part is None else part
                for each, part in zip(judged, parts, strict=True)
            ]
        )

    lengths = [len(each.rows) for each in judged]
    label = None
    if judge.n_classes is not None:
        label = np.concatenate([np.asarray(each.predicted.label) for each in judged])
    return OuterPredictions(
        repeat=np.repeat([each.repeat for each in judged], lengths),
        row=np.concatenate([each.rows for each in judged]),
        block=np.repeat([each.outer.block for each in judged], lengths),
        label=label,
        probability=joined("probability"),
        decision=joined("decision"),
        value=joined("value"),
    )

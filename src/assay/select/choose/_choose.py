"""Nested choice: choose by inner scores, score on the block that took no part in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError, Predicted
from assay.select.choose._decide import Chooser
from assay.select.choose._evidence import Evidence
from assay.select.choose._model_spec import ModelSpec
from assay.select.choose._outcome import OuterPredictions
from assay.select.choose._score import ScoreTable
from assay.select.choose._trivial import trivial_prediction
from assay.select.plan import Outer, Question
from assay.select.run import Unit


@dataclass(frozen=True, eq=False)
class OuterResult:
    """The choice made for an outer block, and its predictions for that block."""

    repeat: int
    outer: Outer
    rows: NDArray[np.int64]
    train: NDArray[np.int64]
    column: int
    inner: float
    predicted: Predicted
    score: float
    baseline: float
    spec: ModelSpec | None = None


def nested_choice(
    evidence: Evidence, chooser: Chooser
) -> tuple[list[OuterResult], list[Unit], list[str]]:
    """Choose for every outer block and score the choices.

    Parameters
    ----------
    evidence : Evidence
        Every candidate is fitted on every split of the plan.
    chooser : Chooser
        The rules; for an outer block they see only predictions of fits without it.

    Returns
    -------
    results : list of OuterResult
        One per repeat and outer block.
    units : list of Unit
        The fits that were added.
    notes : list of str
        Choices whose fit failed and was replaced by the next best.
    """
    units: list[Unit] = []
    notes: list[str] = []
    choices: dict[tuple[int, Outer], list[tuple[ModelSpec, float]]] = {}
    question, runner, table = evidence.question, evidence.runner, evidence.table
    for repeat in evidence.repeats:
        for outer in evidence.plan.outers:
            inner = table.rows_of(repeat, outer.inner)
            if table.defined[inner].any():
                choices[repeat, outer] = _fallback_order(chooser, table, inner)
            else:
                notes.append(
                    f"block {outer.block} was left out: {question.metric.name} is undefined on all "
                    "blocks that could choose a model for it"
                )
    found: dict[tuple[int, Outer], tuple[ModelSpec, float, Predicted]] = {}
    step = 0
    while len(found) < len(choices):
        waiting = {key: _choice_at(turn, step) for key, turn in choices.items() if key not in found}
        batch = {
            (repeat, outer): [
                _outer_unit(evidence, repeat, outer, column) for column in spec.columns
            ]
            for (repeat, outer), (spec, _) in waiting.items()
        }
        new = [
            unit
            for (_, outer), fits in batch.items()
            if outer.served_by is None
            for unit, _ in fits
        ]
        runner.run(new)
        units += new
        for (repeat, outer), fits in batch.items():
            spec, expected = waiting[repeat, outer]
            entries = [runner.entries(unit)[position] for unit, position in fits]
            failed = next((at for at, entry in enumerate(entries) if entry.fitted is None), None)
            if failed is not None:
                name = runner.families[fits[failed][0].family].name
                who = "a member of the stack," if spec.is_stack else "the chosen candidate of"
                notes.append(
                    f"block {outer.block}: {who} {name} failed "
                    f"({entries[failed].failed}); the next best was taken"
                )
                continue
            parts = [
                entry.fitted.predictions[unit.split.tests.index(outer.block)]
                for entry, (unit, _) in zip(entries, fits, strict=True)
                if entry.fitted is not None
            ]
            found[repeat, outer] = spec, expected, spec.apply(parts, question.n_classes)
        step += 1
    results = []
    for repeat, outer in choices:
        spec, inner_score, predicted = found[repeat, outer]
        results.append(
            outer_result(evidence, repeat, outer, spec.column, inner_score, predicted, spec)
        )
    return results, units, notes


def _fallback_order(
    chooser: Chooser, table: ScoreTable, places: Sequence[int]
) -> list[tuple[ModelSpec, float]]:
    """Return the choice, then all candidates from best to worst in case its fit fails."""
    if not table.ranking(places):
        return []
    decision = chooser.decide(places)
    means = table.means(places)[0]
    turn = [(decision.spec, decision.inner)]
    for column in table.ranking(places):
        if not (decision.spec.is_plain and decision.spec.column == column):
            turn.append((ModelSpec((column,)), float(means[column])))
    return turn


def _choice_at(turn: Sequence[tuple[ModelSpec, float]], step: int) -> tuple[ModelSpec, float]:
    if step >= len(turn):
        raise DataError(
            "no candidate could be fitted and scored for every block; see the reasons in the "
            "leaderboard, or use fewer blocks or another metric"
        )
    return turn[step]


def _outer_unit(evidence: Evidence, repeat: int, outer: Outer, column: int) -> tuple[Unit, int]:
    """Return the unit with the fit of an outer choice, and the position of the choice in it."""
    candidate = evidence.table.candidates[column]
    if outer.served_by is not None:
        return evidence.unit(candidate.family, repeat, outer.served_by), candidate.index
    return evidence.runner.unit(candidate.family, repeat, outer.fit, [candidate.index]), 0


def outer_result(
    evidence: Evidence,
    repeat: int,
    outer: Outer,
    column: int,
    inner: float,
    predicted: Predicted,
    spec: ModelSpec | None = None,
) -> OuterResult:
    """Score a choice and the baseline on the outer block, which neither has seen."""
    partition, question = evidence.partitions[repeat], evidence.question
    rows = partition.rows(outer.block)
    train = partition.train_rows(outer.fit.train, outer.fit.tests)
    score, _ = question.score(rows, predicted)
    trivial, _ = question.score(rows, trivial_prediction(question, train, len(rows)))
    decided = question.decided(predicted)
    return OuterResult(repeat, outer, rows, train, column, inner, decided, score, trivial, spec)


def outer_predictions(question: Question, results: Sequence[OuterResult]) -> OuterPredictions:
    """Collect the out-of-fold predictions of all outer blocks."""

    def joined(field: str) -> NDArray[np.float64] | None:
        parts = [getattr(each.predicted, field) for each in results]
        if all(part is None for part in parts):
            return None
        width = next(part.shape[1:] for part in parts if part is not None)
        return np.concatenate(
            [
                np.full((len(each.rows), *width), np.nan) if part is None else part
                for each, part in zip(results, parts, strict=True)
            ]
        )

    lengths = [len(each.rows) for each in results]
    label = None
    if question.task.has_classes:
        label = np.concatenate([np.asarray(each.predicted.label) for each in results])
    return OuterPredictions(
        repeat=np.repeat([each.repeat for each in results], lengths),
        row=np.concatenate([each.rows for each in results]),
        block=np.repeat([each.outer.block for each in results], lengths),
        label=label,
        probability=joined("probability"),
        decision=joined("decision"),
        value=joined("value"),
    )

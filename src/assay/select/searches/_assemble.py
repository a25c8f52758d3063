"""From scores to the outcome: leaderboard, nested score, counts and notes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.base import DataError
from assay.select.choose import (
    Baseline,
    Calibration,
    Chooser,
    Chosen,
    Decision,
    Evidence,
    LeaderboardRow,
    Member,
    ModelSpec,
    NestedRow,
    Outcome,
    OuterResult,
    PlanRun,
    ScoreTable,
    Stack,
    Work,
    baseline_name,
    leave_two_out_choices,
    nested_choice,
    outer_predictions,
)
from assay.select.estimate import bootstrap_choice, estimate
from assay.select.plan import Question
from assay.select.run import Unit, count_fits, weight_parameter
from assay.select.searches._rules import Rules


def outcome_of(evidence: Evidence, run: PlanRun, rules: Rules) -> Outcome:
    """Assemble the outcome from the finished units; run the additional fits it needs.

    Parameters
    ----------
    evidence : Evidence
        The question, the partitions and the fits.
    run : PlanRun
        The units of the plan that were run, and what was dropped on the way.
    rules : Rules
        What a choice may do.
    """
    question, blocks, plan = evidence.question, evidence.blocks, evidence.plan
    table = evidence.table
    run.mask(table, plan)
    final = [row for repeat in evidence.repeats for row in table.rows_of(repeat, plan.final)]
    ranking = table.ranking(final)
    if not ranking:
        raise _nothing_works(table, question)
    early = bootstrap_choice(evidence) if rules.bootstrap else None
    chooser = Chooser(evidence, rules.choice)
    results, added, replaced = nested_choice(evidence, chooser)
    found = estimate(question, blocks, results, leave_two_out_choices(evidence, chooser, results))
    board = _leaderboard(evidence, final, ranking)
    decision = chooser.decide(final, ladder=True)
    best = table.candidates[decision.spec.column]
    family = evidence.families[best.family]
    plain = question.metric.natural(float(table.means(final)[0][decision.spec.column]))
    return Outcome(
        task=question.task,
        metric=question.metric,
        score=found.score,
        baseline=Baseline(baseline_name(question), found.baseline),
        gain=found.gain,
        quick=early,
        chosen=Chosen(family, best.index, family.candidates[best.index], plain),
        nested=tuple(_nested_row(evidence, each) for each in results),
        leaderboard=tuple(board),
        outer=outer_predictions(question, results),
        work=Work(
            _count(evidence, [*run.units, *added]) + len(decision.spec.columns),
            plan.naive_fits(len(table.candidates), blocks.repeats),
            len(run.units) + len(added),
        ),
        plan=blocks.summary(),
        notes=(
            *blocks.notes,
            *run.notes,
            *_notes(evidence, results),
            *replaced,
            *chooser.notes,
        ),
        seed=evidence.seed,
        cost=question.cost,
        table=table,
        stack=_stack(evidence, decision),
        calibration=_calibration(question, decision),
        ladder=decision.ladder,
        prefer=rules.prefer,
        plain=found.plain,
        scores=found.scores,
        how=found.text,
        n_classes=question.n_classes,
        positive=question.positive,
    )


def _stack(evidence: Evidence, decision: Decision) -> Stack | None:
    spec = decision.spec
    if not spec.is_stack or decision.stack is None:
        return None
    members = []
    for column, weight in zip(spec.columns, spec.weights, strict=True):
        candidate = evidence.table.candidates[column]
        family = evidence.families[candidate.family]
        params = family.candidates[candidate.index]
        members.append(Member(family, candidate.index, params, weight))
    members.sort(key=lambda member: -member.weight)
    natural = evidence.question.metric.natural
    return Stack(tuple(members), natural(decision.stack), natural(decision.single))


def _calibration(question: Question, decision: Decision) -> Calibration | None:
    found = decision.adjusted
    if not found.scores:
        return None
    scores = {way: question.metric.natural(score) for way, score in found.scores.items()}
    return Calibration(found.method, found.learned, found.threshold, scores)


def _leaderboard(evidence: Evidence, final: list[int], ranking: list[int]) -> list[LeaderboardRow]:
    table = evidence.table
    score, spread, size = table.means(final)
    board = []
    for rank, column in enumerate(ranking, 1):
        numbers = evidence.question.metric.natural(float(score[column])), float(spread[column])
        name, params = _named(evidence, column)
        board.append(LeaderboardRow(rank, name, params, *numbers, float(size[column])))
    able = set(ranking)
    for column in range(len(table.candidates)):
        if column not in able:
            name, params = _named(evidence, column)
            why = _why(table, column)
            board.append(LeaderboardRow(None, name, params, None, None, None, why))
    return board


def _named(evidence: Evidence, column: int) -> tuple[str, dict[str, object]]:
    candidate = evidence.table.candidates[column]
    family = evidence.families[candidate.family]
    return family.name, dict(family.candidates[candidate.index])


def _described(evidence: Evidence, spec: ModelSpec) -> tuple[str, dict[str, object]]:
    """Return name and parameters of a choice; for a stack, the weights by name."""
    name, params = _named(evidence, spec.column)
    if spec.is_stack:
        name, params = f"stack of {len(spec.columns)}", {}
        for column, weight in zip(spec.columns, spec.weights, strict=True):
            member = _named(evidence, column)[0]
            same = sum(known == member or known.startswith(f"{member} #") for known in params)
            params[f"{member} #{same + 1}" if same else member] = round(weight, 4)
    if spec.learned is not None:
        params["calibration"] = spec.learned.method
    if spec.threshold is not None:
        params["threshold"] = spec.threshold
    return name, params


def _why(table: ScoreTable, column: int) -> str:
    """Return the first reason why a candidate has no score, and the number of failed fits."""
    failures = [text for (_, _, where), text in table.failed.items() if where == column]
    if failures:
        splits = len({place[:2] for place in table.places})
        return f"{failures[0]} ({len(failures)} of {splits} fits)"
    if column in table.dropped:
        return table.dropped[column]
    reasons = [text for (_, where), text in table.reason.items() if where == column]
    return f"no score: {reasons[0]}"


def _nested_row(evidence: Evidence, each: OuterResult) -> NestedRow:
    spec = ModelSpec((each.column,)) if each.spec is None else each.spec
    name, params = _described(evidence, spec)
    natural = evidence.question.metric.natural
    return NestedRow(
        each.repeat,
        each.outer.block,
        len(each.rows),
        name,
        params,
        natural(each.inner),
        natural(each.score) if np.isfinite(each.score) else None,
    )


def _count(evidence: Evidence, units: Sequence[Unit]) -> int:
    fits = 0
    for unit in units:
        family = evidence.families[unit.family]
        fits += count_fits(family.estimator, [family.candidates[i] for i in unit.candidates])
    return fits


def _nothing_works(table: ScoreTable, question: Question) -> DataError:
    if table.failed and not table.reason:
        first = next(iter(table.failed.values()))
        return DataError(
            f"no candidate could be fitted on every training set; first error: {first}"
        )
    first = next(iter(table.reason.values()), "no score")
    return DataError(
        f"metric {question.metric.name!r} could not be computed for any candidate: {first}; "
        "use another metric, other candidates or fewer blocks"
    )


def _notes(evidence: Evidence, results: Sequence[OuterResult]) -> list[str]:
    question, table = evidence.question, evidence.table
    notes = []
    undefined = int((~table.defined).sum())
    if undefined:
        row = int(np.argmin(table.defined))
        why = next((text for (r, _), text in table.reason.items() if r == row), "no score")
        notes.append(
            f"{question.metric.name} is undefined for {undefined} of {len(table.places)} "
            f"block scores, which were left out: {why}"
        )
    lost = sum(not (np.isfinite(each.score) and np.isfinite(each.baseline)) for each in results)
    if lost:
        notes.append(
            f"{question.metric.name} is undefined on {lost} of {len(results)} outer blocks; "
            "the score is the mean over the others"
        )
    failed = {column for _, _, column in table.failed}
    if failed:
        notes.append(
            f"{len(failed)} of {len(table.candidates)} candidates failed; "
            "the leaderboard shows the reasons"
        )
    fits = len({place[:2] for place in table.places})
    for (family, text), count in sorted(table.notes.items()):
        member = evidence.families[family]
        of = fits * len(member.candidates)
        notes.append(f"{member.name}: warning in {count} of {of} fits: {text}")
    if question.weight is not None:
        notes.extend(
            f"{member.name} does not support weights; it was fitted without them"
            for member in evidence.families
            if weight_parameter(member.estimator) is None
        )
        if not question.metric.takes_weights:
            notes.append(
                f"{question.metric.name} does not support weights; it was computed without them"
            )
    return notes

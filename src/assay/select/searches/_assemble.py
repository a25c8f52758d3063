"""From scores to the outcome: leaderboard, honest score, counts and notes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError
from assay.select.choose import (
    Baseline,
    Calibration,
    Chooser,
    Chosen,
    Decision,
    Judge,
    Judged,
    LeaderboardRow,
    Member,
    NestedRow,
    Options,
    Outcome,
    Ran,
    Recipe,
    ScoreTable,
    Stack,
    Work,
    baseline_name,
    nested_choice,
    outer_predictions,
    score_table,
    smaller_choices,
)
from assay.select.estimate import bootstrap_choice, estimate
from assay.select.plan import Layout
from assay.select.run import (
    Runner,
    Unit,
    count_fits,
    weight_parameter,
)


def outcome_of(
    runner: Runner,
    layout: Layout,
    judge: Judge,
    task: str,
    priority: NDArray[np.int64] | None = None,
    *,
    ran: Ran,
    options: Options = Options(),  # noqa: B008
    quick: bool = True,
) -> Outcome:
    """Draw the conclusions from the units that were run, and add the fits they ask for.

    Parameters
    ----------
    runner : Runner
        Knows the rows, the families and the ledger.
    layout : Layout
        The partitions and the plan.
    judge : Judge
        The metric.
    task : str
        "binary", "multiclass", "regression" or "rank".
    priority : ndarray of shape (n_candidates,), optional
        A tie goes to the lowest; without it to the smaller model.
    ran : Ran
        The units of the plan that were run, and what was dropped on the way.
    options : Options
        What a choice may do beyond taking the best candidate.
    quick : bool, default=True
        Whether the plain choice is bootstrapped.
    """
    plan, repeats, units = layout.plan, layout.repeats, ran.units
    table = score_table(runner, plan, judge, priority)
    ran.mask(table, plan)
    final = [row for repeat in range(repeats) for row in table.rows_of(repeat, plan.final)]
    ranking = table.ranking(final)
    if not ranking:
        raise _nothing_works(table, judge)
    early = bootstrap_choice(runner, plan, judge, table, layout.clusters) if quick else None
    chooser = Chooser(runner, plan, judge, table, options)
    judged, added, replaced = nested_choice(runner, plan, judge, table, chooser)
    found = estimate(
        judge,
        judged,
        task=task,
        clusters=layout.clusters,
        seed=runner.seed,
        smaller=smaller_choices(runner, plan, table, chooser, judged),
        balanced=layout.is_balanced,
        in_time=plan.kind == "forward",
    )
    board = _leaderboard(runner, judge, table, final, ranking)
    decision = chooser.decide(final, ladder=True)
    best = table.candidates[decision.recipe.column]
    family = runner.families[best.family]
    plain = judge.metric.natural(float(table.means(final)[0][decision.recipe.column]))
    return Outcome(
        task=task,
        metric=judge.metric,
        score=found.score,
        baseline=Baseline(baseline_name(judge), found.baseline),
        gain=found.gain,
        quick=early,
        chosen=Chosen(family, best.index, family.candidates[best.index], plain),
        nested=tuple(_nested_row(runner, judge, table, each) for each in judged),
        leaderboard=tuple(board),
        outer=outer_predictions(judge, judged),
        work=Work(
            _count(runner, [*units, *added]) + len(decision.recipe.columns),
            plan.naive_fits(len(table.candidates), repeats),
            len(units) + len(added),
        ),
        plan=layout.summary(),
        notes=(
            *layout.notes,
            *ran.notes,
            *_notes(runner, judge, table, judged),
            *replaced,
            *chooser.notes,
        ),
        seed=runner.seed,
        cost=judge.cost,
        table=table,
        stack=_stack(runner, judge, table, decision),
        calibration=_calibration(judge, decision),
        ladder=decision.ladder,
        prefer=options.prefer,
        plain=found.plain,
        scores=found.scores,
        how=found.text,
        n_classes=judge.n_classes,
        positive=judge.positive,
    )


def _stack(runner: Runner, judge: Judge, table: ScoreTable, decision: Decision) -> Stack | None:
    recipe = decision.recipe
    if not recipe.is_stack or decision.stack is None:
        return None
    members = []
    for column, weight in zip(recipe.columns, recipe.weights, strict=True):
        candidate = table.candidates[column]
        family = runner.families[candidate.family]
        params = family.candidates[candidate.index]
        members.append(Member(family, candidate.index, params, weight))
    members.sort(key=lambda member: -member.weight)
    natural = judge.metric.natural
    return Stack(tuple(members), natural(decision.stack), natural(decision.single))


def _calibration(judge: Judge, decision: Decision) -> Calibration | None:
    found = decision.adjusted
    if not found.scores:
        return None
    scores = {way: judge.metric.natural(score) for way, score in found.scores.items()}
    return Calibration(found.method, found.learned, found.threshold, scores)


def _leaderboard(
    runner: Runner, judge: Judge, table: ScoreTable, final: list[int], ranking: list[int]
) -> list[LeaderboardRow]:
    score, spread, size = table.means(final)
    board = []
    for rank, column in enumerate(ranking, 1):
        numbers = judge.metric.natural(float(score[column])), float(spread[column])
        name, params = _named(runner, table, column)
        board.append(LeaderboardRow(rank, name, params, *numbers, float(size[column])))
    able = set(ranking)
    for column in range(len(table.candidates)):
        if column not in able:
            name, params = _named(runner, table, column)
            why = _why(table, column)
            board.append(LeaderboardRow(None, name, params, None, None, None, why))
    return board


def _named(runner: Runner, table: ScoreTable, column: int) -> tuple[str, dict[str, object]]:
    candidate = table.candidates[column]
    family = runner.families[candidate.family]
    return family.name, dict(family.candidates[candidate.index])


def _told(runner: Runner, table: ScoreTable, recipe: Recipe) -> tuple[str, dict[str, object]]:
    """Return name and parameters of a choice; of a stack, the weights by name."""
    name, params = _named(runner, table, recipe.column)
    if recipe.is_stack:
        name, params = f"stack of {len(recipe.columns)}", {}
        for column, weight in zip(recipe.columns, recipe.weights, strict=True):
            member = _named(runner, table, column)[0]
            same = sum(known == member or known.startswith(f"{member} #") for known in params)
            params[f"{member} #{same + 1}" if same else member] = round(weight, 4)
    if recipe.learned is not None:
        params["calibration"] = recipe.learned.method
    if recipe.threshold is not None:
        params["threshold"] = recipe.threshold
    return name, params


def _why(table: ScoreTable, column: int) -> str:
    """Return the first reason why a candidate has no score, and how often it failed."""
    failures = [text for (_, _, where), text in table.failed.items() if where == column]
    if failures:
        splits = len({place[:2] for place in table.places})
        return f"{failures[0]} ({len(failures)} of {splits} fits)"
    if column in table.dropped:
        return table.dropped[column]
    reasons = [text for (_, where), text in table.reason.items() if where == column]
    return f"no score: {reasons[0]}"


def _nested_row(runner: Runner, judge: Judge, table: ScoreTable, each: Judged) -> NestedRow:
    recipe = Recipe((each.column,)) if each.recipe is None else each.recipe
    name, params = _told(runner, table, recipe)
    natural = judge.metric.natural
    return NestedRow(
        each.repeat,
        each.outer.block,
        len(each.rows),
        name,
        params,
        natural(each.inner),
        natural(each.score) if np.isfinite(each.score) else None,
    )


def _count(runner: Runner, units: Sequence[Unit]) -> int:
    fits = 0
    for unit in units:
        family = runner.families[unit.family]
        fits += count_fits(family.estimator, [family.candidates[i] for i in unit.candidates])
    return fits


def _nothing_works(table: ScoreTable, judge: Judge) -> DataError:
    if table.failed and not table.reason:
        first = next(iter(table.failed.values()))
        return DataError(
            f"no candidate could be fitted on every training set; the first one said: {first}"
        )
    first = next(iter(table.reason.values()), "no score")
    return DataError(
        f"metric {judge.metric.name!r} could not be computed for any candidate: {first}; "
        "use another metric, other candidates or fewer blocks"
    )


def _notes(runner: Runner, judge: Judge, table: ScoreTable, judged: Sequence[Judged]) -> list[str]:
    notes = []
    undefined = int((~table.defined).sum())
    if undefined:
        row = int(np.argmin(table.defined))
        why = next((text for (r, _), text in table.reason.items() if r == row), "no score")
        notes.append(
            f"{judge.metric.name} is undefined for {undefined} of {len(table.places)} "
            f"block scores ({why}); they were left out"
        )
    lost = sum(not (np.isfinite(each.score) and np.isfinite(each.baseline)) for each in judged)
    if lost:
        notes.append(
            f"{judge.metric.name} is undefined on {lost} of {len(judged)} outer blocks; "
            "the score comes from the others"
        )
    failed = {column for _, _, column in table.failed}
    if failed:
        notes.append(
            f"{len(failed)} of {len(table.candidates)} candidates failed; the leaderboard says why"
        )
    fits = len({place[:2] for place in table.places})
    for (family, text), count in sorted(table.notes.items()):
        member = runner.families[family]
        of = fits * len(member.candidates)
        notes.append(f"{member.name}: {count} of {of} fits warned: {text}")
    if judge.weight is not None:
        notes.extend(
            f"{member.name} takes no weights; it was fitted without them"
            for member in runner.families
            if weight_parameter(member.estimator) is None
        )
        if not judge.metric.takes_weights:
            notes.append(f"{judge.metric.name} takes no weights; it was computed without them")
    return notes

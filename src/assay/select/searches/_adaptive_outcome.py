"""Outcome of an adaptive search."""

from __future__ import annotations

import numpy as np

from assay.select.choose import (
    Baseline,
    Chosen,
    LeaderboardRow,
    NestedRow,
    Outcome,
    Work,
    baseline_name,
    outer_predictions,
)
from assay.select.estimate import intervals
from assay.select.searches._adaptive_point import best_first
from assay.select.searches._adaptive_run import Adaptive, OneSearch


def adaptive_outcome(searches: Adaptive) -> Outcome:
    """Score the choices of the outer searches, and return them with the final one.

    Parameters
    ----------
    searches : Adaptive
        The searches, after all trials.
    """
    question, blocks = searches.evidence.question, searches.evidence.blocks
    natural = question.metric.natural
    results, replaced = searches.results()
    score, trivial, gain = intervals(question, blocks, results)
    trial, family = searches.best()
    nested = tuple(
        NestedRow(
            0,
            each.outer.block,
            len(each.rows),
            *searches.candidate(each.column),
            natural(each.inner),
            natural(each.score) if np.isfinite(each.score) else None,
        )
        for each in results
    )
    k = blocks.plan.n_blocks
    *outer, final = [len(quest.trials) for quest in searches.quests]
    naive = sum(n * (k - 1) + 1 for n in outer) + final * k + 1
    fits = len(searches.units) + 1
    return Outcome(
        task=question.task,
        metric=question.metric,
        score=score,
        baseline=Baseline(baseline_name(question), trivial),
        gain=gain,
        quick=None,
        chosen=Chosen(family, 0, dict(trial.params), natural(trial.score)),
        nested=nested,
        leaderboard=_leaderboard(searches, searches.quests[-1]),
        outer=outer_predictions(question, results),
        work=Work(fits, naive, len(searches.units)),
        plan=blocks.summary(),
        notes=(
            *blocks.notes,
            f"an adaptive search ran once for each of {k} outer blocks and once for the final "
            f"choice: {fits} fits",
            *(
                f"{name}: warning in {count} fits: {text}"
                for (name, text), count in sorted(searches.notes.items())
            ),
            *replaced,
        ),
        seed=blocks.seed,
    )


def _leaderboard(searches: Adaptive, quest: OneSearch) -> tuple[LeaderboardRow, ...]:
    rows: list[LeaderboardRow] = []
    seen: set[int] = set()
    for trial in best_first(quest.trials):
        number = quest.families[quest.trials.index(trial)]
        if number not in seen:
            seen.add(number)
            score, sd, size = searches.measured(quest, number)
            shown = searches.evidence.question.metric.natural(score), sd, size
            rows.append(LeaderboardRow(len(rows) + 1, *searches.candidate(number), *shown))
    for number in quest.families:
        if number not in seen:
            seen.add(number)
            why = quest.failed.get(number)
            rows.append(LeaderboardRow(None, *searches.candidate(number), None, None, None, why))
    return tuple(rows)

"""The same way of choosing on fewer rows, from the ledger alone.

The outer choice for block i was made on K-1 blocks. Leave one more out, block k: the fits without
{i, k} are in the ledger, and the choice can be made again from the scores on the blocks other than
i and k. Nothing in it saw block i, so judging it there is honest; it was fitted on K-2 blocks and
chosen by K-2. What that costs tells what one more block would bring, and how it varies with k tells
how much the estimate hangs on the rows that happened to be drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.base import Predicted
from assay.select.choose._choose import Judged
from assay.select.choose._decide import Chooser
from assay.select.choose._recipe import Recipe
from assay.select.choose._score import ScoreTable
from assay.select.plan import Plan
from assay.select.run import Entry, Runner


@dataclass(frozen=True, eq=False)
class Smaller:
    """Choices made without one more block.

    Parameters
    ----------
    said : dict
        (repeat, block that judges, block left out besides) -> predictions for the first block.
    chosen_again : bool
        Whether the choice itself was made again, or only the fits are smaller.
    """

    said: dict[tuple[int, int, int], Predicted]
    chosen_again: bool


def smaller_choices(
    runner: Runner, plan: Plan, table: ScoreTable, chooser: Chooser, judged: Sequence[Judged]
) -> Smaller | None:
    """Return the predictions of the choices made without one more block.

    Parameters
    ----------
    runner, plan, table, chooser
        The search.
    judged : sequence of Judged
        The outer choices.

    Returns
    -------
    Smaller or None
        None where the plan has no pairs, or a fit that is needed failed.

    Notes
    -----
    A stack and a calibration are not learned again: the outer block's own are applied to the fits
    without {i, k}. Learning them K-1 times more would cost more than it tells.
    """
    every = len(plan.outers) * len(runner.partitions)
    if plan.kind != "pair-out" or len(judged) < every:
        return None
    again = not (chooser.options.stack or chooser.options.calibrate)
    found: dict[tuple[int, int, int], Predicted] = {}
    by_place = {(each.repeat, each.outer.block): each for each in judged}
    for repeat in range(len(runner.partitions)):
        for number, split in enumerate(plan.splits):
            read: dict[int, list[Entry]] = {}
            for block, other in (split.tests, split.tests[::-1]):
                each = by_place[repeat, block]
                recipe = _recipe(each, table, chooser, other, again)
                parts = []
                for column in recipe.columns:
                    candidate = table.candidates[column]
                    family = candidate.family
                    if family not in read:
                        read[family] = runner.entries(
                            runner.unit(family, repeat, plan.splits[number])
                        )
                    fitted = read[family][candidate.index].fitted
                    if fitted is None:
                        return None
                    parts.append(fitted.predictions[split.tests.index(block)])
                found[repeat, block, other] = recipe.apply(parts, runner.problem.n_classes)
    return Smaller(found, again)


def _recipe(each: Judged, table: ScoreTable, chooser: Chooser, other: int, again: bool) -> Recipe:
    """Choose for a block from the scores on all others but one."""
    own = Recipe((each.column,)) if each.recipe is None else each.recipe
    if not again or not own.is_plain:
        return own
    pairs = [(split, block) for split, block in each.outer.inner if block != other]
    places = table.rows_of(each.repeat, pairs)
    if not table.defined[places].any() or not table.ranking(places):
        return own
    return chooser.decide(places).recipe

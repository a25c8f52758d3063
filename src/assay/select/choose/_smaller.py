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
from assay.select.choose._choose import OuterResult
from assay.select.choose._decide import Chooser
from assay.select.choose._evidence import Evidence
from assay.select.choose._recipe import Recipe
from assay.select.choose._score import ScoreTable
from assay.select.run import Entry


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
    evidence: Evidence, chooser: Chooser, results: Sequence[OuterResult]
) -> Smaller | None:
    """Return the predictions of the choices made without one more block.

    Parameters
    ----------
    evidence : Evidence
        The search.
    chooser : Chooser
        The rules.
    results : sequence of OuterResult
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
    plan, table = evidence.plan, evidence.table
    every = len(plan.outers) * len(evidence.partitions)
    if plan.kind != "pair-out" or len(results) < every:
        return None
    again = not (chooser.options.stack or chooser.options.calibrate)
    found: dict[tuple[int, int, int], Predicted] = {}
    by_place = {(each.repeat, each.outer.block): each for each in results}
    for repeat in evidence.repeats:
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
                        unit = evidence.unit(family, repeat, number)
                        read[family] = evidence.runner.entries(unit)
                    fitted = read[family][candidate.index].fitted
                    if fitted is None:
                        return None
                    parts.append(fitted.predictions[split.tests.index(block)])
                found[repeat, block, other] = recipe.apply(parts, evidence.question.n_classes)
    return Smaller(found, again)


def _recipe(
    each: OuterResult, table: ScoreTable, chooser: Chooser, other: int, again: bool
) -> Recipe:
    """Choose for a block from the scores on all others but one."""
    own = Recipe((each.column,)) if each.recipe is None else each.recipe
    if not again or not own.is_plain:
        return own
    pairs = [(split, block) for split, block in each.outer.inner if block != other]
    places = table.rows_of(each.repeat, pairs)
    if not table.defined[places].any() or not table.ranking(places):
        return own
    return chooser.decide(places).recipe

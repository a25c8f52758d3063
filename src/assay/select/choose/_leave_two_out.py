"""The same choice on fewer rows, from the ledger alone.

The outer choice for block i was made on K-1 blocks. Leave one more out, block k: the fits without
{i, k} are in the ledger, and the choice can be made again from the scores on the blocks other than
i and k. None of these fits saw block i, so block i can score it; it was fitted on K-2 blocks and
chosen by K-2. The loss against K-1 blocks shows what one more block adds, and its variation with k
shows how much the estimate depends on the rows that were drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.base import Predicted
from assay.select.choose._choose import OuterResult
from assay.select.choose._decide import Chooser
from assay.select.choose._evidence import Evidence
from assay.select.choose._model_spec import ModelSpec
from assay.select.choose._score import ScoreTable
from assay.select.run import Entry


@dataclass(frozen=True, eq=False)
class LeaveTwoOut:
    """Choices made without one more block.

    Parameters
    ----------
    said : dict
        (repeat, scored block, block left out besides) -> predictions for the scored block.
    chosen_again : bool
        Whether the choice was made again, or only the fits have fewer rows.
    """

    said: dict[tuple[int, int, int], Predicted]
    chosen_again: bool


def leave_two_out_choices(
    evidence: Evidence, chooser: Chooser, results: Sequence[OuterResult]
) -> LeaveTwoOut | None:
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
    LeaveTwoOut or None
        None if the plan has no pairs, or a fit that is needed failed.

    Notes
    -----
    Stacks and calibration are not learned again: those of the outer block are applied to the fits
    without {i, k}. Learning them K-1 more times would cost more than it is worth.
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
                spec = _spec(each, table, chooser, other, again)
                parts = []
                for column in spec.columns:
                    candidate = table.candidates[column]
                    family = candidate.family
                    if family not in read:
                        unit = evidence.unit(family, repeat, number)
                        read[family] = evidence.runner.entries(unit)
                    fitted = read[family][candidate.index].fitted
                    if fitted is None:
                        return None
                    parts.append(fitted.predictions[split.tests.index(block)])
                found[repeat, block, other] = spec.apply(parts, evidence.question.n_classes)
    return LeaveTwoOut(found, again)


def _spec(
    each: OuterResult, table: ScoreTable, chooser: Chooser, other: int, again: bool
) -> ModelSpec:
    """Choose for a block from the scores on all others but one."""
    own = ModelSpec((each.column,)) if each.spec is None else each.spec
    if not again or not own.is_plain:
        return own
    pairs = [(split, block) for split, block in each.outer.inner if block != other]
    places = table.rows_of(each.repeat, pairs)
    if not table.defined[places].any() or not table.ranking(places):
        return own
    return chooser.decide(places).spec

"""One choice: the best candidate, the simplest good one, or a stack; calibration on top.

The same rules make every choice. For outer block i they see only out-of-fold predictions of fits
without block i; for the final choice they see all of them. So the score on block i is that of the
rules as a whole: members, weights, ladder, calibration and threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assay.base import Predicted
from assay.select.choose._calibrate import Adjusted, adjustment, ways
from assay.select.choose._evidence import Evidence
from assay.select.choose._ladder import Rung, Step, climb
from assay.select.choose._model_spec import ChoiceRules, ModelSpec
from assay.select.choose._out_of_fold import OutOfFoldPredictions, PredictedRows, mean_score
from assay.select.choose._stack import (
    MOST_MEMBERS,
    Stacked,
    best_of_families,
    members_of,
    stacked,
)
from assay.select.choose._trivial import baseline_name, trivial_prediction

# Bytes of predictions held at once; beyond that, fewer members are considered.
_MOST_BYTES = 1.5e9


@dataclass(frozen=True, eq=False)
class Decision:
    """A choice and the alternatives it was compared with.

    Parameters
    ----------
    spec : ModelSpec
        The choice.
    inner : float
        Its score on the inner blocks, with weights and calibration learned without the block.
    single : float
        The score of the best single candidate on the same blocks.
    stack : float or None
        The score of the stack on the same blocks; None without one.
    adjusted : Adjusted
        Scores of calibration and thresholds.
    ladder : tuple of Rung
        From the baseline up; empty unless requested.
    """

    spec: ModelSpec
    inner: float
    single: float
    stack: float | None = None
    adjusted: Adjusted = field(default_factory=Adjusted)
    ladder: tuple[Rung, ...] = ()


class Chooser:
    """Makes all choices of one search by the same rules.

    Parameters
    ----------
    evidence : Evidence
        The search so far.
    options : ChoiceRules
        What a choice may do.
    """

    def __init__(self, evidence: Evidence, options: ChoiceRules) -> None:
        self.evidence, self.options = evidence, options
        self.question, self.table = evidence.question, evidence.table
        self.notes: list[str] = []
        if self.question.task.has_queries and (options.stack or options.calibrate):
            self.options = ChoiceRules(prefer=options.prefer)
            self.notes.append("rankings are not stacked: one candidate orders the items")
        self._level = self._out_of_fold() if self._looks_at_predictions else None

    @property
    def _looks_at_predictions(self) -> bool:
        calibrates = self.options.calibrate and ways(self.question, len(self.question.y))
        # One split has one score: only its rows show how much of it is chance.
        one_split = self.options.prefer == "simplest" and len(self.evidence.plan.splits) == 1
        return bool(self.options.stack or calibrates or one_split)

    def decide(self, places: Sequence[int], *, ladder: bool = False) -> Decision:
        """Choose by the scores and predictions at these rows of the score table only.

        Parameters
        ----------
        places : sequence of int
            Rows of the score table; at least one candidate has scores there.
        ladder : bool, default=False
            Whether to compute the ladder.
        """
        ranking = self.table.ranking(places)
        best = ranking[0]
        single = float(self.table.means(places)[0][best])
        if self._level is None:
            return self._without_predictions(places, ranking, single, ladder)
        pieces = self._level.pieces(places)
        members = members_of(self.table, ranking, self._most)
        whole = stacked(self._level, pieces, members) if self.options.stack else None
        spec, inner = ModelSpec((best,)), single
        out_of_fold = [self._level.predictions(piece, best) for piece in pieces]
        if whole is not None and self._is_better(whole, pieces, out_of_fold):
            spec, inner, out_of_fold = whole.spec, mean_score(whole.scores), whole.out_of_fold
        rungs: tuple[Rung, ...] = ()
        if ladder or self.options.prefer == "simplest":
            taken, rungs = self._climbed(places, ranking, pieces, spec, whole)
            if taken is not None:
                spec = ModelSpec((taken,))
                inner = float(self.table.means(places)[0][taken])
                out_of_fold = [self._level.predictions(piece, taken) for piece in pieces]
        adjusted = Adjusted()
        if self.options.calibrate:
            adjusted = adjustment(self._level, pieces, out_of_fold)
            if adjusted.method is not None:
                spec = ModelSpec(spec.columns, spec.weights, adjusted.learned, adjusted.threshold)
                inner = adjusted.scores[adjusted.method]
        stack = None if whole is None else mean_score(whole.scores)
        return Decision(spec, inner, single, stack, adjusted, rungs)

    @property
    def _most(self) -> int:
        """Maximum number of members of a stack, by the memory of their predictions."""
        places = sum(
            int(self.evidence.partitions[repeat].sizes[block])
            for repeat, _, block in self.table.places
        )
        # Outer choices may have different members.
        per_member = 1.5 * 8.0 * places * (self.question.n_classes or 1)
        return int(max(2, min(MOST_MEMBERS, _MOST_BYTES / per_member)))

    def _out_of_fold(self) -> OutOfFoldPredictions:
        """Read the predictions of every candidate that a choice may use."""
        wanted: set[int] = set()
        plan, repeats = self.evidence.plan, self.evidence.repeats
        questions = [
            self.table.rows_of(repeat, outer.inner) for repeat in repeats for outer in plan.outers
        ]
        questions.append(
            [row for repeat in repeats for row in self.table.rows_of(repeat, plan.final)]
        )
        for places in questions:
            ranking = self.table.ranking(places)
            wanted.update(members_of(self.table, ranking, self._most))
            if self._most == MOST_MEMBERS or self.options.prefer == "simplest":
                wanted.update(best_of_families(self.table, ranking))
        return OutOfFoldPredictions(self.evidence, wanted)

    def _is_better(
        self, whole: Stacked, pieces: Sequence[PredictedRows], out_of_fold: list[Predicted]
    ) -> bool:
        """Return whether the stack is not clearly worse than the best candidate."""
        if not whole.spec.is_stack:
            return False
        assert self._level is not None
        alone = np.array(
            [self._level.score(p, each) for p, each in zip(pieces, out_of_fold, strict=True)]
        )
        lead = np.array(whole.scores) - alone
        lead = lead[np.isfinite(lead)]
        if not len(lead):
            return False
        # The best candidate was picked for its scores on these very blocks, the stack was not. And
        # a close choice goes the wrong way more often than not, because the inner blocks and the
        # outer block add up to the same rows. So the stack gets one standard error.
        doubt = float(lead.std(ddof=1)) / np.sqrt(len(lead)) if len(lead) > 1 else 0.0
        return bool(lead.mean() > -doubt)

    def _without_predictions(
        self, places: Sequence[int], ranking: Sequence[int], single: float, ladder: bool
    ) -> Decision:
        taken: int | None = None
        rungs: tuple[Rung, ...] = ()
        if ladder or self.options.prefer == "simplest":
            taken, rungs = self._climbed(places, ranking, None, ModelSpec((ranking[0],)), None)
        column = ranking[0] if taken is None else taken
        inner = float(self.table.means(places)[0][column])
        return Decision(ModelSpec((column,)), inner, single, ladder=rungs)

    def _climbed(
        self,
        places: Sequence[int],
        ranking: Sequence[int],
        pieces: Sequence[PredictedRows] | None,
        spec: ModelSpec,
        whole: Stacked | None,
    ) -> tuple[int | None, tuple[Rung, ...]]:
        """Return the candidate that the ladder prefers to the spec, if any, and the ladder."""
        table, level = self.table, self._level
        used = [row for row in places if table.defined[row]]
        split_up = pieces is not None and len(used) == 1
        sizes = table.means(places)[2]
        trivial = self._trivial(used, pieces if split_up else None)
        steps = [Step(baseline_name(self.question), trivial)] if np.isfinite(trivial).all() else []
        for column in best_of_families(table, ranking):
            candidate = table.candidates[column]
            family = self.evidence.families[candidate.family]
            if split_up:
                assert pieces is not None
                assert level is not None
                if not level.has(pieces, column):  # too little memory
                    continue
                scores = np.array([level.score(p, level.predictions(p, column)) for p in pieces])
            else:
                scores = table.score[used, column]
            params = family.candidates[candidate.index]
            steps.append(Step(family.name, scores, float(sizes[column]), column, params))
        if whole is not None and spec.is_stack:
            size = float(sum(sizes[column] for column in spec.columns))
            steps.append(Step(f"stack of {len(spec.columns)}", np.array(whole.scores), size))
        if split_up:
            fits, ratio = list(range(len(pieces or ()))), 0.0
        else:
            fits, ratio = self._fits(used)
        order, rungs, first = climb(self.question.metric, steps, fits, ratio)
        taken = None
        at = next(
            at
            for at, step in enumerate(order)
            if (step.column in spec.columns and not spec.is_stack)
            or (spec.is_stack and step.column is None and step.size is not None)
        )
        if self.options.prefer == "simplest" and first != at:
            at, taken = first, order[first].column
        rungs[at] = _chosen(rungs[at])
        return taken, tuple(rungs)

    def _trivial(
        self, used: Sequence[int], pieces: Sequence[PredictedRows] | None
    ) -> NDArray[np.float64]:
        """Return the scores of the baseline at the places, or at the parts of the only one."""
        question, scores = self.question, []
        for at in range(len(used) if pieces is None else len(pieces)):
            repeat, split, block = self.table.places[used[at] if pieces is None else used[0]]
            fit, partition = self.evidence.plan.splits[split], self.evidence.partitions[repeat]
            train = partition.train_rows(fit.train, fit.tests)
            rows = partition.rows(block) if pieces is None else pieces[at].rows
            scores.append(question.score(rows, trivial_prediction(question, train, len(rows)))[0])
        return np.array(scores)

    def _fits(self, used: Sequence[int]) -> tuple[list[int], float]:
        """Return the fit of each place, and the ratio of test rows to training rows."""
        names: dict[tuple[int, int], int] = {}
        tested: dict[tuple[int, int], int] = {}
        fits = []
        for row in used:
            repeat, split, block = self.table.places[row]
            fits.append(names.setdefault((repeat, split), len(names)))
            size = int(self.evidence.partitions[repeat].sizes[block])
            tested[repeat, split] = tested.get((repeat, split), 0) + size
        ratios = [
            count / len(self.evidence.partitions[repeat].train_rows(fit.train, fit.tests))
            for (repeat, split), count in tested.items()
            for fit in [self.evidence.plan.splits[split]]
        ]
        return fits, float(np.mean(ratios))


def _chosen(rung: Rung) -> Rung:
    values = {name: getattr(rung, name) for name in rung.__dataclass_fields__}
    return Rung(**{**values, "chosen": True})

"""Adaptive searches side by side: one per outer block and one for the final choice.

The search for outer block i scores a candidate by its fits without {i, j} on the blocks j != i. It
never looks at a prediction for block i, so what it proposes and chooses cannot depend on the
targets of that block. All searches take a step together: their fits are independent and run in
parallel, and a candidate that two of them propose is fitted once per pair of blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError
from assay.select.choose import Evidence, OuterResult, outer_result
from assay.select.plan import Split, digest, one_out
from assay.select.run import Family, Unit
from assay.select.searches._adaptive_point import Point, Proposer, Trial, best_first, start_points
from assay.select.searches._space import Space


@dataclass(eq=False)
class OneSearch:
    """One search: the fits that score a candidate, and the trials so far.

    Parameters
    ----------
    name : str
        "block 0", "block 1", ... or "final".
    scored : tuple of (split, block)
        The fits, and the block of each that scores.
    """

    name: str
    scored: tuple[tuple[Split, int], ...]
    trials: list[Trial] = field(default_factory=list)
    families: list[int] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)
    # Scores and sizes of a family, one per fit; NaN where there is none.
    scores: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    sizes: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    # Blocks where the metric is defined for at least one of the first candidates.
    defined: NDArray[np.bool_] | None = None


class Adaptive:
    """The searches of one table.

    Parameters
    ----------
    evidence : Evidence
        Of a pair-out plan; families are added to its runner here, one per candidate.
    space : Space
        What may be proposed.
    family_of : callable
        (branch, parameters) -> family with this one candidate.
    """

    def __init__(
        self,
        evidence: Evidence,
        space: Space,
        family_of: Callable[[int, Mapping[str, Any]], Family],
    ) -> None:
        self.evidence, self.runner, plan = evidence, evidence.runner, evidence.plan
        self.space = space
        self.units: dict[str, Unit] = {}
        self.notes: dict[tuple[str, str], int] = {}
        self._family_of = family_of
        self._families: list[Family] = []
        self._params: list[dict[str, Any]] = []
        self.runner.families = self._families
        self._known: dict[str, int] = {}
        self._noted: set[str] = set()
        inner = [
            tuple((plan.splits[split], block) for split, block in outer.inner)
            for outer in plan.outers
        ]
        plain = one_out(plan.n_blocks)
        final = tuple((split, split.tests[0]) for split in plain.splits)
        self.quests = [
            *(
                OneSearch(f"block {outer.block}", each)
                for outer, each in zip(plan.outers, inner, strict=True)
            ),
            OneSearch("final", final),
        ]

    def run(self, proposer: Proposer, n_trials: int, n_start: int, seed: int) -> None:
        """Run all trials of all searches.

        Parameters
        ----------
        proposer : Proposer
            The sampler.
        n_trials, n_start : int
            Number of trials of each search, and how many of them are fixed points.
        seed : int
            Seed of the points and of the sampler.
        """
        start = start_points(self.space, min(n_start, n_trials), seed)
        k = self.evidence.plan.n_blocks
        self.runner.expect([], len(start) * k * (k + 1) // 2 + (n_trials - len(start)) * k * k + k)
        self._try([(quest, point) for quest in self.quests for point in start])
        open_quests = list(self.quests)
        while open_quests:
            proposed = []
            for quest in list(open_quests):
                done = len(quest.trials)
                key = digest([seed, quest.name, done])
                points = (
                    proposer.propose(self.space, quest.trials, n_trials - done, key)
                    if done < n_trials
                    else []
                )
                if not points:  # enough trials, or no new point is left
                    open_quests.remove(quest)
                proposed += [(quest, point) for point in points]
            self._try(proposed)

    def results(self) -> tuple[list[OuterResult], list[str]]:
        """Score each outer choice on its block."""
        found, notes = [], []
        for outer, quest in zip(self.evidence.plan.outers, self.quests, strict=False):
            ranking = best_first(quest.trials)
            for trial in ranking:
                family = quest.families[quest.trials.index(trial)]
                unit = self._unit(family, outer.fit)
                self.runner.run([unit])
                entry = self.runner.entries(unit)[0]
                if entry.fitted is not None:
                    prediction = entry.fitted.predictions[0]
                    found.append(
                        outer_result(self.evidence, 0, outer, family, trial.score, prediction)
                    )
                    break
                notes.append(
                    f"{quest.name}: the chosen candidate failed ({entry.failed}); the next best "
                    "was taken"
                )
            else:
                raise self._nothing_works(quest)
        return found, notes

    def best(self) -> tuple[Trial, Family]:
        """Return the final choice."""
        quest = self.quests[-1]
        ranking = best_first(quest.trials)
        if not ranking:
            raise self._nothing_works(quest)
        return ranking[0], self._families[quest.families[quest.trials.index(ranking[0])]]

    def candidate(self, number: int) -> tuple[str, dict[str, Any]]:
        """Return name and parameters of a family, as the user gave them."""
        return self._families[number].name, dict(self._params[number])

    def measured(self, quest: OneSearch, number: int) -> tuple[float, float, float]:
        """Return mean score, its standard deviation over the blocks, and mean size."""
        values = quest.scores[number][quest.defined]
        spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        return float(values.mean()), spread, float(quest.sizes[number].mean())

    def _try(self, proposed: Sequence[tuple[OneSearch, Point]]) -> None:
        tried = [(quest, point, self._number(point)) for quest, point in proposed]
        self.runner.run(
            [self._unit(number, split) for quest, _, number in tried for split, _ in quest.scored]
        )
        for quest, _, number in tried:
            self._score(quest, number)
        for quest in self.quests:
            if quest.defined is None:
                quest.defined = np.isfinite(np.array(list(quest.scores.values()))).any(axis=0)
        for quest, point, number in tried:
            values = quest.scores[number][quest.defined]
            score = float(values.mean()) if len(values) else np.nan
            quest.trials.append(Trial(point, point.params(self.space), score))
            quest.families.append(number)

    def _score(self, quest: OneSearch, number: int) -> None:
        if number in quest.scores:
            return
        scores, sizes = np.full((2, len(quest.scored)), np.nan)
        for place, (split, block) in enumerate(quest.scored):
            unit = self._unit(number, split)
            entry = self.runner.entries(unit)[0]
            if unit.key not in self._noted:
                self._noted.add(unit.key)
                for note in entry.notes:
                    key = (self._families[number].name, note)
                    self.notes[key] = self.notes.get(key, 0) + 1
            if entry.fitted is None:
                quest.failed.setdefault(number, str(entry.failed))
                continue
            rows = self.evidence.partitions[0].rows(block)
            prediction = entry.fitted.predictions[split.tests.index(block)]
            scores[place], why = self.evidence.question.score(rows, prediction)
            sizes[place] = entry.fitted.size
            if why is not None:
                quest.failed.setdefault(number, f"no score: {why}")
        quest.scores[number], quest.sizes[number] = scores, sizes

    def _number(self, point: Point) -> int:
        """Return the number of the family with this candidate; create it if it is new."""
        identity = point.identity(self.space)
        if identity not in self._known:
            self._known[identity] = len(self._families)
            self._families.append(self._family_of(point.branch, point.params(self.space)))
            self._params.append(point.params(self.space))
        return self._known[identity]

    def _unit(self, family: int, split: Split) -> Unit:
        unit = self.runner.unit(family, 0, split)
        self.units[unit.key] = unit
        return unit

    def _nothing_works(self, quest: OneSearch) -> DataError:
        first = next(iter(quest.failed.values()), "no score")
        return DataError(f"no candidate could be fitted and scored; first error: {first}")

"""Run the fits of a plan, in stages and within a deadline; drop what is clearly beaten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from assay.select.choose._eliminate import Elimination, first_splits
from assay.select.choose._evidence import Evidence
from assay.select.choose._score import ScoreTable
from assay.select.plan import Plan
from assay.select.run import (
    Deadline,
    Unit,
)

#: From this many rows on, families that are clearly beaten are dropped after the first stage.
STAGE_ROWS = 10_000
DROPPED = "stopped early: clearly worse than others after half of the fits"
# Safety factors for time estimates: from timed units, and from the cost model alone. The second
# covers only the first timed units of a family.
_TIMED, _UNTIMED = 1.15, 2.0
# Minimum seconds for everything after the fits, and their share of the whole.
_LAST_SECONDS, _LAST_SHARE = 1.0, 0.03
# The final fit uses all rows on one worker; at most this many families are in a stack.
_REFIT, _MEMBERS = 1.3, 6


@dataclass(eq=False)
class PlanRun:
    """Result of running a plan.

    Parameters
    ----------
    units : list of Unit
        Every unit behind the result.
    dropped : set of (repeat, block, family)
        Families that may not be chosen for an outer block.
    notes : list of str
        What was dropped or cut, in words.
    """

    units: list[Unit] = field(default_factory=list)
    dropped: set[tuple[int, int, int]] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def mask(self, table: ScoreTable, plan: Plan) -> None:
        """Remove the scores of dropped families.

        A score of a pair-out plan is used for one outer block only. A family that was dropped for
        a block has no score there, and the final choice is among the families kept for all blocks.
        """
        if not self.dropped:
            return
        owner = np.array([candidate.family for candidate in table.candidates])
        for repeat, block, family in self.dropped:
            outer = next(each for each in plan.outers if each.block == block)
            for row in table.rows_of(repeat, outer.inner):
                table.score[row, owner == family] = np.nan
        table.failed = {place: why for place, why in table.failed.items() if why != DROPPED}
        lost = {family for _, _, family in self.dropped}
        table.dropped = {
            int(column): DROPPED for column in np.flatnonzero(np.isin(owner, sorted(lost)))
        }


def run_plan(
    evidence: Evidence,
    *,
    stages: bool | None = None,
    deadline: Deadline | None = None,
    stacked: bool = False,
) -> PlanRun:
    """Run the fits of a plan.

    Parameters
    ----------
    evidence : Evidence
        The search.
    stages : bool, optional
        Whether families that are clearly beaten after half of the fits are dropped; by default on
        tables of many rows.
    deadline : Deadline, optional
        Families run one after another, in their order; one that would not be finished in time is
        not started.
    stacked : bool, default=False
        Whether several candidates may be fitted for each outer block: then more time is kept back.

    Returns
    -------
    PlanRun
        What was run. Families that the deadline cut are gone from the runner.
    """
    if stages is None:
        stages = len(evidence.question.y) >= STAGE_ROWS
    return _Stages(evidence, stages, deadline, stacked).run()


class _Stages:
    def __init__(
        self, evidence: Evidence, staged: bool, deadline: Deadline | None, stacked: bool
    ) -> None:
        runner = evidence.runner
        self.runner, self.plan, self.deadline = runner, evidence.plan, deadline
        self.stacked = stacked
        self.repeats = evidence.repeats
        every = range(len(self.plan.splits))
        self.first = first_splits(self.plan) if staged and len(runner.families) > 1 else list(every)
        self.later = [split for split in every if split not in self.first]
        self.elimination = Elimination(evidence)
        self.done = PlanRun()
        self.dropped: set[tuple[int, int, int]] = set()

    def run(self) -> PlanRun:
        """Run both stages."""
        runner = self.runner
        every = families = list(range(len(runner.families)))
        outer_fits = sum(outer.served_by is None for outer in self.plan.outers) * len(self.repeats)
        runner.expect([u for f in families for u in self._units(f, None)], outer_fits)
        if self.deadline is None:
            runner.run(unit for family in families for unit in self._units(family, self.first))
            for family in families:
                self._take_in(family)
        else:
            families = self._one_by_one(families)
        self._drop(families)
        waiting = {family: self._needed(family) for family in families}
        asked = {unit.key for units in waiting.values() for unit in units}
        runner.expect_less(
            unit
            for family in every
            for unit in self._units(family, None if family not in families else self.later)
            if unit.key not in asked
        )
        if self.deadline is None:
            runner.run(unit for units in waiting.values() for unit in units)
        else:
            families = self._in_time(families, waiting)
        return self._conclude(families)

    def _units(self, family: int, splits: Sequence[int] | None) -> list[Unit]:
        chosen = range(len(self.plan.splits)) if splits is None else splits
        return [
            self.runner.unit(family, repeat, self.plan.splits[split])
            for repeat in self.repeats
            for split in chosen
        ]

    def _take_in(self, family: int) -> None:
        if self.later:
            for repeat in self.repeats:
                for split in self.first:
                    self.elimination.add(family, repeat, split)

    def _drop(self, families: Sequence[int]) -> None:
        if not self.later:
            return
        anchor = families[0]  # never dropped, so that one family is left for all blocks
        for repeat in self.repeats:
            for outer in self.plan.outers:
                for family in self.elimination.beaten(repeat, outer.block) - {anchor}:
                    self.dropped.add((repeat, outer.block, family))

    def _needed(self, family: int) -> list[Unit]:
        """Return the units of the second stage that at least one of their two blocks needs."""
        return [
            self.runner.unit(family, repeat, self.plan.splits[split])
            for repeat in self.repeats
            for split in self.later
            if any(
                (repeat, block, family) not in self.dropped
                for block in self.plan.splits[split].tests
            )
        ]

    def _one_by_one(self, families: Sequence[int]) -> list[int]:
        """Run the first stage family by family; return those that were finished."""
        finished: list[int] = []
        for family in families:
            units = self._units(family, self.first)
            done = not self._too_long(family, finished) and self._started(family, units, finished)
            if done or not finished:
                # There must be a result however short the time: the first one always runs.
                if not done:
                    self.runner.run(units)
                finished.append(family)
                self._take_in(family)
        return finished

    def _started(self, family: int, units: list[Unit], finished: list[int]) -> bool:
        """Time one unit per worker, then run the rest if the time allows."""
        runner = self.runner
        probe = units[: runner.n_jobs]
        return (
            runner.run(probe, self.deadline)
            and not self._too_long(family, finished)
            and runner.run(units, self.deadline)
        )

    def _too_long(self, family: int, finished: list[int]) -> bool:
        """Return whether the family, the units promised to others and the end exceed the time.

        Drops are not anticipated: which families take part must not depend on any score.
        """
        assert self.deadline is not None
        promised = sum(self._estimate(self._units(other, None)) for other in finished)
        mine = self._estimate(self._units(family, None))
        return promised + mine + self._reserve([*finished, family]) > self.deadline.left()

    def _estimate(self, units: Sequence[Unit]) -> float:
        """Return the estimated seconds of the units that are not yet in the ledger."""
        there = self.runner.ledger.present(unit.key for unit in units)
        left = [unit for unit in units if unit.key not in there]
        if not left:
            return 0.0
        n_jobs = self.runner.n_jobs
        whole = self.runner.seconds(left) / min(n_jobs, len(left))
        if self.runner.timed(left[0].family):
            return _TIMED * whole
        first = left[:n_jobs]
        return max(whole, _UNTIMED * self.runner.seconds(first) / len(first))

    def _reserve(self, families: Sequence[int]) -> float:
        """Return the estimated seconds of the outer fits, the final fit and the report.

        Assumes that the most expensive families win everywhere, several of them in a stack.
        """
        assert self.deadline is not None
        last = max(_LAST_SECONDS, _LAST_SHARE * self.deadline.seconds)
        each = []
        for family in families:
            outers = [
                self.runner.unit(family, repeat, outer.fit)
                for repeat in self.repeats
                for outer in self.plan.outers
                if outer.served_by is None
            ]
            one = self.runner.seconds_of_one(outers[0] if outers else self._units(family, None)[-1])
            rounds = -(-len(outers) // self.runner.n_jobs)
            each.append(one * (rounds + _REFIT))
        return last + _TIMED * sum(sorted(each)[-(_MEMBERS if self.stacked else 1) :])

    def _in_time(self, families: list[int], waiting: dict[int, list[Unit]]) -> list[int]:
        """Run the second stage family by family; return those that were finished."""
        assert self.deadline is not None
        finished: list[int] = []
        for family in families:
            units = waiting[family]
            if not finished:  # there must be a result however short the time
                self.runner.run(units)
            elif self._estimate(units) / _TIMED > self.deadline.left():
                continue  # it took longer than estimated and would not be finished
            if self.runner.run(units, self.deadline):
                finished.append(family)
        return finished

    def _conclude(self, families: list[int]) -> PlanRun:
        runner, ran = self.runner, self.done
        for family in families:
            needed = self._needed(family)
            keys = {unit.key for unit in needed}
            ran.units += [*self._units(family, self.first), *needed]
            skipped = [u for u in self._units(family, self.later) if u.key not in keys]
            runner.leave_out(skipped, DROPPED)
        self._tell(families)
        position = {family: index for index, family in enumerate(families)}
        ran.dropped = {
            (repeat, block, position[family])
            for repeat, block, family in self.dropped
            if family in position
        }
        if len(families) < len(runner.families):
            runner.keep(families)
        ran.units = [
            runner.unit(position[unit.family], unit.repeat, unit.split) for unit in ran.units
        ]
        return ran

    def _tell(self, families: list[int]) -> None:
        runner = self.runner
        cut = [f for f in range(len(runner.families)) if f not in families]
        if cut:
            names = ", ".join(dict.fromkeys(runner.families[family].name for family in cut))
            count = sum(len(runner.families[family].candidates) for family in cut)
            self.done.notes.append(
                f"the time limit left no room for {names} (candidates: {count}); "
                "run again with more time and the same ledger to add them"
            )
        outers = len(self.plan.outers) * len(self.repeats)
        gone = {family: sum(place[2] == family for place in self.dropped) for family in families}
        whole = [family for family, times in gone.items() if times == outers]
        if any(gone.values()):
            names = ", ".join(dict.fromkeys(runner.families[family].name for family in whole))
            count = sum(len(runner.families[f].candidates) for f, times in gone.items() if times)
            self.done.notes.append(
                f"{count} candidates were stopped early: clearly worse than others after half of "
                "the fits" + (f"; whole families: {names}" if whole else "")
            )

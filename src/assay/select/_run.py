"""The runner: units on one thread, on threads or on processes, each committed when it is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing

from assay.base import ParameterError, check_n_jobs
from assay.select._clock import Clock, Progress
from assay.select._family import Family
from assay.select._ledger import Ledger
from assay.select._partition import Partition
from assay.select._plan import Split
from assay.select._problem import Problem
from assay.select._record import Entry, decode
from assay.select._unit import Unit, unit_key
from assay.select._workers import BACKENDS, Task, results

# A worker that dies (out of memory, killed) costs its unit; more deaths in a row than this are no
# accident.
_MAX_DEATHS = 3


class Runner:
    """Runs units that the ledger does not hold yet, and reads those it holds.

    Parameters
    ----------
    problem : Problem
        The rows.
    families : sequence of Family
        The candidates.
    partitions : sequence of Partition
        One per repeat.
    ledger : Ledger
        Where finished units go.
    seed : int
        Part of every key.
    n_jobs : int, default=1
        Workers; -1 for one per core.
    backend : {"threads", "processes"}, default="threads"
        What a worker is.
    progress : callable, optional
        Called with (done, total, seconds left or None, what).

    Notes
    -----
    Results do not depend on `n_jobs` or `backend`: every unit is seeded by its key, and BLAS and
    OpenMP use one thread in all modes.
    """

    def __init__(
        self,
        problem: Problem,
        families: Sequence[Family],
        partitions: Sequence[Partition],
        ledger: Ledger,
        *,
        seed: int = 0,
        n_jobs: int | None = 1,
        backend: str = "threads",
        progress: Progress | None = None,
    ) -> None:
        if backend not in BACKENDS:
            raise ParameterError(f"backend must be 'threads' or 'processes'; got {backend!r}")
        self.problem = problem
        self.families = families
        self.partitions = partitions
        self.ledger = ledger
        self.seed = seed
        self.n_jobs = check_n_jobs(n_jobs)
        self.backend = backend
        self._clock = Clock(progress, self.n_jobs)
        self._units: dict[tuple[int, int, Split, tuple[int, ...]], Unit] = {}

    def unit(
        self, family: int, repeat: int, split: Split, candidates: Sequence[int] | None = None
    ) -> Unit:
        """Return the unit of a family, of all its candidates unless some are named."""
        chosen = tuple(
            range(len(self.families[family].candidates)) if candidates is None else candidates
        )
        place = (family, repeat, split, chosen)
        if place not in self._units:
            member, partition = self.families[family], self.partitions[repeat]
            key = unit_key(self.problem, partition, member, chosen, split, self.seed)
            self._units[place] = Unit(family, chosen, repeat, split, key)
        return self._units[place]

    def expect(self, units: int) -> None:
        """Announce how many units there will be in all, before the first one starts."""
        self._clock.total = units
        self._clock.report("starting")

    def run(self, units: Iterable[Unit]) -> None:
        """Make sure that every unit is in the ledger."""
        wanted = {unit.key: unit for unit in units}
        there = self.ledger.present(wanted)
        pending = {key: unit for key, unit in wanted.items() if key not in there}
        self._clock.add([self._cost(unit) for unit in pending.values()], len(there))
        deaths = 0
        while pending:
            before = len(pending)
            try:
                self._run_some(pending)
            except BrokenProcessPool as error:
                deaths = deaths + 1 if len(pending) == before else 1
                if deaths == _MAX_DEATHS:
                    raise RuntimeError(
                        "worker processes keep dying, perhaps for want of memory; finished units "
                        "are kept: run again with fewer workers or n_jobs=1"
                    ) from error

    def entries(self, unit: Unit) -> list[Entry]:
        """Return what a finished unit left in the ledger."""
        payload = self.ledger.get(unit.key)
        if payload is None:
            raise KeyError(unit.key)
        return decode(payload)

    def _run_some(self, pending: dict[str, Unit]) -> None:
        """Run pending units and take each out when it is committed."""
        tasks = [self._task(unit) for unit in sorted(pending.values(), key=self._order)]
        with closing(results(tasks, self.n_jobs, self.backend)) as done:
            for key, payload, seconds in done:
                self.ledger.put(key, payload)
                unit = pending.pop(key)
                self._clock.tick(self._cost(unit), seconds, self.families[unit.family].name)

    def _task(self, unit: Unit) -> Task:
        partition, family = self.partitions[unit.repeat], self.families[unit.family]
        return self.problem, partition, family, unit.candidates, unit.split, unit.key

    def _order(self, unit: Unit) -> tuple[object, ...]:
        # Units with an encoder run training set by training set, the others family by family, so
        # that what they share is needed for a short time only.
        place = (unit.repeat, unit.split.train, unit.split.tests)
        if self.families[unit.family].encoder is None:
            return (1, unit.family, *place)
        return (0, *place, unit.family)

    def _cost(self, unit: Unit) -> tuple[int, float]:
        sizes = self.partitions[unit.repeat].sizes
        rows = sum(int(sizes[block]) for block in unit.split.train)
        return unit.family, float(rows * len(unit.candidates))

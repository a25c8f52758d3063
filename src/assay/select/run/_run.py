"""Run units on threads, processes or a cluster; each is committed when it is finished."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing

import numpy as np

from assay.base import check_n_jobs
from assay.select.plan import (
    Data,
    Partition,
    Split,
)
from assay.select.run._clock import Clock, Progress
from assay.select.run._dask import Cluster
from assay.select.run._deadline import Deadline
from assay.select.run._decoded import Decoded
from assay.select.run._family import Family
from assay.select.run._ledger import Ledger
from assay.select.run._path import count_fits
from assay.select.run._record import Entry
from assay.select.run._task import Task
from assay.select.run._unit import Unit, unit_key
from assay.select.run._workers import check_backend, results

# A worker that dies (out of memory, killed) loses its unit; after this many in a row, give up.
_MAX_DEATHS = 3
# Default cost in work units per fit, row and column.
_GUESS = 1e-3


class Runner:
    """Runs units that are not in the ledger yet, and reads those that are.

    Parameters
    ----------
    data : Data
        The rows.
    families : sequence of Family
        The candidates.
    partitions : sequence of Partition
        One per repeat.
    ledger : Ledger
        Store of finished units.
    seed : int
        Part of every key.
    n_jobs : int, default=1
        Workers; -1 for one per core.
    backend : {"threads", "processes", "dask"}, default="threads"
        Kind of worker.
    cluster : Cluster, optional
        Cluster that runs the units; `n_jobs` then has no effect.
    progress : callable, optional
        Called with (done, total, seconds left or None, what).

    Notes
    -----
    Results do not depend on `n_jobs` or `backend`: the seeds of a unit follow from its place in the
    study, and BLAS and OpenMP use one thread in all modes.
    """

    def __init__(
        self,
        data: Data,
        families: Sequence[Family],
        partitions: Sequence[Partition],
        ledger: Ledger,
        *,
        seed: int = 0,
        n_jobs: int | None = 1,
        backend: str = "threads",
        cluster: Cluster | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.data = data
        self.families = families
        self.partitions = partitions
        self.ledger = ledger
        self.seed = seed
        self.n_jobs = check_n_jobs(n_jobs) if cluster is None else cluster.n_threads
        self.backend = check_backend(backend, cluster)
        self.cluster = cluster
        self._clock = Clock(progress, self.n_jobs)
        self._units: dict[tuple[int, int, Split, tuple[int, ...]], Unit] = {}
        self._absent: dict[str, str] = {}
        self._decoded = Decoded()

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
            key = unit_key(self.data, partition, member, chosen, split, self.seed)
            self._units[place] = Unit(family, chosen, repeat, split, key, self.seed)
        return self._units[place]

    def expect(self, units: Iterable[Unit], others: int = 0) -> None:
        """Announce the units to come, and how many others, before the first one starts."""
        self._clock.expect([self._cost(unit) for unit in units], others)
        self._clock.vague = any(family.work is None for family in self.families)
        self._clock.report("starting")

    def expect_less(self, units: Iterable[Unit]) -> None:
        """Take back announced units that will not be run."""
        self._clock.expect_less([self._cost(unit) for unit in units])

    def seconds(self, units: Iterable[Unit]) -> float:
        """Return the estimated seconds of units on one worker."""
        costs = (self._cost(unit) for unit in units)
        return sum(cost * self._clock.speed(family) for family, cost in costs)

    def seconds_of_one(self, unit: Unit) -> float:
        """Return the estimated seconds of the slowest candidate of a unit."""
        member = self.families[unit.family]
        fits = count_fits(member.estimator, [member.candidates[i] for i in unit.candidates])
        return self.seconds([unit]) * min(1.0, 2.0 / fits)

    def timed(self, family: int) -> bool:
        """Return whether a unit of the family was timed."""
        return self._clock.known(family)

    def keep(self, families: Sequence[int]) -> None:
        """Keep only these families, numbered anew."""
        self.families = [self.families[family] for family in families]
        self._clock.keep(families)
        self._units.clear()

    def run(self, units: Iterable[Unit], deadline: Deadline | None = None) -> bool:
        """Run the units that are not in the ledger yet.

        Parameters
        ----------
        units : iterable of Unit
            The units.
        deadline : Deadline, optional
            Once it has passed, no further unit is started.

        Returns
        -------
        bool
            Whether all units are in the ledger.
        """
        wanted = {unit.key: unit for unit in units}
        there = self.ledger.present(wanted)
        pending = {key: unit for key, unit in wanted.items() if key not in there}
        self._clock.add(
            [self._cost(unit) for unit in pending.values()],
            [self._cost(wanted[key]) for key in there],
        )
        deaths = 0
        if pending and deadline is not None and deadline.passed():
            self._clock.forget([self._cost(unit) for unit in pending.values()])
            return False
        while pending:
            before = len(pending)
            try:
                if not self._run_some(pending, deadline):
                    self._clock.forget([self._cost(unit) for unit in pending.values()])
                    return False
            except BrokenProcessPool as error:
                deaths = deaths + 1 if len(pending) == before else 1
                if deaths == _MAX_DEATHS:
                    raise RuntimeError(
                        "worker processes keep dying, perhaps for want of memory; finished units "
                        "are kept: run again with fewer workers or n_jobs=1"
                    ) from error
        return True

    def leave_out(self, units: Iterable[Unit], why: str) -> None:
        """Treat units as failed for this reason, whether or not the ledger holds them."""
        self._absent.update({unit.key: why for unit in units})

    def entries(self, unit: Unit) -> list[Entry]:
        """Return the entries of a finished unit."""
        if unit.key in self._absent:
            return [Entry(None, self._absent[unit.key], ()) for _ in unit.candidates]
        return self._decoded.entries(unit.key, self.ledger)

    def _run_some(self, pending: dict[str, Unit], deadline: Deadline | None) -> bool:
        """Run pending units, each taken out when it is committed; False at the deadline."""
        tasks = [self._task(unit) for unit in sorted(pending.values(), key=self._order)]
        with closing(results(tasks, self.n_jobs, self.backend, self.cluster)) as done:
            for key, payload, seconds in done:
                self.ledger.put(key, payload)
                unit = pending.pop(key)
                self._clock.tick(self._cost(unit), seconds, self.families[unit.family].name)
                if deadline is not None and pending and deadline.passed():
                    return False
        return True

    def _task(self, unit: Unit) -> Task:
        partition, family = self.partitions[unit.repeat], self.families[unit.family]
        return self.data, partition, family, unit

    def _order(self, unit: Unit) -> tuple[object, ...]:
        # Units with an encoder run training set by training set, the others family by family, so
        # that what they share is needed for a short time only.
        place = (unit.repeat, unit.split.train, unit.split.tests)
        if self.families[unit.family].encoder is None:
            return (1, unit.family, *place)
        return (0, *place, unit.family)

    def _cost(self, unit: Unit) -> tuple[int, float]:
        """Return the family and the work units of a unit."""
        sizes = self.partitions[unit.repeat].sizes
        train = sum(int(sizes[block]) for block in unit.split.train)
        member = self.families[unit.family]
        if member.work is None:
            fits = count_fits(member.estimator, [member.candidates[i] for i in unit.candidates])
            return unit.family, 1.0 + fits * train * self.data.X.shape[1] * _GUESS
        tests = sum(int(sizes[block]) for block in unit.split.tests)
        # A part of the candidates costs more than its share: what they share is paid in full.
        part = np.sqrt(len(unit.candidates) / len(member.candidates))
        return unit.family, float(member.work(train, tests) * part)

"""The runner: units on one thread, on threads or on processes, each committed when it is done."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from itertools import islice
from time import perf_counter

import joblib
from threadpoolctl import threadpool_limits

from assay.base import ParameterError, check_n_jobs
from assay.select._encode import Encodings
from assay.select._family import Family
from assay.select._ledger import Ledger
from assay.select._notes import listening
from assay.select._partition import Partition
from assay.select._plan import Split
from assay.select._problem import Problem
from assay.select._record import Entry, decode, encode
from assay.select._unit import Unit, run_unit, unit_key

#: (units done, units in all, seconds left or None, what was done last)
Progress = Callable[[int, int, float | None, str], None]
BACKENDS = ("threads", "processes")
# A worker that dies (out of memory, killed) costs its unit; more deaths in a row than this are no
# accident.
_MAX_DEATHS = 3

Task = tuple[Problem, Partition, Family, tuple[int, ...], Split, str]


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
        self._clock = _Clock(progress, self.n_jobs)
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
        with closing(self._results(tasks)) as results:
            for key, payload, seconds in results:
                self.ledger.put(key, payload)
                unit = pending.pop(key)
                self._clock.tick(self._cost(unit), seconds, self.families[unit.family].name)

    def _results(self, tasks: list[Task]) -> Generator[tuple[str, bytes, float], None, None]:
        n_jobs = min(self.n_jobs, len(tasks))
        if n_jobs == 1:
            encodings = Encodings()
            with listening():
                for task in tasks:
                    yield _work(task, encodings)
            return
        if self.backend == "threads":
            with listening():
                yield from _on_threads(tasks, n_jobs)
        else:
            with joblib.parallel_config("loky", inner_max_num_threads=1):
                yield from _on_processes(tasks, n_jobs)

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


def _on_threads(tasks: Iterable[Task], n_jobs: int) -> Iterator[tuple[str, bytes, float]]:
    # Not joblib's threads: they are daemons, and one that is inside a kernel when the interpreter
    # ends takes the process down. These are waited for.
    encodings = Encodings(n_jobs + 1)
    # The number of OpenMP threads belongs to each thread; BLAS was limited for the process.
    pool = ThreadPoolExecutor(n_jobs, "assay", lambda: threadpool_limits(1, user_api="openmp"))
    waiting = iter(tasks)
    running = {pool.submit(_work, task, encodings) for task in islice(waiting, 2 * n_jobs)}
    try:
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {pool.submit(_work, task, encodings) for task in islice(waiting, len(done))}
            for future in done:
                yield future.result()
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)  # the user does not want to wait
        raise
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _on_processes(tasks: Iterable[Task], n_jobs: int) -> Iterator[tuple[str, bytes, float]]:
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    results: Generator[tuple[str, bytes, float], None, None] = parallel(
        joblib.delayed(_work_in_process)(task) for task in tasks
    )
    try:
        # Not "yield from": it would pass an early close on to joblib, which warns of lost work.
        for result in results:  # noqa: UP028
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()


def _work(task: Task, encodings: Encodings) -> tuple[str, bytes, float]:
    problem, partition, family, candidates, split, key = task
    start = perf_counter()
    entries = run_unit(problem, partition, family, candidates, split, key, encodings)
    lengths = [int(partition.sizes[block]) for block in split.tests]
    return key, encode(entries, lengths), perf_counter() - start


class _Process:
    """What a worker process keeps between units."""

    limits: threadpool_limits | None = None
    encodings = Encodings()


def _work_in_process(task: Task) -> tuple[str, bytes, float]:
    if _Process.limits is None:
        _Process.limits = threadpool_limits(1)
    with listening():
        return _work(task, _Process.encodings)


class _Clock:
    """Counts units and estimates the time left from the speed of each family so far."""

    def __init__(self, progress: Progress | None, n_jobs: int) -> None:
        self.progress = progress
        self.n_jobs = n_jobs
        self.total = 0
        self.done = 0
        self._left: dict[int, float] = {}  # cost still to pay, by family
        self._paid: dict[int, float] = {}
        self._seconds: dict[int, float] = {}
        self._count = 0

    def add(self, costs: Sequence[tuple[int, float]], there: int) -> None:
        self.done += there
        self.total = max(self.total, self.done + len(costs))
        for family, cost in costs:
            self._left[family] = self._left.get(family, 0.0) + cost
        if there:
            self.report("found in the ledger")

    def tick(self, cost: tuple[int, float], seconds: float, what: str) -> None:
        family, amount = cost
        self.done += 1
        self._count += 1
        self._left[family] -= amount
        self._paid[family] = self._paid.get(family, 0.0) + amount
        self._seconds[family] = self._seconds.get(family, 0.0) + seconds
        self.report(what)

    def report(self, what: str) -> None:
        if self.progress is not None:
            self.progress(self.done, self.total, self._seconds_left(), what)

    def _seconds_left(self) -> float | None:
        if not self._count:
            return None
        overall = sum(self._seconds.values()) / sum(self._paid.values())
        left = 0.0
        for family, cost in self._left.items():
            paid = self._paid.get(family)
            left += cost * (self._seconds[family] / paid if paid else overall)
        return left / self.n_jobs

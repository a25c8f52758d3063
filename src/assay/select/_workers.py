"""What runs units: one thread, threads or processes. The results do not depend on which."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing
from itertools import islice
from time import perf_counter

import joblib
from threadpoolctl import threadpool_limits

from assay.select._encode import Encodings
from assay.select._family import Family
from assay.select._notes import listening
from assay.select._partition import Partition
from assay.select._plan import Split
from assay.select._problem import Problem
from assay.select._record import encode
from assay.select._unit import run_unit

BACKENDS = ("threads", "processes")

Task = tuple[Problem, Partition, Family, tuple[int, ...], Split, str]
#: (key, payload for the ledger, seconds it took)
Result = tuple[str, bytes, float]


def results(tasks: Sequence[Task], n_jobs: int, backend: str) -> Generator[Result, None, None]:
    """Yield what each task gives as it is done; closing this cancels what has not begun."""
    n_jobs = min(n_jobs, len(tasks))
    if n_jobs == 1:
        encodings = Encodings()
        with listening():
            for task in tasks:
                yield _work(task, encodings)
        return
    if backend == "threads":
        with listening(), closing(_on_threads(tasks, n_jobs)) as found:
            yield from found
    else:
        with joblib.parallel_config("loky", inner_max_num_threads=1):
            yield from _on_processes(tasks, n_jobs)


def _on_threads(tasks: Iterable[Task], n_jobs: int) -> Generator[Result, None, None]:
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


def _on_processes(tasks: Iterable[Task], n_jobs: int) -> Generator[Result, None, None]:
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    results: Generator[Result, None, None] = parallel(
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


def _work(task: Task, encodings: Encodings) -> Result:
    problem, partition, family, candidates, split, key = task
    start = perf_counter()
    entries = run_unit(problem, partition, family, candidates, split, key, encodings)
    lengths = [int(partition.sizes[block]) for block in split.tests]
    return key, encode(entries, lengths), perf_counter() - start


class _Process:
    """What a worker process keeps between units."""

    limits: threadpool_limits | None = None
    encodings = Encodings()


def _work_in_process(task: Task) -> Result:
    if _Process.limits is None:
        _Process.limits = threadpool_limits(1)
    with listening():
        return _work(task, _Process.encodings)

"""Run tasks on threads, processes or a cluster. Results do not depend on which."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing
from itertools import islice

import joblib
from threadpoolctl import threadpool_limits

from assay.base import ParameterError, check_option
from assay.select.run._dask import Cluster
from assay.select.run._encode import Encodings
from assay.select.run._notes import listening
from assay.select.run._task import Result, Task, work

BACKENDS = ("threads", "processes", "dask")


def check_backend(backend: str, scheduler: object | None) -> str:
    """Return the backend; a scheduler implies Dask, and Dask needs one."""
    check_option("backend", backend, BACKENDS)
    if scheduler is not None:
        return "dask"
    if backend == "dask":
        raise ParameterError(
            "scheduler must be the address of a Dask scheduler when backend='dask'; got None"
        )
    return backend


def results(
    tasks: Sequence[Task], n_jobs: int, backend: str, cluster: Cluster | None = None
) -> Generator[Result, None, None]:
    """Yield results as they finish; closing the generator cancels tasks not yet started."""
    if cluster is not None:
        with closing(cluster.results(tasks)) as found:
            yield from found
        return
    n_jobs = min(n_jobs, len(tasks))
    if n_jobs == 1:
        encodings = Encodings()
        with listening():
            for task in tasks:
                yield work(task, encodings)
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
    running = {pool.submit(work, task, encodings) for task in islice(waiting, 2 * n_jobs)}
    try:
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {pool.submit(work, task, encodings) for task in islice(waiting, len(done))}
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


class _Process:
    """Cache of a worker process between units."""

    limits: threadpool_limits | None = None
    encodings = Encodings()


def _work_in_process(task: Task) -> Result:
    if _Process.limits is None:
        _Process.limits = threadpool_limits(1)
    with listening():
        return work(task, _Process.encodings)

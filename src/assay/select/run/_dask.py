"""Units on a Dask cluster: rows are sent once, the client commits the results.

No failure costs a finished unit, because those are in the client's ledger. Dask gives the unit of a
dead worker to another one; rows lost with the last worker that held them are sent again; and if the
scheduler is lost, the search stops with a message and can continue from the ledger later, on this
cluster or without one.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any

from assay.base import ParameterError
from assay.select.plan import Data, Partition
from assay.select.run._dask_worker import (
    LIBRARIES,
    OtherVersions,
    difference,
    forget,
    versions,
    work_on_worker,
)
from assay.select.run._task import Result, Task

# Units submitted per worker: one running and one waiting.
_AHEAD = 2
_CONNECT_SECONDS = 10.0
_COUNT_SECONDS = 2.0
# Seconds to wait for a worker that is being restarted.
_PATIENCE_SECONDS = 60.0
# A unit is given up after this many workers died while running it.
_MAX_KILLED = 2
_KEPT = "finished units are kept in the ledger, if there is one"


class ClusterError(OSError, RuntimeError):
    """A cluster that cannot be used; the message explains what to do."""


class Cluster:
    """A connection to a Dask scheduler for as long as a search lasts.

    Parameters
    ----------
    address : str
        Such as "tcp://127.0.0.1:8786", as ``dask scheduler`` prints it.

    Attributes
    ----------
    n_threads : int
        Units that the workers can run at the same time, when last asked.

    Raises
    ------
    ParameterError
        If Dask is not installed or `address` is not an address.
    ClusterError
        If there is no answer, no worker, or a worker with other library versions.
    """

    def __init__(self, address: str) -> None:
        self.address = _checked_address(address)
        distributed = _imported()
        self._killed_worker: type[Exception] = distributed.KilledWorker
        try:
            self._client = distributed.Client(
                address, timeout=_CONNECT_SECONDS, set_as_default=False, name="assay"
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {address} (waited {_CONNECT_SECONDS:.0f} s); start "
                f"one with 'dask scheduler', or check the address"
            ) from error
        self._sent: dict[str, Any] = {}
        self.n_threads = 0
        self._counted = 0.0
        try:
            self._wait_for_workers(_CONNECT_SECONDS)
            self._check_versions()
        except BaseException:
            self.close()
            raise

    def results(self, tasks: Sequence[Task]) -> Generator[Result, None, None]:
        """Yield results as they finish; closing the generator cancels the others."""
        waiting, running = deque(tasks), dict[Any, Task]()
        done: SimpleQueue[Any] = SimpleQueue()
        killed: Counter[str] = Counter()
        try:
            while waiting or running:
                if not running:
                    self._wait_for_workers(_PATIENCE_SECONDS)
                elif time.monotonic() - self._counted > _COUNT_SECONDS:
                    self._count_threads()  # workers come and go
                while waiting and len(running) < _AHEAD * self.n_threads:
                    future = self._submit(waiting[0])
                    running[future] = waiting.popleft()
                    future.add_done_callback(done.put)
                for future in self._finished(done):
                    task = running.pop(future, None)
                    if task is None:
                        continue
                    result = self._result(future, task, killed)
                    if result is None:
                        waiting.appendleft(task)
                    else:
                        yield result
        finally:
            if running:
                with suppress(Exception):  # the scheduler may be gone
                    self._client.cancel(list(running), force=True)

    def close(self) -> None:
        """Leave the cluster; the workers forget the rows."""
        self._sent.clear()
        with suppress(Exception):
            if self._client.status == "running":
                self._client.run(forget, wait=False)
        with suppress(Exception):
            self._client.close(timeout=2)

    def _submit(self, task: Task) -> Any:
        data, partition, family, unit = task
        rows = self._data(data), self._data(partition)
        try:
            return self._client.submit(work_on_worker, *rows, family, unit, versions(), pure=False)
        except (OSError, RuntimeError, TimeoutError) as error:
            raise self._lost() from error

    def _data(self, data: Data | Partition) -> Any:
        """Return the handle of rows on the workers; they are sent only once."""
        handle = self._sent.get(data.digest)
        if handle is None or handle.status in ("cancelled", "lost", "error"):
            handle = self._sent[data.digest] = self._scattered(data)
        return handle

    def _scattered(self, data: Any) -> Any:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            self._wait_for_workers(_PATIENCE_SECONDS)
            try:
                return self._client.scatter(data, broadcast=True, hash=False)
            except (OSError, TimeoutError, KeyError, CancelledError) as error:
                # One or all workers died meanwhile.
                if self._client.status != "running" or time.monotonic() > deadline:
                    raise self._lost() from error
                time.sleep(0.2)

    def _finished(self, done: SimpleQueue[Any]) -> Iterator[Any]:
        """Wait for one future, then yield all that are done."""
        without = None
        while True:
            try:
                yield done.get(timeout=1.0)
                break
            except Empty:
                threads = self._count_threads()
                if threads:
                    without = None
                elif without is None:
                    without = time.monotonic()
                elif time.monotonic() - without > _PATIENCE_SECONDS:
                    raise self._no_workers() from None
        while not done.empty():
            yield done.get()

    def _result(self, future: Any, task: Task, killed: Counter[str]) -> Result | None:
        """Return the result of a future; None if the unit has to run again."""
        family, key = task[2], task[3].key
        try:
            result: Result = future.result(timeout=_PATIENCE_SECONDS)
            return result
        except self._killed_worker as error:
            killed[key] += 1
            if killed[key] < _MAX_KILLED:
                return None
            raise ClusterError(
                f"workers keep dying while they run {family.name!r}, perhaps for want of memory; "
                f"{_KEPT}: run again with more memory for each worker, or without this model"
            ) from error
        except (CancelledError, TimeoutError) as error:
            if self._client.status != "running":
                raise self._lost() from error
            # The rows were lost with the last worker that held them; they are sent again.
            self._sent.clear()
            return None
        except OtherVersions as error:
            raise ClusterError(str(error)) from None
        except ModuleNotFoundError as error:
            raise ClusterError(
                f"a Dask worker cannot load {error.name!r}, which {family.name!r} needs; install "
                f"it there"
            ) from error
        except OSError as error:
            # Units do not raise OSError, so it is the connection. The client may notice late that
            # the scheduler is gone; otherwise the unit runs again.
            killed[key] += 1
            time.sleep(0.5)
            if self._client.status != "running" or killed[key] >= _MAX_KILLED:
                raise self._lost() from error
            return None

    def _count_threads(self) -> int:
        try:
            self.n_threads = sum(self._client.nthreads().values())
            self._counted = time.monotonic()
        except (OSError, RuntimeError, TimeoutError, CancelledError) as error:
            raise self._lost() from error
        if self._client.status != "running":
            raise self._lost()
        return self.n_threads

    def _wait_for_workers(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self._count_threads():
            if time.monotonic() > deadline:
                raise self._no_workers()
            time.sleep(0.1)

    def _check_versions(self) -> None:
        try:
            found = self._client.get_versions(packages=list(LIBRARIES))["workers"]
        except (OSError, RuntimeError, TimeoutError) as error:
            raise self._lost() from error
        for worker, info in found.items():
            if isinstance(info, dict):  # else it died just now
                told = difference(info["packages"], versions(), worker)
                if told:
                    raise ClusterError(told)

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"the Dask scheduler at {self.address} is gone; {_KEPT}: run the same command again "
            f"to continue, with the scheduler or without"
        )

    def _no_workers(self) -> ClusterError:
        return ClusterError(
            f"the Dask scheduler at {self.address} has no workers; start some with "
            f"'dask worker {self.address}' and run the same command again; {_KEPT}"
        )


@contextmanager
def connected(scheduler: str | None) -> Iterator[Cluster | None]:
    """Connect to a scheduler for as long as the context lasts; None stays None."""
    if scheduler is None:
        yield None
        return
    with _silenced():
        cluster = Cluster(scheduler)
        try:
            yield cluster
        finally:
            cluster.close()


def _checked_address(address: Any) -> str:
    if not isinstance(address, str) or not re.fullmatch(r"[a-z]+://\S+:\d+", address):
        raise ParameterError(
            f"scheduler must be the address of a Dask scheduler, such as 'tcp://127.0.0.1:8786'; "
            f"got {address!r}"
        )
    return address


def _imported() -> Any:
    try:
        import distributed  # noqa: PLC0415
    except ImportError as error:
        raise ParameterError(
            "scheduler needs Dask, which is not installed: pip install 'assay-ml[dask]'"
        ) from error
    return distributed


@contextmanager
def _silenced() -> Iterator[None]:
    """Keep Dask's log off the terminal; errors are reported by `ClusterError`."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado")]
    before = [logger.level for logger in loggers]
    _imported()  # it sets levels of its own
    children = [
        logger
        for name, logger in logging.Logger.manager.loggerDict.items()
        if isinstance(logger, logging.Logger) and name.startswith(("distributed.", "tornado."))
    ]
    saved = [*zip(loggers, before, strict=True), *((child, child.level) for child in children)]
    try:
        for logger, _ in saved:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in saved:
            logger.setLevel(level)

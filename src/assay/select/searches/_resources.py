"""Workers, ledger and limits of a search."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from assay.base import check_n_jobs
from assay.select.plan import Question
from assay.select.run import (
    Deadline,
    Family,
    Ledger,
    Progress,
    bytes_of,
    connected,
    seconds_of,
    workers_within,
)


@dataclass(frozen=True, eq=False)
class Resources:
    """Workers, ledger and limits of a search.

    None of them changes the result, except a deadline that is reached.

    Parameters
    ----------
    n_jobs : int, default=1
        Workers; -1 for one per core.
    backend : {"threads", "processes", "dask"}, default="threads"
        Kind of worker.
    scheduler : str, optional
        Address of a Dask scheduler, such as "tcp://127.0.0.1:8786": the units then run on its
        workers, and `n_jobs` has no effect. Needs the extra "dask".
    ledger : Ledger or path, optional
        Where finished units are kept, so that an interrupted search can continue.
    memory : float or str, optional
        Bytes, or an amount such as "4GB", that the search may use: fewer workers run if necessary.
        By default four fifths of what the machine has free.
    deadline : float, str or Deadline, optional
        Seconds, or a time such as "10m", from the start to the end of all fits. Families then run
        one after another; those that would not finish in time are not started, and the notes name
        them.
    progress : callable, optional
        Called with (done, total, seconds left or None, text), first before any work.
    """

    n_jobs: int | None = 1
    backend: str = "threads"
    scheduler: str | None = None
    ledger: Ledger | str | os.PathLike[str] | None = None
    memory: float | str | None = None
    deadline: float | str | Deadline | None = None
    progress: Progress | None = None

    def limit(self) -> Deadline | None:
        """Return the deadline, counted from now if it is an amount of time."""
        if self.deadline is None or isinstance(self.deadline, Deadline):
            return self.deadline
        return Deadline(seconds_of(self.deadline))

    @contextmanager
    def open(
        self, families: Sequence[Family], question: Question
    ) -> Iterator[tuple[Ledger, int, Any]]:
        """Yield ledger, number of workers and cluster; close what was opened here."""
        given = isinstance(self.ledger, Ledger)
        ledger = self.ledger if isinstance(self.ledger, Ledger) else Ledger(self.ledger)
        # One BLAS thread whatever the number of workers: sums then have one order.
        with (
            nullcontext() if given else ledger,
            threadpool_limits(1),
            connected(self.scheduler) as cluster,
        ):
            memory = None if self.memory is None else bytes_of(self.memory)
            n_jobs = workers_within(
                check_n_jobs(self.n_jobs), memory, question.X.nbytes, families, len(question.y)
            )
            yield ledger, n_jobs, cluster

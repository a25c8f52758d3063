"""Independent calls on threads, with results that do not depend on their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def in_threads(work: Sequence[Callable[[], Result]], n_threads: int) -> list[Result]:
    """Call each function and return the results in order; an error is raised after all have ended.

    Parameters
    ----------
    work : sequence of callable
        Independent of each other.
    n_threads : int
        Number of threads.

    Returns
    -------
    list

    Examples
    --------
    >>> in_threads([lambda: 1, lambda: 2], n_threads=2)
    [1, 2]
    """
    if n_threads == 1 or len(work) == 1:
        return [call() for call in work]
    with ThreadPoolExecutor(max_workers=min(n_threads, len(work))) as pool:
        return list(pool.map(lambda call: call(), work))

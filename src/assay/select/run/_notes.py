"""Collect the warnings of a fit per thread.

`warnings.catch_warnings` changes the state of the whole process: with two fits on two threads it
loses warnings or gives them to the wrong fit. So while a run lasts, `warnings.warn` itself asks
which fit the calling thread is in.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_current: ContextVar[list[str] | None] = ContextVar("assay_notes", default=None)
_warn_before = warnings.warn


class _Switch:
    """Counts the runs under way; the first one in and the last one out turn the routing."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.runs = 0
        self.before: warnings.catch_warnings[Any] | None = None

    def enter(self) -> None:
        with self.lock:
            self.runs += 1
            if self.runs == 1:
                self.before = warnings.catch_warnings()
                self.before.__enter__()
                warnings.simplefilter("ignore")
                warnings.warn = _warn

    def leave(self) -> None:
        with self.lock:
            self.runs -= 1
            if self.runs == 0 and self.before is not None:
                warnings.warn = _warn_before
                self.before.__exit__(None, None, None)
                self.before = None


_switch = _Switch()


@contextmanager
def listening() -> Iterator[None]:
    """Route warnings raised inside `collected` blocks to them, for as long as the context lasts.

    Warnings that do not come through ``warnings.warn`` (from C code, mostly rounding) are silent.
    """
    _switch.enter()
    try:
        yield
    finally:
        _switch.leave()


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the distinct warnings of this thread, one line each."""
    notes: list[str] = []
    token = _current.set(notes)
    try:
        yield notes
    finally:
        _current.reset(token)


def _warn(
    message: Warning | str,
    category: type[Warning] | None = None,
    stacklevel: int = 1,
    source: Any = None,
    **options: Any,
) -> None:
    notes = _current.get()
    if notes is None:  # not one of our fits
        _warn_before(message, category, stacklevel + 1, source, **options)
        return
    kind = type(message) if isinstance(message, Warning) else category or UserWarning
    line = f"{kind.__name__}: {str(message).strip().partition(chr(10))[0]}"
    if line not in notes:
        notes.append(line)

"""Keep the panic messages of a native library off the user's screen."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def without_panic_reports() -> Iterator[None]:
    """Hold back standard error, and drop what was written if Polars panics.

    On a damaged file Polars panics in its own threads. Python gets an exception, which becomes one
    message, but each panic has by then written a long trace to file descriptor 2. Without a panic,
    the output is passed on.
    """
    with _ONE_AT_A_TIME, tempfile.TemporaryFile() as held:
        try:
            before = os.dup(2)
        except OSError:  # there is no standard error
            yield
            return
        panicked = False
        os.dup2(held.fileno(), 2)
        try:
            yield
        except pl.exceptions.PanicException:
            panicked = True
            raise
        finally:
            os.dup2(before, 2)
            os.close(before)
            if not panicked:
                held.seek(0)
                report = held.read()
                if report:
                    os.write(2, report)

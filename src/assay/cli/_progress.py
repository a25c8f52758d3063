"""Progress on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Protocol, Self

import click

from assay.cli._errors import printable


class Step(Protocol):
    """What a fit reports."""

    @property
    def done(self) -> int:
        """Units finished."""

    @property
    def total(self) -> int:
        """Units in all."""

    @property
    def seconds_left(self) -> float | None:
        """None until it can be estimated."""

    @property
    def text(self) -> str:
        """What was done last."""


class Silent:
    """No progress at all."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def __call__(self, step: Step) -> None:
        """Print nothing."""


class Lines(Silent):
    """A line at first, then less and less often: logs stay short however long the fit."""

    _PAUSES = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0)

    def __init__(self) -> None:
        self._count = 0
        self._last = 0.0

    def __call__(self, step: Step) -> None:
        """Write a line if the last one was long enough ago, or all is done."""
        now = time.monotonic()
        pause = self._PAUSES[min(self._count, len(self._PAUSES) - 1)]
        if now - self._last < pause and step.done < step.total:
            return
        self._count += 1
        self._last = now
        click.echo(printable(line(step)), err=True)


class Bar(Silent):
    """A bar with the time left."""

    def __enter__(self) -> Self:
        # Rich takes longer to load than `assay --help` may take.
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, Progress, TextColumn  # noqa: PLC0415

        self._progress: Any = Progress(
            # The bar first: texts of changing length must not push it about.
            BarColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,  # what goes to a pipe must not end up on the terminal
        )
        self._task = self._progress.add_task("starting", total=None, left="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def __call__(self, step: Step) -> None:
        """Move the bar; it appears with the first step, below the lines about the table."""
        self._progress.start()
        self._progress.update(
            self._task,
            description=printable(step.text),
            completed=step.done,
            total=step.total or None,
            left=left(step.seconds_left),
        )


def progress(*, quiet: bool) -> Silent:
    """Return the display that suits standard error."""
    if quiet:
        return Silent()
    return Bar() if sys.stderr.isatty() else Lines()


def line(step: Step) -> str:
    """Return one step as a line."""
    if not step.total:
        return step.text
    parts = [f"{step.done:,} of {step.total:,} units ({100 * step.done // step.total}%)"]
    if step.done < step.total:
        parts += [text for text in (left(step.seconds_left), step.text) if text]
    return ", ".join(parts)


def left(seconds: float | None) -> str:
    """Return the time left in words.

    Examples
    --------
    >>> left(7.2), left(200), left(9000), left(None)
    ('about 7 s left', 'about 3 min left', 'about 2.5 h left', '')
    """
    if seconds is None or not seconds >= 0:
        return ""
    if seconds < 100:
        return f"about {max(1, round(seconds))} s left"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min left"
    return f"about {seconds / 3600:.1f} h left"

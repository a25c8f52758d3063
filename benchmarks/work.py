"""What a benchmark is: one piece of work, done by us and by peers."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Name of our own contestant.
OURS = "assay"


@dataclass(frozen=True)
class Contestant:
    """One way to do the work.

    `load` imports what is needed and returns the call that is timed; `needs` is the module without
    which the contestant is skipped; `before` does the same for what happens to the data before the
    clock starts (a fit, where predictions are timed); of one that takes minutes (`once`), the first
    call is the one that is timed.
    """

    name: str
    load: Callable[[], Callable[[Any], Any]]
    needs: str | None = None
    before: Callable[[], Callable[[Any], Any]] | None = None
    once: bool = False

    def installed(self) -> bool:
        return self.needs is None or importlib.util.find_spec(self.needs) is not None


@dataclass(frozen=True)
class Work:
    """One row of a benchmark: data, contestants, and how their results are compared.

    `quality` compares a result with that of the contestant named `reference`; `bars` are the ratios
    to reach, by peer. `summary` makes of the data and a result what `quality` needs of it, so that
    no model has to leave its process; `repeats` is the largest number of timed calls; works that
    are heavy run `alone`, one contestant after the other; without `file` the work is skipped.
    """

    name: str
    data: Callable[[], Any]
    contestants: tuple[Contestant, ...]
    reference: str
    quality: Callable[[Any, Any, Any], str]
    bars: dict[str, float] = field(default_factory=dict)
    summary: Callable[[Any, Any], Any] | None = None
    repeats: int | None = None
    alone: bool = False
    file: Path | None = None

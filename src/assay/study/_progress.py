"""How far a fit is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a fit is.

    Parameters
    ----------
    done, total : int
        Units of work.
    seconds_left : float or None
        None until it can be estimated.
    text : str
        What was done last.
    """

    done: int
    total: int
    seconds_left: float | None
    text: str


def with_progress(
    progress: Callable[[Progress], object] | None,
) -> Callable[[int, int, float | None, str], None] | None:
    """Return a callback for a search that passes a `Progress` on."""
    if progress is None:
        return None

    def pass_on(done: int, total: int, seconds_left: float | None, text: str) -> None:
        progress(Progress(done, total, seconds_left, text))

    return pass_on

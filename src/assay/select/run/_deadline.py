"""Deadlines and time spans."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import monotonic

from assay.base import ParameterError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds_of(budget: float | str) -> float:
    """Return a time span in seconds.

    Parameters
    ----------
    budget : float or str
        Seconds, or a number with a unit: "90s", "10m", "1.5h".

    Raises
    ------
    ParameterError
        If it is not a positive span.

    Examples
    --------
    >>> seconds_of("10m"), seconds_of("1.5h"), seconds_of(20)
    (600.0, 5400.0, 20.0)
    """
    found = re.fullmatch(r"([0-9]*\.?[0-9]+) *([smh]?)", str(budget).strip().lower())
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if isinstance(budget, bool) or not seconds > 0:
        raise ParameterError(
            f"budget must be a positive time such as '90s', '10m' or '1.5h'; got {budget!r}"
        )
    return seconds


class Deadline:
    """A moment after which no unit is started.

    Parameters
    ----------
    seconds : float
        Time from now on.
    now : callable, default=time.monotonic
        The clock; tests give their own.

    Examples
    --------
    >>> times = iter([0.0, 4.0, 11.0])
    >>> deadline = Deadline(10.0, lambda: next(times))
    >>> deadline.left(), deadline.left()
    (6.0, -1.0)
    """

    def __init__(self, seconds: float, now: Callable[[], float] = monotonic) -> None:
        self.seconds = seconds
        self._now = now
        self._end = now() + seconds

    def left(self) -> float:
        """Return the seconds left; negative once it has passed."""
        return self._end - self._now()

    def passed(self) -> bool:
        """Return whether it has passed."""
        return self.left() <= 0

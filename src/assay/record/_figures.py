"""How numbers of a record are written: one rule for pages, terminals and sentences."""

from __future__ import annotations

import math
from typing import Protocol


class HasInterval(Protocol):
    """A number with the ends of its interval."""

    @property
    def value(self) -> float:
        """The estimate."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""

    @property
    def level(self) -> float:
        """Confidence level."""


def finite(value: float | None) -> float | None:
    """Return a number that can be drawn and printed, or None."""
    return None if value is None or not math.isfinite(value) else value


def decimals(entry: HasInterval) -> int:
    """Return how many decimals an interval deserves: two digits of its half-width.

    Examples
    --------
    >>> from assay.record import Estimate
    >>> decimals(Estimate(value=0.8671, low=0.838, high=0.896, level=0.95))
    3
    >>> decimals(Estimate(value=48321.0, low=45100.0, high=51500.0, level=0.95))
    0
    """
    low, high, value = finite(entry.low), finite(entry.high), finite(entry.value)
    if low is not None and high is not None and high > low:
        return decimals_of_width(high - low)
    if value:
        return min(6, max(0, 3 - math.floor(math.log10(abs(value)))))
    return 3


def decimals_of_width(width: float) -> int:
    """Return how many decimals show two digits of half a width.

    Examples
    --------
    >>> decimals_of_width(0.058), decimals_of_width(6400.0)
    (3, 0)
    """
    return min(6, max(0, 1 - math.floor(math.log10(width / 2))))


def figure(value: float | None, places: int) -> str:
    """Return a number with `places` decimals and thousands separators, or a dash if absent.

    Examples
    --------
    >>> figure(48321.4, 0), figure(0.8671, 3), figure(-0.00001, 3), figure(None, 3)
    ('48,321', '0.867', '0.000', '–')
    """
    value = finite(value)
    if value is None:
        return "–"
    if abs(value) >= 1e15:
        return f"{value:.4g}"
    text = f"{value:,.{places}f}"
    # No "-0.000": the sign of a rounded zero only puzzles.
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text.replace("-", "−")

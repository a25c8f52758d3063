"""Counts that may also be given as a fraction."""

from __future__ import annotations

from numbers import Integral

from assay.base import ParameterError, check_interval


def check_count_or_share(name: str, value: object) -> None:
    """Raise unless `value` is an integer >= 1, a fraction in (0, 1] or None."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        check_interval(name, value, 1, integer=True)
        return
    try:
        check_interval(name, value, 0, 1, open_low=True, options=[None])
    except ParameterError:
        raise ParameterError(
            f"{name} must be an integer >= 1, a fraction in (0, 1] or None; got {value!r}"
        ) from None


def as_count(name: str, value: float, available: int, what: str) -> int:
    """Return a count or a fraction of `available` as a count, at least 1."""
    if not isinstance(value, Integral):
        return max(1, round(value * available))
    if value > available:
        raise ParameterError(f"{name} must be at most {available}, the {what}; got {value}")
    return int(value)

"""Counts that may also be given as a share of what there is."""

from __future__ import annotations

from numbers import Integral

from assay.base import ParameterError, check_interval


def check_count_or_share(name: str, value: object) -> None:
    """Refuse what is no integer from 1, no share in (0, 1] and not None."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        check_interval(name, value, 1, integer=True)
        return
    try:
        check_interval(name, value, 0, 1, open_low=True, options=[None])
    except ParameterError:
        raise ParameterError(
            f"{name} must be an integer >= 1, a share in (0, 1] or None; got {value!r}"
        ) from None


def as_count(name: str, value: float, available: int, what: str) -> int:
    """Return how many of `available` a count or share stands for, at least 1."""
    if not isinstance(value, Integral):
        return max(1, round(value * available))
    if value > available:
        raise ParameterError(f"{name} must be at most {available}, the {what}; got {value}")
    return int(value)

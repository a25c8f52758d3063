"""One parameter of a space: a range, a choice, or a distribution of scipy.stats."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from assay.base import ParameterError, check_interval


class Dimension(Protocol):
    """One parameter of a space."""

    @property
    def n_options(self) -> int | None:
        """Number of unordered options; None for an ordered range."""

    def at(self, u: float) -> Any:
        """Return the value at a coordinate of [0, 1)."""

    def levels(self, n: int) -> list[Any]:
        """Return at most `n` values that cover the range, or all options."""


@dataclass(frozen=True)
class Real:
    """A real number between two bounds.

    Parameters
    ----------
    low, high : float
        The bounds, both included.
    log : bool, default=False
        Whether to sample uniformly on a logarithmic scale.

    Examples
    --------
    >>> Real(0.001, 1000.0, log=True).levels(3)
    [0.001, 1.0, 1000.0]
    """

    low: float
    high: float
    log: bool = False
    n_options = None

    def __post_init__(self) -> None:
        _check_bounds(self.low, self.high, self.log)

    def at(self, u: float) -> float:
        """Return the value at a coordinate of [0, 1]."""
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            return min(max(math.exp(low + u * (high - low)), self.low), self.high)
        return min(max(self.low + u * (self.high - self.low), self.low), self.high)

    def levels(self, n: int) -> list[float]:
        """Return `n` evenly spread values."""
        # Twelve digits: 10^0 computed by logarithms should read 1.0 in a report.
        return without_repeats(float(f"{self.at(u):.12g}") for u in _spread(n))


@dataclass(frozen=True)
class Integer:
    """A whole number between two bounds.

    Parameters
    ----------
    low, high : int
        The bounds, both included.
    log : bool, default=False
        Whether to sample uniformly on a logarithmic scale.

    Examples
    --------
    >>> Integer(1, 100, log=True).levels(3)
    [1, 10, 100]
    """

    low: int
    high: int
    log: bool = False
    n_options = None

    def __post_init__(self) -> None:
        check_interval("low", self.low, integer=True)
        check_interval("high", self.high, integer=True)
        _check_bounds(self.low, self.high, self.log)

    def at(self, u: float) -> int:
        """Return the value at a coordinate of [0, 1]."""
        # Each integer has the interval of half a unit on either side.
        wide = Real(self.low - 0.5, self.high + 0.5, self.log)
        return min(max(math.floor(wide.at(u) + 0.5), self.low), self.high)

    def levels(self, n: int) -> list[int]:
        """Return at most `n` evenly spread values."""
        if n > self.high - self.low:
            return list(range(self.low, self.high + 1))
        ends = Real(self.low, self.high, self.log)
        return without_repeats(math.floor(ends.at(u) + 0.5) for u in _spread(n))


class Choice:
    """One of several unordered options.

    Parameters
    ----------
    *options : object
        Values of any kind, also estimators.

    Examples
    --------
    >>> Choice("uniform", "distance").at(0.7)
    'distance'
    """

    def __init__(self, *options: Any) -> None:
        if not options:
            raise ParameterError("Choice must have at least one option; got none")
        self.options = options
        self.n_options = len(options)

    def __repr__(self) -> str:
        return f"Choice({', '.join(map(repr, self.options))})"

    def at(self, u: float) -> Any:
        """Return the option at a coordinate of [0, 1]."""
        return self.options[min(int(u * self.n_options), self.n_options - 1)]

    def levels(self, n: int) -> list[Any]:  # noqa: ARG002
        """Return all options."""
        return list(self.options)


class Quantile:
    """A distribution of scipy.stats, by its quantile function.

    Parameters
    ----------
    distribution : frozen distribution
        Anything with a ``ppf``, such as ``scipy.stats.loguniform(1e-3, 1e3)``.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> Quantile(uniform(2, 4)).at(0.5)
    4.0
    """

    n_options = None

    def __init__(self, distribution: Any) -> None:
        self.distribution = distribution
        self._is_whole = np.asarray(distribution.ppf(0.5)).dtype.kind in "iu" or hasattr(
            distribution, "pmf"
        )

    def at(self, u: float) -> Any:
        """Return the quantile of a probability; those of 0 and 1 may be infinite and are avoided.

        Parameters
        ----------
        u : float
            The probability.
        """
        value = float(self.distribution.ppf(min(max(u, 1e-6), 1 - 1e-6)))
        return int(value) if self._is_whole else value

    def levels(self, n: int) -> list[Any]:
        """Return the quantiles in the middle of `n` equal shares."""
        return without_repeats(self.at((i + 0.5) / n) for i in range(n))


def _check_bounds(low: float, high: float, log: bool) -> None:
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ParameterError(f"low and high must be finite, low <= high; got {low!r} and {high!r}")
    if log and low <= 0:
        raise ParameterError(f"low must be positive with log=True; got {low!r}")


def _spread(n: int) -> list[float]:
    return [0.5] if n == 1 else [i / (n - 1) for i in range(n)]


def without_repeats(values: Iterable[Any]) -> list[Any]:
    """Return the distinct values, in order; other than plain values are compared as objects."""
    found: list[Any] = []
    for value in values:
        if not any(
            value is each or (type(value) is type(each) and value == each) for each in found
        ):
            found.append(value)
    return found


def _equal(a: Any, b: Any) -> bool:
    return isinstance(a, str | int | float | bool) and type(a) is type(b) and bool(a == b)

"""Parameter spaces: points of a unit cube, mapped to values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.base import ParameterError, check_interval
from assay.select.plan import digest
from assay.select.searches._space_dimensions import (
    Choice,
    Dimension,
    Integer,
    Quantile,
    Real,
    without_repeats,
)

#: Parameter names with their ranges; several mappings are alternatives.
SpaceLike = Mapping[str, Any] | Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Space:
    """Alternatives, each with its own parameters.

    Parameters
    ----------
    branches : tuple of dict
        Dimension by parameter name, in alphabetical order. The branch of a point decides which
        parameters it has, so a parameter can depend on another.
    """

    branches: tuple[dict[str, Dimension], ...]

    @classmethod
    def of(cls, given: SpaceLike | Space, name: str = "space") -> Space:
        """Read a space as users write it.

        Parameters
        ----------
        given : mapping, or sequence of mappings
            By parameter a `Real`, `Integer`, `Choice`, a list of options, or a distribution of
            scipy.stats; several mappings are alternatives, as in `RandomizedSearchCV`.
        name : str
            Name of the argument in a message.
        """
        if isinstance(given, Space):
            return given
        parts = [given] if isinstance(given, Mapping) else given
        if not isinstance(parts, Sequence) or not all(isinstance(each, Mapping) for each in parts):
            raise ParameterError(f"{name} must be a dict or a list of dicts; got {given!r}")
        if not parts:
            raise ParameterError(f"{name} must hold at least one dict; got none")
        return cls(
            tuple(
                {key: _dimension(part[key], f"{name}[{key!r}]") for key in sorted(part)}
                for part in parts
            )
        )

    @property
    def width(self) -> int:
        """Number of coordinates: one for the branch, if there are several, and the rest."""
        return (len(self.branches) > 1) + max(map(len, self.branches))

    def at(self, point: Sequence[float] | NDArray[np.float64]) -> dict[str, Any]:
        """Return the parameters at a point of the unit cube of `width` coordinates."""
        branch, rest = self.branch_at(point)
        return {
            name: dimension.at(float(u))
            for (name, dimension), u in zip(self.branches[branch].items(), rest, strict=False)
        }

    def branch_at(self, point: Sequence[float] | NDArray[np.float64]) -> tuple[int, Any]:
        """Return the branch a point is in, and its coordinates there."""
        if len(self.branches) == 1:
            return 0, point
        return min(int(point[0] * len(self.branches)), len(self.branches) - 1), point[1:]


def grid(space: SpaceLike | Space, levels: int = 5) -> list[dict[str, Any]]:
    """Return every combination of the values of a space.

    Parameters
    ----------
    space : dict or list of dict
        Lists of options, `Real`, `Integer`, `Choice`, or distributions of scipy.stats.
    levels : int, default=5
        Number of values taken from a range; lists are used in full.

    Returns
    -------
    list of dict
        In the order of scikit-learn's ``ParameterGrid``.

    Examples
    --------
    >>> grid({"C": Real(0.1, 10.0, log=True), "p": [2]}, levels=3)
    [{'C': 0.1, 'p': 2}, {'C': 1.0, 'p': 2}, {'C': 10.0, 'p': 2}]
    """
    check_interval("levels", levels, 1, integer=True)
    found = []
    for branch in Space.of(space).branches:
        values = [dimension.levels(levels) for dimension in branch.values()]
        found += [dict(zip(branch, each, strict=True)) for each in product(*values)]
    return found


def is_plain(space: Any) -> bool:
    """Return whether a space has lists only, like scikit-learn's grids."""
    parts = space if isinstance(space, list | tuple) else [space]
    ranges = Real | Integer | Choice | Quantile
    return all(
        not isinstance(value, ranges) and not hasattr(value, "rvs")
        for part in parts
        if isinstance(part, Mapping)
        for value in part.values()
    )


def space_of(candidates: Sequence[Mapping[str, Any]]) -> Space:
    """Return the smallest space that a list of candidates spans.

    Parameters
    ----------
    candidates : sequence of dict
        A grid. Candidates with the same parameters make one branch, and a branch is there as often
        as it has candidates in the grid, to the nearest share.

    Returns
    -------
    Space
        Three or more numbers span a range, logarithmic if its ends differ by a factor of 10 or
        more; anything else is a choice.

    Examples
    --------
    >>> space_of([{"C": 0.1}, {"C": 1.0}, {"C": 10.0}]).branches
    ({'C': Real(low=0.1, high=10.0, log=True)},)
    """
    parts: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for candidate in candidates:
        parts.setdefault(tuple(sorted(candidate)), []).append(candidate)
    fewest = min(map(len, parts.values()))
    branches: list[dict[str, Dimension]] = []
    for names, members in parts.items():
        branch = {name: _spanned([each[name] for each in members]) for name in names}
        branches += [branch] * max(1, round(len(members) / fewest))
    return Space(tuple(branches))


def distinct(candidates: Iterator[dict[str, Any]], n: int) -> list[dict[str, Any]]:
    """Return the first `n` candidates that differ."""
    found: dict[str, dict[str, Any]] = {}
    for candidate in candidates:
        found.setdefault(digest(candidate, "candidate"), candidate)
        if len(found) == n:
            break
    return list(found.values())


def _spanned(values: Sequence[Any]) -> Dimension:
    options = without_repeats(values)
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in options)
    if not numbers or len(options) < 3:
        return Choice(*options)
    low, high = min(options), max(options)
    log = low > 0 and high >= 10 * low
    whole = all(isinstance(each, int) for each in options)
    return Integer(low, high, log) if whole else Real(float(low), float(high), log)


def _dimension(given: Any, where: str) -> Dimension:
    if isinstance(given, Real | Integer | Choice | Quantile):
        return given
    if hasattr(given, "ppf"):
        return Quantile(given)
    if hasattr(given, "rvs"):
        raise ParameterError(
            f"{where} must be a distribution with a quantile function (ppf); got {given!r}"
        )
    if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes):
        if not len(given):
            raise ParameterError(f"{where} must have at least one option; got none")
        return Choice(*given)
    raise ParameterError(
        f"{where} must be a list of options, Real, Integer, Choice or a distribution of "
        f"scipy.stats; got {given!r}"
    )

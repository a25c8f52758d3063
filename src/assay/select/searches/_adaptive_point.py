"""Points and trials: what the samplers of an adaptive search propose and learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from assay.select.plan import digest
from assay.select.searches._sobol import cube
from assay.select.searches._space import Space


@dataclass(frozen=True)
class Point:
    """A point of a space: the branch, and one coordinate in [0, 1] per parameter."""

    branch: int
    place: tuple[float, ...]

    def params(self, space: Space) -> dict[str, Any]:
        """Return the parameters at this place."""
        dimensions = space.branches[self.branch].items()
        return {name: each.at(u) for (name, each), u in zip(dimensions, self.place, strict=True)}

    def identity(self, space: Space) -> str:
        """Return a key that is equal for points of the same candidate."""
        return digest([self.branch, self.params(space)], "candidate")


@dataclass(frozen=True)
class Trial:
    """A candidate that was tried; `score` is its inner score, greater is better, NaN if none."""

    point: Point
    params: dict[str, Any]
    score: float


class Proposer(Protocol):
    """A sampler: the next points, as a function of the seed, the search and its trials alone."""

    def propose(self, space: Space, trials: Sequence[Trial], n: int, key: str) -> list[Point]:
        """Return at most `n` points; `key` names the seed, the search and the step."""


def start_points(space: Space, n: int, seed: int) -> list[Point]:
    """Return the points that every search begins with: Sobol points, fixed before any score."""
    found: dict[str, Point] = {}
    for corner in cube(space.width, n, seed):
        branch, rest = space.branch_at(corner)
        point = Point(branch, tuple(float(u) for u in rest[: len(space.branches[branch])]))
        found.setdefault(point.identity(space), point)
        if len(found) == n:
            break
    return list(found.values())


def best_first(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials that have a score, best first; ties go to the earlier one."""
    able = [each for each in trials if np.isfinite(each.score)]
    # Equal means summed in another order must stay tied.
    return sorted(able, key=lambda each: -float(f"{each.score:.12g}"))

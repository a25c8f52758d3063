"""Population-based search: recombine the parameters of the best, mutate, cull the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.select.plan import stream
from assay.select.searches._adaptive_point import Point, Trial, best_first
from assay.select.searches._space import Space

# Attempts to make a child that was not tried before.
_ATTEMPTS = 30


class Population:
    r"""A small genetic algorithm on the coordinates of a space.

    Parameters
    ----------
    size : int
        Number of children per generation; half as many of the best trials are parents.
    mutation : float, default=0.15
        Standard deviation of a mutated coordinate in the first generation, of a range of 1; it
        shrinks by a quarter with each, down to a tenth of this.
    fresh : float, default=0.1
        Share of random points in a generation.

    Notes
    -----
    A child takes the branch of its first parent and each coordinate from either parent with equal
    probability, where both have the parameter. One coordinate at least is then mutated, each of d
    with probability 1/d: a range by :math:`u' = u + \sigma z` reflected into [0, 1], a choice by a
    new draw. Parents are drawn with probability falling linearly in their rank. The points
    are a function of the key and the earlier trials only.
    """

    def __init__(self, size: int, mutation: float = 0.15, fresh: float = 0.1) -> None:
        self.size = size
        self.mutation = mutation
        self.fresh = fresh

    def propose(self, space: Space, trials: Sequence[Trial], n: int, key: str) -> list[Point]:
        """Return the next generation.

        Parameters
        ----------
        space : Space
            The parameters and their ranges.
        trials : sequence of Trial
            All earlier trials of this search.
        n : int
            Maximum number of points.
        key : str
            Identifies the seed, the search and the step.
        """
        random = stream(key, "population")
        tried = {each.point.identity(space) for each in trials}
        parents = self._parents(space, trials)
        generation = max(len(trials) // self.size - 1, 0)
        scale = self.mutation * max(0.75**generation, 0.1)
        children: list[Point] = []
        for _ in range(min(n, self.size)):
            for _ in range(_ATTEMPTS):
                child = self._child(space, parents, scale, random)
                if child.identity(space) not in tried:
                    tried.add(child.identity(space))
                    children.append(child)
                    break
        return children

    def _parents(self, space: Space, trials: Sequence[Trial]) -> list[Point]:
        unlike = {each.point.identity(space): each.point for each in reversed(best_first(trials))}
        return list(unlike.values())[::-1][: max(2, self.size // 2)]

    def _child(
        self, space: Space, parents: Sequence[Point], scale: float, random: np.random.Generator
    ) -> Point:
        if len(parents) < 2 or random.random() < self.fresh:
            branch = int(random.integers(len(space.branches)))
            return Point(branch, tuple(random.random(len(space.branches[branch])).tolist()))
        chance = np.arange(len(parents), 0, -1.0)
        first, second = random.choice(len(parents), 2, replace=False, p=chance / chance.sum())
        one, other = parents[first], parents[second]
        names = list(space.branches[one.branch])
        theirs = dict(zip(space.branches[other.branch], other.place, strict=True))
        mixed = [
            theirs[name] if name in theirs and random.random() < 0.5 else u
            for name, u in zip(names, one.place, strict=True)
        ]
        return Point(one.branch, _mutated(space, one.branch, mixed, scale, random))


def _mutated(
    space: Space, branch: int, place: list[float], scale: float, random: np.random.Generator
) -> tuple[float, ...]:
    if not place:
        return ()
    hit = random.random(len(place)) < 1 / len(place)
    hit[random.integers(len(place))] = True
    for i, dimension in enumerate(space.branches[branch].values()):
        if not hit[i]:
            continue
        if dimension.n_options is not None:
            place[i] = float(random.random())
        else:
            moved = abs(place[i] + scale * float(random.standard_normal()))
            place[i] = min(max(1 - abs(1 - moved), 0.0), 1.0)
    return tuple(place)

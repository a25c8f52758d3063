"""Numbered pairs of items of one query, without a table of all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from assay.evaluate import Queries
from assay.evaluate.ranking_costs import Cost, costs_of_pairs

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of a table, numbered; an item is paired with the first items of its query.

    Parameters
    ----------
    order : ndarray of int64 of shape (n,)
        The rows, query after query, in a fixed order within each query.
    first : ndarray of int64 of shape (n,)
        Start of the query of each row.
    ends : ndarray of int64 of shape (n,)
        Running sum of the number of partners of each row.

    Notes
    -----
    Pair number t belongs to the first item p with ``ends[p] > t``; its partner is the item
    ``first[p] + t - (ends[p] - partners)``. O(log n) per pair, O(n) memory for any number of pairs.

    Examples
    --------
    >>> pairs = Pairs.of_items(Queries.of([7, 7, 7, 8, 8], 5))
    >>> [part.tolist() for part in pairs.rows(np.arange(len(pairs)))]
    [[1, 2, 2, 4], [0, 0, 1, 3]]
    """

    order: Rows
    first: Rows
    ends: Rows

    @classmethod
    def of_items(cls, queries: Queries) -> Self:
        """Return every pair of items of one query, once."""
        first = np.repeat(queries.starts[:-1], queries.sizes)
        return cls(queries.order, first, np.cumsum(np.arange(len(first)) - first))

    @classmethod
    def of_levels(cls, queries: Queries, y: NDArray[np.float64], cost: Cost | None) -> Self:
        """Return every pair of items of one query that differ in y, the better one first.

        Pairs whose better item costs nothing for any position of the other are left out; with a
        monotone cost these are all pairs without cost.
        """
        order = np.lexsort((y, queries.codes))
        code, level = queries.codes[order], y[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (level[1:] != level[:-1]) | (code[1:] != code[:-1])
        ties = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
        first = queries.starts[code]
        count = ties - first
        if cost is not None:
            place = queries.positions(y)[order]
            last = np.maximum.reduceat(place, queries.starts[:-1])[code]
            count = np.where(costs_of_pairs(cost, place, last) > 0, count, 0)
        return cls(order, first, np.cumsum(count))

    def __len__(self) -> int:
        """Return the number of pairs."""
        return int(self.ends[-1])

    def rows(self, numbers: Rows) -> tuple[Rows, Rows]:
        """Return both rows of the pairs with these numbers."""
        item = np.searchsorted(self.ends, numbers, side="right")
        before = np.where(item > 0, self.ends[item - 1], 0)
        return self.order[item], self.order[self.first[item] + numbers - before]

    def blocks(self, size: int) -> Iterator[tuple[Rows, Rows]]:
        """Yield all pairs, `size` of them at a time."""
        for start in range(0, len(self), size):
            yield self.rows(np.arange(start, min(start + size, len(self))))

    def drawn(self, queries: Queries, most: int | None, seed: int) -> tuple[Rows, Rows]:
        """Return all pairs; from queries with more than `most` pairs, `most` drawn at random."""
        if most is None:
            return self.rows(np.arange(len(self)))
        ends = np.concatenate([[0], self.ends])[queries.starts]
        counts = np.diff(ends)
        picked = []
        for query in range(len(queries)):
            if counts[query] <= most:
                numbers = np.arange(counts[query])
            else:
                stream = np.random.default_rng((seed, query))
                numbers = np.sort(stream.choice(counts[query], most, replace=False))
            picked.append(ends[query] + numbers)
        return self.rows(np.concatenate(picked))

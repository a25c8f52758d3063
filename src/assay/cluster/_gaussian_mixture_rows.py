"""The rows of a table grouped by their observed columns, as the mixture kernels read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Rows that NumPy processes at a time, so that no temporary is as large as the table.
CHUNK = 16_384


@dataclass(frozen=True)
class Rows:
    """A table, and its rows grouped by their missing values.

    Parameters
    ----------
    table : ndarray of shape (n_samples, n_features)
        C-ordered; NaN where a value is missing.
    order : ndarray of int64
        Row numbers, group after group; empty when no value is missing.
    ends : ndarray of int64 of shape (n_groups,)
        End of each group in `order`.
    observed : ndarray of uint8 of shape (n_groups, n_features)
        1 for the observed columns of a group.
    """

    table: NDArray[Any]
    order: NDArray[np.int64]
    ends: NDArray[np.int64]
    observed: NDArray[np.uint8]

    @classmethod
    def of(cls, table: NDArray[Any]) -> Rows:
        """Group the rows of a table; a table without missing values is returned unchanged.

        Examples
        --------
        >>> rows = Rows.of(np.array([[1.0, np.nan], [2.0, 3.0], [4.0, np.nan]]))
        >>> rows.order.tolist(), rows.ends.tolist(), rows.observed.tolist()
        ([0, 2, 1], [2, 3], [[1, 0], [1, 1]])
        """
        if not any(np.isnan(part).any() for part in chunks(table)):
            none = np.empty(0, dtype=np.int64)
            return cls(table, none, none, np.empty((0, table.shape[1]), dtype=np.uint8))
        packed = np.vstack([np.packbits(~np.isnan(part), axis=1) for part in chunks(table)])
        patterns, group = np.unique(packed, axis=0, return_inverse=True)
        group = group.reshape(-1)
        order = np.argsort(group, kind="stable").astype(np.int64)
        ends = np.cumsum(np.bincount(group, minlength=len(patterns))).astype(np.int64)
        observed = np.unpackbits(patterns, axis=1, count=table.shape[1])
        return cls(table, order, ends, np.ascontiguousarray(observed))

    @property
    def complete(self) -> bool:
        """Whether no value is missing."""
        return not len(self.order)

    def column_means(self) -> NDArray[np.float64]:
        """Return the mean of the observed values of each column; NaN for a column without any."""
        start = np.zeros(self.table.shape[1])
        if self.complete:
            start = self.table[0].astype(np.float64)  # a sum of differences is more accurate
        total, count = np.zeros_like(start), np.zeros_like(start)
        for part in chunks(self.table):
            gap = part - start
            known = ~np.isnan(gap)
            total += np.where(known, gap, 0.0).sum(axis=0)
            count += known.sum(axis=0)
        with np.errstate(invalid="ignore"):
            return start + total / count

    def arguments(self) -> tuple[Any, ...]:
        """Return the first arguments of every kernel."""
        return self.table, self.order, self.ends, self.observed


def chunks(table: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Cut a table into parts of `CHUNK` rows.

    Examples
    --------
    >>> [len(part) for part in chunks(np.zeros((20_000, 1)))]
    [16384, 3616]
    """
    for begin in range(0, len(table), CHUNK):
        yield table[begin : begin + CHUNK]

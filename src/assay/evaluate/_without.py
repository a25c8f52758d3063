"""Sums without the rows of one group, for every group at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Without:
    """Rows, groups and weights for leave-one-group-out sums.

    Parameters
    ----------
    group : ndarray of int64 of shape (n,)
        Group of each row, from 0.
    n_groups : int
        Number of groups; some may have no row here.
    weight : ndarray of shape (n,), optional
        Weight of each row.

    Examples
    --------
    >>> rest = Without(np.array([0, 1, 1, 2]), 3)
    >>> rest.sums(np.array([1.0, 10.0, 20.0, 300.0]))
    array([330., 301.,  31.])
    >>> rest.counts(np.array([0, 0, 1, 1]), 2)
    array([[1., 2.],
           [1., 1.],
           [2., 1.]])
    """

    group: NDArray[np.int64]
    n_groups: int
    weight: Array | None = None

    @property
    def weights(self) -> Array:
        """The weight of each row."""
        return np.ones(len(self.group)) if self.weight is None else self.weight

    def total(self) -> Array:
        """Return the total weight without each group, of shape (n_groups,)."""
        return _all_but_one(np.bincount(self.group, self.weight, self.n_groups))

    def sums(self, values: Array) -> Array:
        """Return the weighted sum of `values` without each group, of shape (n_groups,)."""
        mine = values if self.weight is None else values * self.weight
        return _all_but_one(np.bincount(self.group, mine, self.n_groups))

    def counts(
        self, codes: NDArray[np.int64], n_codes: int, where: NDArray[np.bool_] | None = None
    ) -> Array:
        """Return the weight of each code without each group, of shape (n_groups, n_codes)."""
        cell, weight = self.group * n_codes + codes, self.weight
        if where is not None:
            cell, weight = cell[where], None if weight is None else weight[where]
        found = np.bincount(cell, weight, self.n_groups * n_codes)
        return _all_but_one(found.reshape(self.n_groups, n_codes))

    def dense(self) -> Array:
        """Return the weights as a matrix of shape (n_groups, n)."""
        kept: Array = (self.group != np.arange(self.n_groups)[:, None]).astype(np.float64)
        return kept if self.weight is None else kept * self.weight


def _all_but_one(part: NDArray[Any]) -> Array:
    """Sum the other groups without a subtraction, so that zeros sum to exactly zero."""
    others = np.zeros(part.shape)
    others[1:] = np.cumsum(part[:-1], axis=0)
    others[:-1] += np.cumsum(part[:0:-1], axis=0)[::-1]
    return others

"""One split of the rows into blocks, and which rows a fit on some of them may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.select.plan._canonical import digest


@dataclass(frozen=True, eq=False)
class Partition:
    """Rows in blocks.

    Parameters
    ----------
    labels : ndarray of int64 of shape (n_samples,)
        Block of each row.
    purge : ndarray of int64 of shape (n_samples,), optional
        Groups that cross blocks (forward in time): rows of a group that is tested take no part in
        training.
    """

    labels: NDArray[np.int64]
    purge: NDArray[np.int64] | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of who is where."""
        return digest([self.labels, self.purge])

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows in each block."""
        return np.bincount(self.labels)

    def rows(self, block: int) -> NDArray[np.int64]:
        """Rows of one block, ascending."""
        return np.flatnonzero(self.labels == block)

    def train_rows(self, train: Sequence[int], tests: Sequence[int]) -> NDArray[np.int64]:
        """Rows a fit on the blocks `train` may see when the blocks `tests` will judge it."""
        seen = np.isin(self.labels, np.asarray(train))
        if self.purge is not None:
            tested = np.unique(self.purge[np.isin(self.labels, np.asarray(tests))])
            seen &= ~np.isin(self.purge, tested)
        return np.flatnonzero(seen)

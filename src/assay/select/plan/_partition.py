"""One partition of the rows into blocks, and the rows that a fit may use."""

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
        """SHA-256 of the assignment."""
        return digest([self.labels, self.purge])

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Rows in each block."""
        return np.bincount(self.labels)

    def rows(self, block: int) -> NDArray[np.int64]:
        """Rows of one block, ascending."""
        return np.flatnonzero(self.labels == block)

    def train_rows(self, train: Sequence[int], tests: Sequence[int]) -> NDArray[np.int64]:
        """Return the rows that a fit on the blocks `train` may use when it is scored on `tests`."""
        seen = np.isin(self.labels, np.asarray(train))
        if self.purge is not None:
            tested = np.unique(self.purge[np.isin(self.labels, np.asarray(tests))])
            seen &= ~np.isin(self.purge, tested)
        return np.flatnonzero(seen)

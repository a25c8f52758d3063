"""Values of columns whose bins hold several values, for random thresholds in small nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from assay._core import tree as kernels
from assay.tree.engine._bins import Bins


@dataclass(frozen=True)
class FineRows:
    """Some columns of a table, stored by row.

    Parameters
    ----------
    slots : ndarray of int32 of shape (n_features,)
        Position of each column of the table in `values`; -1 = its bins are exact enough.
    values : ndarray of float32 of shape (n_samples, n_columns)
        The values, rounded down; padded with zeros to a multiple of 4 columns.

    Notes
    -----
    A bin of a long table holds hundreds of values, and a small node may lie within one bin of every
    column: extra-trees, which grow until every leaf is pure, could not split it. So nodes of at
    most 512 rows are split between any two values. Columns with missing values keep their bins, as
    do columns for which float32 would be coarser than the bins.
    """

    slots: NDArray[np.int32]
    values: NDArray[np.float32]

    @classmethod
    def none(cls) -> Self:
        """Return an instance without columns."""
        return cls(np.empty(0, dtype=np.int32), np.empty((0, 0), dtype=np.float32))

    @classmethod
    def build(cls, X: NDArray[Any], bins: Bins, n_threads: int = 1) -> Self:
        """Store the columns of a table that have more values than bins.

        Parameters
        ----------
        X : ndarray of float64 or float32 of shape (n_samples, n_features)
            The table, C order.
        bins : Bins
            The same table, binned.
        n_threads : int, default=1
            Threads.
        """
        chosen = [f for f in range(bins.n_features) if _is_coarse(bins, f)]
        if not chosen:
            return cls.none()
        slots = np.full(bins.n_features, -1, dtype=np.int32)
        slots[chosen] = np.arange(len(chosen), dtype=np.int32)
        values = np.zeros((bins.n_samples, -len(chosen) % 4 + len(chosen)), dtype=np.float32)
        kernels.fine_rows(X, slots, values, n_threads)
        return cls(slots, values)


def _is_coarse(bins: Bins, f: int) -> bool:
    """Whether a column has bins of several values, and float32 distinguishes at least its bins."""
    if bins.nominal[f] or bins.has_missing[f]:
        return False
    mine = slice(bins.bin_start[f], bins.bin_start[f] + bins.n_bins[f])
    lower, upper = bins.lower[mine], bins.upper[mine]
    if (lower == upper).all():
        return False
    most = float(np.finfo(np.float32).max)
    if lower[0] < -most or upper[-1] > most:
        return False
    low, high = _rounded_down(lower), _rounded_down(upper)
    return bool((high[:-1] < low[1:]).all() and (low < high).any())


def _rounded_down(values: NDArray[np.float64]) -> NDArray[np.float32]:
    near = values.astype(np.float32)
    return np.where(near <= values, near, np.nextafter(near, np.float32(-np.inf)))

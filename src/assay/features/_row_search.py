"""Nearest rows in a table with nominal columns and missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.neighbors import NearestNeighbors

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class RowSearch:
    """The k nearest rows by the mixed distance, up to a constant factor.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Numeric values and category codes, NaN where missing.
    nominal : ndarray of int64
        Which columns are nominal.
    k : int
        Number of neighbours.
    n_jobs : int or None
        Threads.

    Notes
    -----
    For complete numeric columns the mixed distance is the mean of the differences divided by the
    range: the Manhattan distance of scaled rows, which the engine searches fastest.
    """

    def __init__(self, rows: NDArray[Any], nominal: Integers, k: int, n_jobs: int | None) -> None:
        self._scale: tuple[Floats, Floats] | None = None
        metric, columns = "mixed", nominal.tolist()
        if not columns and not np.isnan(rows).any():
            # Halves: the range of very large numbers could overflow float64.
            low = rows.min(axis=0) / 2.0
            width = rows.max(axis=0) / 2.0 - low
            self._scale = low, np.where(width > 0, width, np.inf)
            metric, columns = "manhattan", None
        self._engine = NearestNeighbors(
            n_neighbors=k, metric=metric, categorical_features=columns, n_jobs=n_jobs
        ).fit(self._units(rows))

    def near(self, queries: NDArray[Any] | None = None) -> tuple[Floats, Integers]:
        """Return distances and rows; without queries, the other rows near each row."""
        found: tuple[Floats, Integers] = self._engine.kneighbors(
            None if queries is None else self._units(queries)
        )
        return found

    def _units(self, rows: NDArray[Any]) -> NDArray[Any]:
        if self._scale is None:
            return rows
        low, width = self._scale
        return np.asarray((rows / 2.0 - low) / width)

"""Sufficient statistics of naive Bayes before smoothing: sums, counts and stored values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.bayes._densities import Densities
from assay.bayes._sums import Sums

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """Which columns are Gaussian, which have kernel densities, which are nominal.

    Parameters
    ----------
    gaussian, kde, nominal : ndarray of int64
        Column numbers.
    offsets : ndarray of int64 of shape (n_nominal + 1,)
        Start of the categories of each nominal column.
    """

    gaussian: NDArray[np.int64]
    kde: NDArray[np.int64]
    nominal: NDArray[np.int64]
    offsets: NDArray[np.int64]


@dataclass(frozen=True)
class Summary:
    """Sufficient statistics of a set of rows.

    Parameters
    ----------
    weight : ndarray of float64 of shape (n_classes,)
        Weight of the rows of each class.
    sums : Sums
        Sums of the numeric columns, Gaussian ones first.
    levels : ndarray of float64 of shape (n_classes, n_levels)
        Weight of each category of each nominal column.
    densities : Densities
        Values of the columns with kernel densities.
    """

    weight: Array
    sums: Sums
    levels: Array
    densities: Densities

    @classmethod
    def of(
        cls,
        rows: NDArray[Any],
        codes: NDArray[np.int32],
        weight: Array | None,
        n_classes: int,
        columns: Columns,
        n_threads: int,
        *,
        with_densities: bool = True,
    ) -> Summary:
        """Summarise rows whose nominal columns are codes."""
        own = np.bincount(codes, weights=weight, minlength=n_classes).astype(np.float64)
        numeric = np.concatenate([columns.gaussian, columns.kde])
        if len(numeric) == 0:
            sums = Sums(np.zeros((5, n_classes, 0)))
        else:
            sums = Sums.of(rows, codes, weight, n_classes, n_threads)
            if not np.array_equal(numeric, np.arange(rows.shape[1])):
                sums = sums.columns(numeric)
        kept = rows[:, columns.kde] if with_densities else rows[:0, columns.kde]
        n_kept = len(kept)
        return cls(
            own,
            sums,
            _level_weights(rows, codes, weight, n_classes, columns),
            Densities.of(
                kept, codes[:n_kept], None if weight is None else weight[:n_kept], n_classes
            ),
        )

    def plus(self, other: Summary) -> Summary:
        """Return the summary of both sets of rows together."""
        return Summary(
            self.weight + other.weight,
            self.sums.plus(other.sums),
            self.levels + other.levels,
            self.densities.plus(other.densities),
        )

    def less(self, other: Summary, densities: Densities) -> Summary:
        """Return the summary of the rows not in `other`; `densities` holds their values."""
        return Summary(
            self.weight - other.weight,
            self.sums.plus(other.sums, -1.0),
            self.levels - other.levels,
            densities,
        )

    def classes(self, chosen: NDArray[np.int64]) -> Summary:
        """Return the summary for some classes; densities are not changed."""
        return replace(
            self,
            weight=self.weight[chosen],
            sums=self.sums.classes(chosen),
            levels=np.ascontiguousarray(self.levels[chosen]),
        )


def _level_weights(
    rows: NDArray[Any],
    codes: NDArray[np.int32],
    weight: Array | None,
    n_classes: int,
    columns: Columns,
) -> Array:
    out = np.zeros((n_classes, int(columns.offsets[-1])))
    for c, j in enumerate(columns.nominal):
        begin, end = columns.offsets[c], columns.offsets[c + 1]
        n_levels = int(end - begin)
        known = rows[:, j] < n_levels  # false for NaN, and for categories of other rows
        cell = codes[known].astype(np.int64) * n_levels + rows[known, j].astype(np.int64)
        own = None if weight is None else weight[known]
        counts = np.bincount(cell, weights=own, minlength=n_classes * n_levels)
        out[:, begin:end] = counts.reshape(n_classes, n_levels)
    return out

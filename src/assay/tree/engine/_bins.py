"""Binned tables, and columns sorted once for all training sets of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from assay._core import tree as kernels
from assay.base import check_interval

#: Largest number of bins with codes of one byte; one code is reserved for missing values.
MAX_BINS_8 = 255
MAX_BINS_16 = 65535

_NO_WEIGHT = np.empty(0)
#: Number of rows used to estimate whether a column has many values.
SAMPLE = 1024

#: The arrays of `Bins`, in order.
_Cut = tuple[Any, ...]


@dataclass(frozen=True)
class Ranks:
    """Every column sorted once, from which the bins of any training set can be counted.

    Parameters
    ----------
    rank : ndarray of int32 of shape (n_features, n_samples)
        Position of each value among the distinct values of its column, category code in a nominal
        column; -1 = missing.
    value_start : ndarray of int64 of shape (n_features + 1,)
        Start of the distinct values of each column.
    value : ndarray of float64
        The distinct values of all numeric columns, ascending in each.
    n_levels : ndarray of int32 of shape (n_features,)
        Number of categories of each nominal column, 0 = numeric.
    """

    rank: NDArray[np.int32]
    value_start: NDArray[np.int64]
    value: NDArray[np.float64]
    n_levels: NDArray[np.int32]

    @classmethod
    def build(
        cls, X: NDArray[Any], n_levels: NDArray[np.int32] | None = None, n_threads: int = 1
    ) -> Self:
        """Sort every column of a table.

        Parameters
        ----------
        X : ndarray of float64 or float32 of shape (n_samples, n_features)
            C order; NaN = missing, no infinities; nominal columns hold category codes.
        n_levels : ndarray of int32, optional
            Number of categories per column, 0 = numeric; all numeric if absent.
        n_threads : int, default=1
            Threads.
        """
        levels = _levels(n_levels, X.shape[1])
        rank = np.empty((X.shape[1], X.shape[0]), dtype=np.int32)
        value_start = np.empty(X.shape[1] + 1, dtype=np.int64)
        value = kernels.rank_table(X, levels, rank, value_start, n_threads)
        return cls(rank, value_start, value, levels)


@dataclass(frozen=True)
class Bins:
    """A binned table, stored by column: the input of every tree grower.

    Parameters
    ----------
    codes : ndarray of uint8 or uint16 of shape (n_features, n_samples)
        Bin of each value, in the order of the values; ``n_bins[f]`` = missing.
    n_bins : ndarray of int32 of shape (n_features,)
        Number of bins per column, at least 1, not counting that of missing values.
    nominal : ndarray of uint8 of shape (n_features,)
        Whether the column is nominal.
    has_missing : ndarray of uint8 of shape (n_features,)
        Whether a value of the column is missing.
    bin_start : ndarray of int64 of shape (n_features + 1,)
        Start of the bins of each column in `lower` and `upper`.
    lower, upper : ndarray of float64
        Smallest and largest training value of each bin (nominal column: category).
    level_start : ndarray of int64 of shape (n_features + 1,)
        Start of the categories of each nominal column in `level_bin`.
    level_bin : ndarray of int32
        Bin of each category.

    Notes
    -----
    A column with at most `max_bins` distinct values has one bin for each, so that a split between
    bins is an exact split of the table. Otherwise the bins hold about equal weights, and a value
    with more weight than that has a bin of its own. A nominal column with more categories than bins
    pools the rarest in the last bin. Rows of weight 0 are coded but do not affect the bins.
    """

    codes: NDArray[np.uint8] | NDArray[np.uint16]
    n_bins: NDArray[np.int32]
    nominal: NDArray[np.uint8]
    has_missing: NDArray[np.uint8]
    bin_start: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    level_start: NDArray[np.int64]
    level_bin: NDArray[np.int32]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.codes.shape[0])

    @property
    def n_levels(self) -> NDArray[np.int32]:
        """Number of categories per column, 0 = numeric."""
        return np.diff(self.level_start).astype(np.int32)

    @classmethod
    def build(
        cls,
        X: NDArray[Any],
        max_bins: int = MAX_BINS_8,
        n_levels: NDArray[np.int32] | None = None,
        weight: NDArray[np.float64] | None = None,
        n_threads: int = 1,
    ) -> Self:
        """Bin every column of a table into at most `max_bins` bins.

        Parameters
        ----------
        X : ndarray of float64 or float32 of shape (n_samples, n_features)
            C order; NaN = missing, no infinities; nominal columns hold category codes.
        max_bins : int in [2, 65535], default=255
            Maximum number of bins per column; codes have one byte if no column needs more than 255.
        n_levels : ndarray of int32, optional
            Number of categories per column, 0 = numeric; all numeric if absent.
        weight : ndarray of float64 of shape (n_samples,), optional
            Weights that are balanced between the bins.
        n_threads : int, default=1
            Threads; the result does not depend on it.
        """
        levels = _levels(n_levels, X.shape[1])
        weights = _NO_WEIGHT if weight is None else weight

        def cut(most: int) -> _Cut:
            room = _Room(most, levels, len(X))
            edges = kernels.bin_table(X, levels, weights, most, **room.arrays, n_threads=n_threads)
            return room.filled(edges)

        return cls(*_narrowest(max_bins, lambda: values_in_sample(X), cut))

    @classmethod
    def from_ranks(
        cls,
        ranks: Ranks,
        rows: NDArray[np.int64],
        max_bins: int = MAX_BINS_8,
        n_threads: int = 1,
        weight: NDArray[np.float64] | None = None,
    ) -> Self:
        """Bin some rows of a sorted table; same result as ``Bins.build(X[rows], ...)``.

        Parameters
        ----------
        ranks : Ranks
            The whole table, sorted.
        rows : ndarray of int64
            The training rows; no other row is used.
        max_bins : int in [2, 65535], default=255
            Maximum number of bins per column.
        n_threads : int, default=1
            Threads.
        weight : ndarray of float64 of shape (len(rows),), optional
            Weights that are balanced between the bins.
        """
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        weights = _NO_WEIGHT if weight is None else weight

        def cut(most: int) -> _Cut:
            room = _Room(most, ranks.n_levels, len(rows))
            edges = kernels.bin_ranks(
                ranks.rank,
                ranks.value_start,
                ranks.value,
                ranks.n_levels,
                rows,
                weights,
                most,
                **room.arrays,
                n_threads=n_threads,
            )
            return room.filled(edges)

        def values() -> NDArray[np.intp]:
            sample = ranks.rank[:, _sample(rows)].T
            return values_in_sample(np.where(sample < 0, np.nan, sample))

        return cls(*_narrowest(max_bins, values, cut))


class _Room:
    """Output arrays for the kernels."""

    def __init__(self, max_bins: int, n_levels: NDArray[np.int32], n_samples: int) -> None:
        n_features = len(n_levels)
        kind: Any = np.uint8 if max_bins <= MAX_BINS_8 else np.uint16
        self.n_levels = n_levels
        self.codes = np.empty((n_features, n_samples), dtype=kind)
        self.n_bins = np.empty(n_features, dtype=np.int32)
        self.has_missing = np.empty(n_features, dtype=np.uint8)
        self.level_start = np.concatenate([[0], np.cumsum(n_levels, dtype=np.int64)])
        self.level_bin = np.empty(self.level_start[-1], dtype=np.int32)
        self.arrays: dict[str, Any] = {
            "codes": self.codes,
            "n_bins": self.n_bins,
            "has_missing": self.has_missing,
            "level_start": self.level_start,
            "level_bin": self.level_bin,
        }

    def filled(self, edges: Any) -> _Cut:
        return (
            self.codes,
            self.n_bins,
            (self.n_levels > 0).astype(np.uint8),
            self.has_missing,
            np.concatenate([[0], np.cumsum(self.n_bins, dtype=np.int64)]),
            *edges,
            self.level_start,
            self.level_bin,
        )


def values_in_sample(X: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of distinct values of each column in a sample of rows."""
    ordered = np.sort(_sample(X), axis=0)
    found: NDArray[np.intp] = (ordered[1:] > ordered[:-1]).sum(axis=0) + 1
    return found


def _sample(rows: NDArray[Any]) -> NDArray[Any]:
    return rows[:: max(len(rows) // SAMPLE, 1)][:SAMPLE]


def _narrowest(
    max_bins: int, values: Callable[[], NDArray[np.intp]], cut: Callable[[int], _Cut]
) -> _Cut:
    """Return bins with codes of one byte if no column has too many values for that.

    Not tried if a sample already has too many values.
    """
    check_interval("max_bins", max_bins, 2, MAX_BINS_16, integer=True)
    if max_bins > MAX_BINS_8 and (values() <= MAX_BINS_8).all():
        *_, lower, upper, _, _ = fitted = cut(MAX_BINS_8)
        if lower is upper:  # each bin holds one value
            return fitted
    return cut(max_bins)


def _levels(n_levels: NDArray[np.int32] | None, n_features: int) -> NDArray[np.int32]:
    if n_levels is None:
        return np.zeros(n_features, dtype=np.int32)
    return np.ascontiguousarray(n_levels, dtype=np.int32)

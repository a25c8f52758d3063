"""A table to learn from, and an account of all rows of the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.table._schema import Schema
from assay.table._target import Target


@dataclass(frozen=True)
class RowAccount:
    """Account of all rows of the file: ``read = used + dropped``, always.

    Parameters
    ----------
    read, used : int
        Number of rows in the file (blank ones included) and of rows to learn from.
    dropped : tuple of (str, int)
        Reasons and counts.
    """

    read: int
    used: int
    dropped: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        lost = self.read - self.used - sum(count for _, count in self.dropped)
        if lost or self.used < 0 or any(count < 1 for _, count in self.dropped):
            raise AssertionError(
                f"{self.read} rows read are not {self.used} used and {self.dropped} dropped"
            )


@dataclass(frozen=True)
class Dataset:
    """A table to learn from.

    Parameters
    ----------
    X : ndarray of float64 of shape (n_used, n_features)
        The coded matrix: numbers unchanged, categories as codes 0..L-1, dates as parts,
        NaN = missing. Columns as in ``schema.features``.
    y : ndarray of shape (n_used,)
        int64 class codes, or float64 values.
    target : Target
        Meaning of y.
    weight, groups, time : ndarray of shape (n_used,) or None
        Weight of each row, code of its group, and its time (days since 1970, or the number given).
    schema : Schema
        Converts new data to such a matrix.
    account : RowAccount
        Number of rows read, used and dropped.
    digest, source : str
        Digest and name of the table.
    notes : tuple of str
        All decisions made while reading and preparing, as sentences.
    overview : list of dict
        Summary of each column of the file.
    """

    X: NDArray[np.float64] = field(repr=False)
    y: NDArray[Any] = field(repr=False)
    target: Target
    weight: NDArray[np.float64] | None = field(repr=False)
    groups: NDArray[np.int64] | None = field(repr=False)
    time: NDArray[np.float64] | None = field(repr=False)
    schema: Schema
    account: RowAccount
    digest: str
    source: str
    notes: tuple[str, ...]
    overview: list[dict[str, Any]] = field(repr=False)

"""The table for Relief's kernel: scaled columns, those with gaps apart, rows in class order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]

#: Rows scaled at a time, to avoid a second table of float64.
_BLOCK = 4096


@dataclass(frozen=True)
class ReliefTable:
    """The input of `kernels.relief_classes`, and where its columns come from.

    Parameters
    ----------
    complete : ndarray of float32 of shape (n_rows, n_complete)
        Columns without missing values: numeric ones scaled to [0, 1], then nominal codes.
    n_numeric : int
        How many of them are numeric.
    gaps : ndarray of float32 of shape (n_gaps, n_rows)
        Columns with missing values, transposed; NaN where a value is missing.
    n_numeric_gaps : int
        How many of them are numeric.
    expected : ndarray of float32 of shape (n_classes * n_gaps, n_rows)
        Mean difference between the cell and the values of the class.
    class_start : ndarray of int64 of shape (n_classes + 1,)
        First row of each class.
    columns : ndarray of int64 of shape (n_complete + n_gaps,)
        The columns of the user's table, in the order above.
    """

    complete: Singles
    n_numeric: int
    gaps: Singles
    n_numeric_gaps: int
    expected: Singles
    class_start: Integers
    columns: Integers

    @classmethod
    def of(
        cls, rows: NDArray[np.floating], nominal: Integers, codes: Integers, columns: Integers
    ) -> ReliefTable:
        """Pack some columns of a table.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
            Numeric values and category codes, NaN where missing; in order of class.
        nominal : ndarray of int64
            Which columns are nominal.
        codes : ndarray of int64 of shape (n_rows,)
            Class of each row, ascending.
        columns : ndarray of int64
            The columns to pack, ascending.

        Returns
        -------
        ReliefTable
        """
        is_nominal = np.isin(columns, nominal)
        has_gap = np.isnan(rows).any(axis=0)[columns]
        parts = [
            columns[~has_gap & ~is_nominal],
            columns[~has_gap & is_nominal],
            columns[has_gap & ~is_nominal],
            columns[has_gap & is_nominal],
        ]
        n_complete = len(parts[0]) + len(parts[1])
        order = np.concatenate(parts)
        scaled = _scaled(rows, order, np.isin(order, nominal))
        gaps = np.ascontiguousarray(scaled[:, n_complete:].T)
        start = np.searchsorted(codes, np.arange(codes[-1] + 2)).astype(np.int64)
        return cls(
            np.ascontiguousarray(scaled[:, :n_complete]),
            len(parts[0]),
            gaps,
            len(parts[2]),
            _expected(gaps, len(parts[2]), start),
            start,
            order,
        )


def _scaled(rows: NDArray[np.floating], order: Integers, is_nominal: NDArray[np.bool_]) -> Singles:
    """Return the columns in this order as float32, numeric ones scaled to [0, 1]."""
    low, width = np.zeros(len(order)), np.ones(len(order))
    for at, column in enumerate(order):
        values = rows[:, column]
        values = values[~np.isnan(values)]
        if not is_nominal[at] and len(values):
            low[at] = float(values.min())
            # Halves first: the range of very large numbers could overflow float64.
            width[at] = float(values.max()) / 2 - low[at] / 2
    constant = width == 0
    out = np.empty((len(rows), len(order)), dtype=np.float32)
    for first in range(0, len(rows), _BLOCK):
        part = rows[first : first + _BLOCK, order].astype(np.float64)
        scaled = (part / 2 - low / 2) / np.where(constant, 1.0, width)
        out[first : first + _BLOCK] = np.where(is_nominal, part, np.where(constant, 0.0, scaled))
        out[first : first + _BLOCK][np.isnan(part)] = np.nan
    return out


def _expected(gaps: Singles, n_numeric: int, start: Integers) -> Singles:
    """Return the mean difference between each cell and the values of each class."""
    n_classes, (n_gaps, n_rows) = len(start) - 1, gaps.shape
    out = np.zeros((n_classes, n_gaps, n_rows), dtype=np.float32)
    for a in range(n_gaps):
        column = gaps[a].astype(np.float64)
        present = ~np.isnan(column)
        if not present.any():
            continue  # no values: no row differs from another
        drawn = [np.flatnonzero(present[i:j]) + i for i, j in pairwise(start)]
        drawn = [rows if len(rows) else np.flatnonzero(present) for rows in drawn]
        for c, rows in enumerate(drawn):
            mean = _mean_gap if a < n_numeric else _mean_mismatch
            cells = np.zeros(n_rows)
            cells[present] = mean(column[rows], column[present])
            for other, others in enumerate(drawn):
                of_class = slice(start[other], start[other + 1])
                cells[of_class][~present[of_class]] = cells[others].mean()
            out[c, a] = cells
    return out.reshape(n_classes * n_gaps, n_rows)


def _mean_gap(drawn: Floats, cells: Floats) -> Floats:
    """Return the mean of |v - x| over the drawn v, for each x."""
    values = np.sort(drawn)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    below = np.searchsorted(values, cells)
    above = len(values) - below
    total = cells * below - sums[below] + (sums[-1] - sums[below]) - cells * above
    return np.asarray(np.maximum(total, 0.0) / len(values))


def _mean_mismatch(drawn: Floats, cells: Floats) -> Floats:
    """Return the share of the drawn v other than x, for each x."""
    codes = cells.astype(np.int64)
    counts = np.bincount(drawn.astype(np.int64), minlength=int(codes.max()) + 1)
    return np.asarray(1.0 - counts[codes] / len(drawn))

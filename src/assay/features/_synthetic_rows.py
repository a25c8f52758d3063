"""Rows between rows: numbers on the line, nominal values by the vote of the neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from assay.base import as_frame

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class NewRows:
    """Cells of rows that are to be added to a table.

    Parameters
    ----------
    source : ndarray of int64 of shape (n_new, n_features)
        The row of the table whose cell is copied.
    values : ndarray of float64 of shape (n_new, n_features)
        The number that replaces the copy, NaN where it stays.
    base, other : ndarray of int64 of shape (n_new,)
        The two rows that a new one lies between.
    share : ndarray of float64 of shape (n_new,)
        How far from the first to the second.
    """

    source: Integers
    values: Floats
    base: Integers
    other: Integers
    share: Floats

    @classmethod
    def between(
        cls,
        rows: NDArray[Any],
        nominal: Integers,
        base: Integers,
        neighbours: Integers,
        toward: Integers,
        share: Floats,
    ) -> NewRows:
        """Make rows on the way from a row to one of its neighbours.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
            Numbers and level codes, NaN where missing.
        nominal : ndarray of int64
            Which columns are nominal.
        base : ndarray of int64 of shape (n_new,)
            Where each new row starts.
        neighbours : ndarray of int64 of shape (n_new, k)
            The rows near it.
        toward : ndarray of int64 of shape (n_new,)
            Which of them it moves to.
        share : ndarray of float64 of shape (n_new,)
            How far, between 0 and 1.

        Returns
        -------
        NewRows
            A number is missing where that of the base is, and copied where only the neighbour's
            is missing.
        """
        other = neighbours[np.arange(len(base)), toward]
        a, b = rows[base].astype(np.float64), rows[other].astype(np.float64)
        part = share[:, None]
        values = a * (1 - part) + b * part  # not a + part (b - a): that could overflow
        values = np.clip(values, np.minimum(a, b), np.maximum(a, b))
        source = np.repeat(base[:, None], rows.shape[1], axis=1)
        for j in nominal:
            values[:, j] = np.nan
            source[:, j] = _voted(rows[:, j], base, neighbours)
        return cls(source, values, base, other, share)

    @classmethod
    def joined(cls, parts: list[NewRows]) -> NewRows:
        """Return the new rows of several classes as one."""
        names = ("source", "values", "base", "other", "share")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def appended(self, table: Any) -> Any:
        """Return an array or a dataframe with the new rows after its own, of the same types."""
        frame = as_frame(table)
        if frame is None:
            new = np.take_along_axis(table, self.source, axis=0)
            replaced = ~np.isnan(self.values)
            values = np.rint(self.values) if new.dtype.kind in "biu" else self.values
            new[replaced] = values[replaced].astype(new.dtype)
            return np.concatenate([table, new])
        columns = [self._column(column, j) for j, column in enumerate(frame.iter_columns())]
        new_frame = frame[self.base.tolist()].with_columns(*columns)
        return nw.maybe_reset_index(nw.concat([frame, new_frame])).to_native()

    def _column(self, column: nw.Series[Any], j: int) -> nw.Series[Any]:
        new: nw.Series[Any] = column[self.source[:, j].tolist()]
        replaced = np.flatnonzero(~np.isnan(self.values[:, j]))
        if not len(replaced):
            return new
        values = self.values[replaced, j]
        if not column.dtype.is_float():
            values = np.rint(values)
        numbers = nw.new_series(column.name, values, nw.Float64, backend=column.implementation)
        changed: nw.Series[Any] = new.scatter(replaced.tolist(), numbers.cast(column.dtype))
        return changed


def _voted(column: NDArray[Any], base: Integers, neighbours: Integers) -> Integers:
    """Return, for each new row, a row with the level that most neighbours have.

    Of levels with equally many votes that of the base wins, else the first; without any vote the
    cell of the base is copied.
    """
    levels = column[neighbours]
    votes = (levels[:, :, None] == levels[:, None, :]).sum(axis=2)  # a missing one equals none
    votes = 2 * votes + (levels == column[base][:, None])
    leading = (votes == votes.max(axis=1, keepdims=True)) & ~np.isnan(levels)
    first = np.where(leading, levels, np.inf).argmin(axis=1)
    everyone = np.arange(len(base))
    return np.where(leading.any(axis=1), neighbours[everyone, first], base)

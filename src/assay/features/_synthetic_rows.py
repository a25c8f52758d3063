"""Synthetic rows: numbers by interpolation, nominal values by majority of the neighbours."""

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
    """Cells of the rows to add to a table.

    Parameters
    ----------
    source : ndarray of int64 of shape (n_new, n_features)
        The row of the table whose cell is copied.
    values : ndarray of float64 of shape (n_new, n_features)
        The number that replaces the copied cell, NaN where the copy stays.
    base, other : ndarray of int64 of shape (n_new,)
        The two rows that each new row lies between.
    share : ndarray of float64 of shape (n_new,)
        Position between them: 0 = the first, 1 = the second.
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
        """Make rows between a row and one of its neighbours.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_features)
            Numeric values and category codes, NaN where missing.
        nominal : ndarray of int64
            Which columns are nominal.
        base : ndarray of int64 of shape (n_new,)
            The row where each new row starts.
        neighbours : ndarray of int64 of shape (n_new, k)
            Its neighbours.
        toward : ndarray of int64 of shape (n_new,)
            The neighbour it moves towards.
        share : ndarray of float64 of shape (n_new,)
            Position on the way, between 0 and 1.

        Returns
        -------
        NewRows
            A number is missing where it is missing in the base, and copied from the base where only
            the neighbour's is missing.
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
        """Return the table with the new rows appended, with the same types."""
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
    """Return, for each new row, a row with the most frequent category of the neighbours.

    Ties go to the category of the base, else to the first; without any vote the cell of the base is
    copied.
    """
    levels = column[neighbours]
    votes = (levels[:, :, None] == levels[:, None, :]).sum(axis=2)  # a missing value equals none
    votes = 2 * votes + (levels == column[base][:, None])
    leading = (votes == votes.max(axis=1, keepdims=True)) & ~np.isnan(levels)
    first = np.where(leading, levels, np.inf).argmin(axis=1)
    everyone = np.arange(len(base))
    return np.where(leading.any(axis=1), neighbours[everyone, first], base)

"""The schema of a training table: what new data must contain, and how to code it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.base import DataError, did_you_mean
from assay.table._cells import TextRules
from assay.table._columnar import reduced
from assay.table._columns import NOWHERE, Column, Feature
from assay.table._raw import MISSING_MARKERS, Notes, Where, shown


@dataclass(frozen=True)
class Schema:
    """The columns of a training table.

    Parameters
    ----------
    columns : tuple of Column
        All columns of the file, in its order.
    missing : tuple of str
        The missing-value markers of the training table.

    Examples
    --------
    >>> import polars as pl
    >>> from assay.table import prepare, read
    >>> raw = read(pl.DataFrame({"size": [1.5, 2.0, 4.0], "kind": ["a", "b", "a"],
    ...                          "y": ["no", "yes", "no"]}))
    >>> schema = prepare(raw, "y").schema
    >>> schema.matrix(pl.DataFrame({"kind": ["b", "c", None], "size": [1, None, 3]}))
    array([[ 1.,  1.],
           [nan,  2.],
           [ 3., nan]])
    """

    columns: tuple[Column, ...]
    missing: tuple[str, ...] = MISSING_MARKERS

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """The columns of the coded matrix."""
        return tuple(feature for column in self.columns for feature in column.features)

    def matrix(self, frame: pl.DataFrame, *, where: Where = NOWHERE) -> NDArray[np.float64]:
        """Return a table, training or new, as the coded matrix.

        Parameters
        ----------
        frame : polars.DataFrame
            With at least the feature columns, in any order; text is read as in training.
        where : Where
            Names of the table and its rows, for messages.

        Returns
        -------
        ndarray of float64 of shape (n_rows, n_features)
            Numbers unchanged, categories as codes 0..L-1, dates as their parts; NaN = missing. A
            category unseen in training is L in a nominal column and missing in an ordinal or
            boolean one. Infinite numbers count as missing.

        Raises
        ------
        DataError
            For a missing column (with the nearest name) and for a value that is not a number or
            date (naming column, row and value).
        """
        rules = TextRules(self.missing)
        present = set(frame.columns)
        found = np.empty((frame.height, len(self.features)))
        place = 0
        for column in self.columns:
            if not column.used:
                continue
            if column.name not in present:
                raise DataError(
                    f"{where.source} has no column {shown(column.name)}, which the model needs"
                    f"{did_you_mean(column.name, frame.columns)}"
                )
            width = len(column.features)
            values = reduced(frame.get_column(column.name), Notes())
            found[:, place : place + width] = column.matrix(values, rules, where)
            place += width
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as JSON-safe data."""
        return {
            "columns": [column.to_dict() for column in self.columns],
            "missing": list(self.missing),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """Build a schema from the result of `to_dict`, checking everything."""
        if not isinstance(data, Mapping) or set(data) != {"columns", "missing"}:
            raise DataError("the schema is damaged: it has the wrong fields")
        columns, missing = data["columns"], data["missing"]
        if not isinstance(columns, list) or not all(isinstance(c, Mapping) for c in columns):
            raise DataError("the schema is damaged: columns is not a list of columns")
        if not isinstance(missing, list) or not all(isinstance(m, str) for m in missing):
            raise DataError("the schema is damaged: missing is not a list of texts")
        built = tuple(Column.from_dict(column) for column in columns)
        if len({column.name for column in built}) < len(built):
            raise DataError("the schema is damaged: a column name appears twice")
        schema = cls(built, tuple(missing))
        if not schema.features:
            raise DataError("the schema is damaged: it has no features")
        return schema

"""Real tables from ``../shared/data`` beside the repository, as matrices; absent = skipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"


class Rows(NamedTuple):
    """A table: nominal columns as level codes, missing values as NaN."""

    X: NDArray[np.float64]
    y: NDArray[Any]  # class codes (integers) or numbers (floats)
    nominal: list[int]


class Table(NamedTuple):
    """A table cut into training and held-out rows."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]
    nominal: list[int]

    @property
    def is_class(self) -> bool:
        return self.y.dtype.kind in "iu"


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.parquet"


def described(name: str) -> dict[str, Any]:
    """Return what index.json says about the table."""
    index = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
    return next(each for each in index if each["name"] == name)


def load(name: str) -> Rows:
    """Read a table without columns to exclude, empty ones, and text that names single rows."""
    entry = described(name)
    frame = pl.read_parquet(path_of(name)).drop(entry["exclude"])
    target = frame[entry["target"]]
    frame = frame.drop(entry["target"])
    frame = frame.drop([column.name for column in frame if column.null_count() == len(frame)])
    nominal = set(entry["categorical"])
    nominal |= {column.name for column in frame if not _is_number(column)}
    frame = frame.drop(
        [name for name in nominal & set(frame.columns) if frame[name].n_unique() > len(frame) / 2]
    )
    columns = [
        _codes(column) if column.name in nominal else column.cast(pl.Float64).to_numpy()
        for column in frame
    ]
    y = target.to_numpy()
    if entry["task"] == "regression":
        y = y.astype(np.float64)
    else:
        y = np.unique(target.cast(pl.String).to_numpy().astype(str), return_inverse=True)[1]
    positions = [j for j, column in enumerate(frame.columns) if column in nominal]
    return Rows(np.column_stack(columns), y, positions)


def held_out(name: str, seed: int = 0) -> Table:
    """Keep back a random fifth of the rows."""
    rows = load(name)
    order = np.random.default_rng(seed).permutation(len(rows.X))
    cut = len(order) // 5
    test, train = order[:cut], order[cut:]
    return Table(rows.X[train], rows.y[train], rows.X[test], rows.y[test], rows.nominal)


def filled(table: Table) -> Table:
    """Fill missing values for a peer that takes none: medians; a level of its own."""
    known = np.isfinite(table.X).any(axis=0)
    values = np.zeros(table.X.shape[1])
    values[known] = np.nanmedian(table.X[:, known], axis=0)
    values[table.nominal] = np.nanmax(table.X[:, table.nominal], axis=0, initial=0) + 1
    X, X_test = (np.where(np.isnan(part), values, part) for part in (table.X, table.X_test))
    return table._replace(X=X, X_test=X_test)


def _is_number(column: pl.Series) -> bool:
    return column.dtype.is_numeric() or column.dtype == pl.Boolean


def _codes(column: pl.Series) -> NDArray[np.float64]:
    text = column.cast(pl.String)
    levels = sorted(text.drop_nulls().unique().to_list())
    codes = text.replace_strict(levels, range(len(levels)), default=None, return_dtype=pl.Float64)
    return codes.to_numpy()

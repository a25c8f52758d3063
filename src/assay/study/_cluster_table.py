"""A table without a target, ready for clustering: kinds, rows, the scaled matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.base import DataError, did_you_mean
from assay.table import Dataset, Encoder, RawTable, Schema, prepare


@dataclass(frozen=True)
class ClusterTable:
    """The rows to group.

    Parameters
    ----------
    frame : polars.DataFrame
        The table as it was read.
    dataset : Dataset
        The same, prepared; its target and y mean nothing.
    schema : Schema
        How new rows become such a matrix.
    encoder : Encoder
        Fitted on all rows.
    rows : ndarray of float64
        The encoded matrix: finite, numbers scaled to variance 1, levels as 0 and 1.
    names, owners : list of str
        Of its columns: their names, and the columns of the table that they come from.
    has_levels : bool
        Whether some of them are levels.
    """

    frame: pl.DataFrame
    dataset: Dataset
    schema: Schema
    encoder: Encoder
    rows: NDArray[np.float64]
    names: list[str]
    owners: list[str]

    @property
    def has_levels(self) -> bool:
        """Whether some columns are levels, 0 or 1."""
        return bool(len(self.encoder.scale_) < self.rows.shape[1])


def cluster_table(
    raw: RawTable,
    *,
    columns: Iterable[str] = (),
    drop: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
) -> ClusterTable:
    """Make a table ready for clustering.

    Parameters
    ----------
    raw : RawTable
        From `assay.table.read`.
    columns : iterable of str
        The columns to use; all usable ones if empty.
    drop : iterable of str
        Columns to leave out.
    kinds : mapping of str to str, optional
        Kinds that overrule the inferred ones.

    Raises
    ------
    DataError
        For a column that is not there, and if fewer than two rows or no column are left.
    """
    only, out = list(dict.fromkeys(columns)), list(dict.fromkeys(drop))
    for role, named in (("columns", only), ("drop", out), ("kind", list(kinds or {}))):
        _check_names(raw, named, role)
    both = [name for name in only if name in out]
    if both:
        raise DataError(f"column {both[0]!r} cannot be both used and dropped; choose one")
    if only:
        out += [name for name in raw.frame.columns if name not in only and name not in out]
    if raw.frame.height < 2:
        raise DataError(f"{raw.source}: clusters need at least 2 rows; it has {raw.frame.height}")
    dataset = _without_target(raw, out, kinds)
    schema = dataset.schema
    # Without indicators of gaps: clusters would be those of what was not filled in.
    encoder = Encoder(
        kinds=tuple(feature.kind for feature in schema.features), indicator=False
    ).fit(dataset.X)
    rows = encoder.transform(dataset.X)
    names, owners = _names(encoder, schema)
    return ClusterTable(raw.frame, dataset, schema, encoder, rows, names, owners)


def _check_names(raw: RawTable, named: list[str], role: str) -> None:
    for name in named:
        if name not in raw.frame.columns:
            hint = did_you_mean(name, raw.frame.columns)
            if not hint:
                some = ", ".join(repr(column) for column in raw.frame.columns[:8])
                hint = f"; it has {some}{', ...' if raw.frame.width > 8 else ''}"
            raise DataError(f"{raw.source} has no column {name!r} ({role}){hint}")


def _names(encoder: Encoder, schema: Schema) -> tuple[list[str], list[str]]:
    """Return the names of the encoded columns, levels in words, and the columns they come from."""
    owner = [column.name for column in schema.columns for _ in column.features]
    names, owners = [], []
    for text in encoder.get_feature_names_out([str(j) for j in range(len(schema.features))]):
        place, mark, level = str(text).partition("=")
        number, _, rest = place.partition(" ")
        feature = schema.features[int(number)]
        if mark and level.isdigit() and int(level) < len(feature.levels):
            level = feature.levels[int(level)]
        names.append(f"{feature.name}{' ' + rest if rest else ''}{mark}{level}")
        owners.append(owner[int(number)])
    return names, owners


def _without_target(raw: RawTable, drop: list[str], kinds: Mapping[str, str] | None) -> Dataset:
    """Prepare a table that has nothing to predict.

    `prepare` asks for a target. It gets a column of its own, which is then taken out again: no
    row can be lost to a target that is never missing.
    """
    name = "cluster"
    while name in raw.frame.columns:
        name += "_"
    stand_in = pl.Series(name, np.arange(raw.frame.height) % 2 == 1)
    widened = replace(raw, frame=raw.frame.with_columns(stand_in))
    try:
        dataset = prepare(widened, name, kinds=kinds, drop=drop)
    except DataError as error:
        # The user knows of no target.
        raise DataError(str(error).replace(f" besides the target {name!r}", "")) from None
    schema = Schema(
        tuple(column for column in dataset.schema.columns if column.name != name), raw.missing
    )
    return replace(
        dataset,
        schema=schema,
        overview=[column for column in dataset.overview if column["name"] != name],
        notes=tuple(note for note in dataset.notes if "positive class" not in note),
    )


def shown_values(frame: pl.DataFrame, row: int, names: Iterable[str]) -> list[Any]:
    """Return some cells of a row as plain values."""
    cells = frame.row(row, named=True)
    return [_plain(cells[name]) for name in names]


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)

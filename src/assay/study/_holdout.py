"""Rows set aside before anything sees them: chosen, recognised later by their digest."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.base import DataError, ParameterError
from assay.record import HoldoutPart, Opening
from assay.select import set_aside
from assay.study._model import Model
from assay.table import Dataset, RawTable, RowAccount, Schema, Target, prepare, read

_ASIDE = "set aside as the test set"
_APART = "group is in the test set"


@dataclass
class Holdout:
    """A test set that takes no part in a fit.

    Parameters
    ----------
    record : HoldoutPart
        How it was chosen, how many rows it has, and the digest that recognises them.
    raw : RawTable or None
        The rows; None when a model file was loaded, which does not hold them.
    apart : int, default=0
        Rows that had to be left out of training because of it.
    openings : tuple of Opening
        When it was opened, with which model, and the scores.
    """

    record: HoldoutPart
    raw: RawTable | None = None
    apart: int = 0
    openings: tuple[Opening, ...] = ()

    def with_row_counts(self, dataset: Dataset) -> Dataset:
        """Return the training table with the rows set aside in its account."""
        if self.record.marks is None:
            return dataset
        aside = [(why, n) for why, n in ((_ASIDE, self.record.rows), (_APART, self.apart)) if n]
        account = dataset.account
        total = account.read + sum(n for _, n in aside)
        return replace(dataset, account=RowAccount(total, account.used, (*account.dropped, *aside)))

    def with_digest(self, dataset: Dataset) -> Holdout:
        """Return the test set with the digest of its rows as the training table codes them."""
        assert self.raw is not None
        rows = holdout_rows(self.raw, dataset.schema, dataset.target)
        notes: tuple[str, ...] = ()
        if self.record.marks is None:
            shared = rows.shared_with(dataset)
            if shared:
                notes = (
                    f"{shared:,} of the {len(rows.y):,} rows of the test set are also in the "
                    "training table, so the test score will be too good",
                )
        record = replace(
            self.record,
            rows=len(rows.y),
            digest=rows.digest(),
            identity=identity(self.raw.frame),
            notes=notes,
        )
        return replace(self, record=record)


@dataclass(frozen=True)
class HoldoutRows:
    """A test set as the model takes it."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    groups: NDArray[np.int64] | None

    def digest(self) -> str:
        """SHA-256 of the rows in any order: columns the model uses, target and weight."""
        ordered = np.sort(_keys(self.X, self.y, self.weight))
        return hashlib.sha256(b"assay rows 1" + ordered.tobytes()).hexdigest()

    def shared_with(self, dataset: Dataset) -> int:
        """Count the rows that the training table holds too."""
        theirs = _keys(dataset.X, dataset.y, dataset.weight)
        return int(np.isin(_keys(self.X, self.y, self.weight), theirs).sum())


def prepare_with_holdout(
    raw: RawTable,
    holdout: Any,
    *,
    seed: int,
    options: Mapping[str, Any],
    **roles: Any,
) -> tuple[Dataset, Holdout | None]:
    """Set the test set aside, then make the rest ready to learn from.

    Parameters
    ----------
    raw : RawTable
        The table as read.
    holdout : float, path, file object, dataframe or None
        A share of the rows, or a table of its own.
    seed : int
        Which rows, of a share.
    options : mapping
        How a table is read.
    **roles
        Arguments of `assay.table.prepare`.
    """
    if holdout is None:
        return prepare(raw, **roles), None
    if isinstance(holdout, (int, float)):
        rest, aside = split_off(raw, holdout, seed=seed, **roles)
        dataset = aside.with_row_counts(prepare(rest, **roles))
    else:
        dataset = prepare(raw, **roles)
        aside = table_of_its_own(holdout, dataset.schema, **options)
    return dataset, aside.with_digest(dataset)


def split_off(raw: RawTable, share: float, *, seed: int, **roles: Any) -> tuple[RawTable, Holdout]:
    """Split a table as read into what is learned from and what is set aside.

    Parameters
    ----------
    raw : RawTable
        All rows.
    share : float
        How much is set aside, 0.05 to 0.5.
    seed : int
        Which rows.
    **roles
        What `prepare` is called with.

    Returns
    -------
    rest : RawTable
        Without the test rows; kinds and levels of columns are found from these rows alone.
    held : Holdout
        Not with_digest yet: nothing but the rows.
    """
    if isinstance(share, bool) or not 0.05 <= share <= 0.5:
        raise ParameterError(
            f"holdout must be a share of the rows from 0.05 to 0.5, or a table; got {share!r}"
        )
    # Targets, groups and times of all rows balance the two sides; nothing else of this is kept.
    whole = prepare(raw, **roles)
    usable = _usable(raw.frame, roles)
    assert int(usable.sum()) == whole.account.used
    test, train = set_aside(
        whole.X,
        whole.y,
        share,
        task=whole.target.task,
        groups=whole.groups,
        time=whole.time,
        seed=seed,
    )
    places = np.flatnonzero(usable)
    aside = np.zeros(len(usable), dtype=bool)
    aside[places[test]] = True
    apart = np.zeros(len(usable), dtype=bool)
    apart[places[~test & ~train]] = True
    if whole.time is not None:
        how = "the last rows in time"
    elif whole.groups is not None:
        how = "whole groups, balanced by target"
    else:
        how = "drawn at random, balanced by target"
    record = _part_of_record(
        source=raw.source,
        share=float(share),
        how=how,
        rows=int(aside.sum()),
        marks=_packed(aside),
    )
    return _part(raw, ~(aside | apart)), Holdout(record, _part(raw, aside), int(apart.sum()))


def table_of_its_own(source: Any, schema: Schema, **options: Any) -> Holdout:
    """Return a test set that is a table of its own."""
    raw = source if isinstance(source, RawTable) else read(source, like=schema, **options)
    record = _part_of_record(
        source=raw.source, share=None, how="a table of its own", rows=raw.frame.height
    )
    return Holdout(record, raw)


def _part_of_record(
    *, source: str, share: float | None, how: str, rows: int, marks: str | None = None
) -> HoldoutPart:
    """Return the part of the record before the rows are coded; `with_digest` completes it."""
    return HoldoutPart(
        source=source, share=share, how=how, rows=rows, digest="", identity="", notes=(),
        marks=marks,
    )  # fmt: skip


def find_rows(holdout: Holdout, model: Model, source: Any, **options: Any) -> HoldoutRows:
    """Return the rows that were set aside, found in a table that holds them.

    Parameters
    ----------
    holdout : Holdout
        With the digest.
    model : Model
        Knows how to read them.
    source : path, "-", file object, dataframe or None
        The table of the fit, or one with just these rows; None for the rows in memory.
    **options
        Passed to `assay.table.read`.

    Raises
    ------
    DataError
        If these are other rows.
    """
    record = holdout.record
    if source is None:
        if holdout.raw is None:
            raise ParameterError(
                "source must be the table that holds the rows set aside; got None, and a model "
                "file does not hold them"
            )
        return holdout_rows(holdout.raw, model.schema, model.target)
    raw = model.read(source, **options)
    tried = [raw]
    if record.marks is not None:
        marks = _unpacked(record.marks, raw.frame.height)
        if marks is not None and int(marks.sum()) == record.rows:
            tried.insert(0, _part(raw, marks))
    for part in tried:
        try:
            rows = holdout_rows(part, model.schema, model.target)
        except DataError:
            if part is tried[-1]:
                raise
            continue
        if rows.digest() == record.digest:
            return rows
    raise DataError(
        f"{raw.source} does not hold the {record.rows:,} rows that were set aside from "
        f"{record.source}; give the same table that the model was fitted from"
        + ("" if record.marks is not None else " or named as the holdout")
        + ", unchanged"
    )


def holdout_rows(raw: RawTable, schema: Schema, target: Target) -> HoldoutRows:
    """Return the usable rows of a table, coded as in training."""
    roles = {column.role: column.name for column in schema.columns if column.role != "feature"}
    for role in ("target", "weights", "group"):
        if role in roles and roles[role] not in raw.frame.columns:
            raise DataError(f"{raw.source} has no column {roles[role]!r} ({role})")
    usable = _usable(
        raw.frame,
        {"target": target.name, "weights": roles.get("weights"), "group": roles.get("group")},
    )
    if not usable.any():
        raise DataError(f"{raw.source}: no row has a target, so there are no test rows")
    part = _part(raw, usable)
    frame = part.frame
    weight = groups = None
    if "weights" in roles:
        weight = frame.get_column(roles["weights"]).cast(pl.Float64).to_numpy()
    if "group" in roles:
        codes = frame.get_column(roles["group"]).rank("dense").to_numpy()
        groups = codes.astype(np.int64) - 1
    return HoldoutRows(
        schema.matrix(frame, where=part.where),
        target.encode(frame.get_column(target.name), where=part.where),
        weight,
        groups,
    )


def identity(frame: pl.DataFrame) -> str:
    """Return the SHA-256 of all columns of a test set, whichever of them a model uses.

    The digest of the coded rows recognises them for one model. A model without one of the columns
    codes them in another way, and they are the same rows all the same.
    """
    columns = []
    for column in sorted(frame.columns):
        number = frame.schema[column].is_numeric() or frame.schema[column] == pl.Boolean
        values = pl.col(column).cast(pl.Float64) if number else pl.col(column)
        columns.append(values.cast(pl.String).fill_null("\x00"))
    lines = frame.select(pl.concat_str(columns, separator="\x1f").alias("line"))["line"].sort()
    total = hashlib.sha256(b"assay test set 1")
    for line in lines:
        total.update(line.encode("utf-8", "surrogatepass") + b"\x1e")
    return total.hexdigest()


def _usable(frame: pl.DataFrame, roles: Mapping[str, Any]) -> NDArray[np.bool_]:
    values = frame.get_column(roles["target"])
    usable = values.is_not_null()
    if values.dtype.is_float():
        usable &= ~values.is_infinite().fill_null(False)
    for role in ("group", "time", "weights"):
        if roles.get(role) is not None:
            usable &= frame.get_column(roles[role]).is_not_null()
    return np.array(usable.to_numpy(), dtype=bool)


def _part(raw: RawTable, rows: NDArray[np.bool_]) -> RawTable:
    if rows.all():
        return raw
    frame = raw.frame.filter(pl.Series(rows))
    lines = None if raw.lines is None else raw.lines[rows]
    return replace(raw, frame=frame, rows=frame.height + raw.blank, lines=lines)


def _keys(
    X: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64] | None
) -> NDArray[np.bytes_]:
    """Return each row as one value that can be sorted and compared."""
    columns = [X, y.astype(np.float64)[:, None]]
    if weight is not None:
        columns.append(weight[:, None])
    rows = np.ascontiguousarray(np.hstack(columns))
    rows += 0.0  # -0.0 becomes 0.0
    rows[np.isnan(rows)] = np.nan  # one NaN of the many
    hashes = [hashlib.sha256(row.tobytes()).digest()[:16] for row in rows]
    return np.array(hashes, dtype="S16")


def _packed(marks: NDArray[np.bool_]) -> str:
    return base64.b64encode(zlib.compress(np.packbits(marks).tobytes(), 9)).decode()


def _unpacked(text: str, n: int) -> NDArray[np.bool_] | None:
    try:
        wanted = (n + 7) // 8
        content = zlib.decompressobj().decompress(base64.b64decode(text), wanted + 1)
    except (ValueError, zlib.error):
        raise DataError("the record is damaged: the marks of the holdout cannot be read") from None
    if len(content) != wanted:
        return None
    return np.unpackbits(np.frombuffer(content, dtype=np.uint8), count=n).astype(bool)

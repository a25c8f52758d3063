"""Predictions as bytes: CSV, or what the ending of the output file names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

_CHUNK = 10_000
#: How a file is written, by its ending; any other ending is CSV.
_FORMATS = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
}


def answers_as_bytes(
    path: Path | None,
    head: Sequence[str],
    values: Sequence[Any],
    more: Sequence[Sequence[float]] | None,
) -> Iterable[bytes]:
    """Return the content of the output file.

    Parameters
    ----------
    path : Path or None
        The output; its ending decides the format. None: CSV.
    head : sequence of str
        Names of the columns.
    values : sequence
        The predictions.
    more : sequence of sequence of float or None
        Further columns, row by row.
    """
    kind = None if path is None else _FORMATS.get(path.suffix.lower())
    return _csv(head, values, more) if kind is None else [_columnar(kind, head, values, more)]


def _csv(
    head: Sequence[str], values: Sequence[Any], more: Sequence[Sequence[float]] | None
) -> Iterator[bytes]:
    yield _lines([head])
    for start in range(0, len(values), _CHUNK):
        stop = start + _CHUNK
        # Python writes the shortest text that reads back as the same number, bit for bit.
        rows: Iterable[list[Any]] = (
            ([written(value)] for value in values[start:stop])
            if more is None
            else (
                [written(value), *rest]
                for value, rest in zip(values[start:stop], more[start:stop], strict=True)
            )
        )
        yield _lines(rows)


def written(value: Any) -> Any:
    """Return a value as tables and class labels write it: truth values in lower case."""
    return str(value).lower() if isinstance(value, bool) else value


def _lines(rows: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8")


def _columnar(
    kind: str,
    head: Sequence[str],
    values: Sequence[Any],
    more: Sequence[Sequence[float]] | None,
) -> bytes:
    import polars as pl  # noqa: PLC0415 - the command line starts without it

    columns: list[Sequence[Any]] = [values]
    if more is not None:
        columns += list(zip(*more, strict=True)) or [[] for _ in head[1:]]
    frame = pl.DataFrame({name: list(each) for name, each in zip(head, columns, strict=True)})
    out = io.BytesIO()
    if kind == "parquet":
        frame.write_parquet(out)
    elif kind == "arrow":
        frame.write_ipc(out)
    else:
        frame.write_ndjson(out)
    return out.getvalue()

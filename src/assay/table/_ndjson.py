"""JSON tables: one object per line, or one array of objects."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.base import DataError
from assay.table._columnar import from_objects
from assay.table._raw import Notes, shown


def looks_like_json(data: bytes) -> bool:
    """Return whether a UTF-8 text begins as a JSON object or an array of objects."""
    head = data[:4096].lstrip()
    if head.startswith(b"["):
        return head[1:].lstrip().startswith((b"{", b"]"))
    return head.startswith(b"{") and head[1:].lstrip().startswith((b'"', b"}"))


def read_json(
    data: bytes, source: str, notes: Notes
) -> tuple[pl.DataFrame, NDArray[np.int64] | None, int]:
    """Return the table, the line of each row, and the number of blank lines.

    Parameters
    ----------
    data : bytes
        UTF-8.
    source : str
        File name, for messages.
    notes : Notes
        Receives the keys that are not in every object.

    Raises
    ------
    DataError
        For a line that is not a JSON object, and for a duplicate key in one object.
    """
    if data.lstrip().startswith(b"["):
        objects, lines, blank = _one_array(data, source), None, 0
    else:
        objects, places, blank = _one_per_line(data, source)
        lines = np.array(places, dtype=np.int64)
    columns: dict[str, list[Any]] = {}
    for row, item in enumerate(objects):
        for key, value in item.items():
            if key not in columns:
                columns[key] = [None] * len(objects)
            columns[key][row] = value
    for key in columns:
        absent = sum(key not in item for item in objects)
        if absent:
            notes.add(
                "keys absent from some objects count as missing values there: {}",
                f"{shown(key)} ({absent} of {len(objects)})",
            )
    frame = pl.DataFrame([from_objects(key, values) for key, values in columns.items()])
    return frame, lines, blank


def _one_per_line(data: bytes, source: str) -> tuple[list[dict[str, Any]], list[int], int]:
    objects, lines, blank = [], [], 0
    for number, line in enumerate(data.decode("utf-8").split("\n"), start=1):
        if not line.strip():
            blank += 1
            continue
        objects.append(_object(line, f"{source}, line {number}"))
        lines.append(number)
    if data.endswith(b"\n"):
        blank -= 1  # the text after the last line end is empty
    return objects, lines, blank


def _one_array(data: bytes, source: str) -> list[dict[str, Any]]:
    items = _parsed(data.decode("utf-8"), source)
    for place, item in enumerate(items, start=1):
        if not isinstance(item, dict):
            raise DataError(
                f"{source}, item {place} of the array: not a JSON object; every row must be one"
            )
    return list(items)


def _object(line: str, where: str) -> dict[str, Any]:
    item = _parsed(line, where)
    if not isinstance(item, dict):
        raise DataError(f'{where}: not a JSON object; every line must be one, such as {{"a": 1}}')
    return item


def _parsed(text: str, where: str) -> Any:
    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        item = dict(pairs)
        if len(item) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise DataError(f"{where}: the key {shown(twice)} appears twice; give each key once")
        return item

    try:
        return json.loads(text, object_pairs_hook=distinct)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{where}: invalid JSON ({error.msg} at character {error.pos + 1}); write one "
            "complete object per line"
        ) from None
    except RecursionError:
        raise DataError(f"{where}: JSON nested too deeply; a table has one level") from None

"""Save fitted estimators to one file that cannot run code, and load them again."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.base import DataError
from assay.store._frame import (
    HEADER_LIMIT,
    NAMES,
    FrameError,
    Tensor,
    build,
    canonical,
    in_order,
    split,
)
from assay.store._parts import UnknownClass, is_nested, pack_part, unpack_part
from assay.store._read import damaged, read_all, read_frame
from assay.store._values import Malformed, Unstorable
from assay.store._write import write_file

FORMAT = 2
"""The newest format: 1, and 2 for a file with nested models. `save` writes the lowest that can hold
the content, so that a file stays readable, and its bytes the same, as long as possible.

Raise it by one, in the same commit, when a file written by the new code would be refused or
misread by the old code, or vice versa: another meaning of an entry, a new kind of entry,
a class whose attributes changed. Do not raise it for a new class id, a new key in the caller's
manifest, or a new check. The reader of every released number stays, in `_READERS`.
"""

_PART_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")


class _Content(NamedTuple):
    header: bytes
    digest: str
    arrays: list[NDArray[np.uint8]]


def save(
    path: str | os.PathLike[str], manifest: Mapping[str, Any], parts: Mapping[str, Any]
) -> str:
    """Write fitted estimators, with a manifest of plain data, to a model file.

    Parameters
    ----------
    path : path
        Where to write; the usual ending is ``.assay``.
    manifest : dict
        Plain JSON: strings as keys, finite numbers, strings, lists, dicts.
    parts : dict of str to estimator or None
        The fitted estimators by name; `can_save` must return None for each.

    Returns
    -------
    str
        SHA-256 of the content: equal for equal manifests and equal models.

    Raises
    ------
    DataError
        If a model file cannot hold a part; the message states why.
    OSError
        If the file cannot be written; an existing file is unchanged then.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     digest = save(Path(folder, "line.assay"), {"about": "a line"}, {"model": model})
    ...     manifest, parts = load(Path(folder, "line.assay"))
    >>> manifest
    {'about': 'a line'}
    >>> parts["model"].predict([[3.0]]).round(12).tolist()
    [7.0]
    """
    content = _packed(manifest, parts)
    chunks: list[bytes | memoryview] = [len(content.header).to_bytes(8, "little"), content.header]
    chunks += [array.data for array in content.arrays]
    write_file(path, chunks, what="the model file")
    return content.digest


def digest(manifest: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """Return the SHA-256 that `save` would return, without writing anything.

    Parameters
    ----------
    manifest : dict
        As in `save`.
    parts : dict of str to estimator or None
        As in `save`.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> digest({}, {}) == digest({}, {}) != digest({"seed": 1}, {})
    True
    """
    return _packed(manifest, parts).digest


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read a model file.

    Parameters
    ----------
    path : path
        A file that `save` wrote.

    Returns
    -------
    manifest : dict
        As given to `save`.
    parts : dict of str to estimator or None
        The fitted estimators; they predict bit for bit as the saved ones.

    Raises
    ------
    DataError
        If the file is not a model file, is damaged, hostile or of a newer format.
    OSError
        If it cannot be read.

    Notes
    -----
    No code comes from the file, only ids of a fixed table of classes, values and arrays; each is
    checked before use. The checksum detects damage, not who wrote the file.
    """
    frame, blob = read_all(path)
    content = _parsed(path, frame.text)
    if content["data"] != _checksum([blob]):
        raise damaged(path, "its SHA-256 does not fit its arrays")
    try:
        parts = _READERS[content["format"]](content["parts"], split(blob, frame.tensors))
    except UnknownClass as error:
        raise DataError(
            f"{os.fspath(path)}: holds a model of class id {error}, which this version of Assay "
            f"does not know; upgrade Assay, or fit the model again"
        ) from error
    except (DataError, FrameError, Malformed) as error:
        raise damaged(path, str(error)) from error
    except Exception as error:
        # If a hostile file makes a check itself fail, the file is refused, too.
        raise damaged(path, f"its parts do not fit together ({type(error).__name__})") from error
    return content["manifest"], parts


def inspect(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the manifest of a model file without reading its arrays.

    Parameters
    ----------
    path : path
        A file that `save` wrote.

    Returns
    -------
    dict
        The manifest as given to `save`.

    Raises
    ------
    DataError
        If its header is damaged or not that of a model file.
    OSError
        If it cannot be read.
    """
    manifest: dict[str, Any] = _parsed(path, read_frame(path).text)["manifest"]
    return manifest


def _packed(manifest: Mapping[str, Any], parts: Mapping[str, Any]) -> _Content:
    _check_plain("manifest", manifest)
    entries: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for name, estimator in parts.items():
        if not _PART_NAME.fullmatch(name):
            raise ValueError(f"a part's name must be a word in lower case; got {name!r}")
        if estimator is None:
            entries[name] = None
            continue
        try:
            entries[name], found = pack_part(estimator)
        except Unstorable as error:
            raise DataError(f"cannot save the {name}: {error}") from error
        arrays |= {f"{name}/{attribute}": array for attribute, array in found.items()}
    tensors = {name: Tensor(NAMES[array.dtype], array.shape) for name, array in arrays.items()}
    raw = [arrays[name].reshape(-1).view(np.uint8) for name, _ in in_order(tensors)]
    number = _format_of(entries)
    content = {"format": number, "data": _checksum(raw), "manifest": manifest, "parts": entries}
    header, digest = build(canonical(content), tensors)
    if len(header) > HEADER_LIMIT:
        raise DataError(
            f"the record of this model takes {len(header):,} bytes and a model file holds "
            f"{HEADER_LIMIT:,}; fit again with fewer columns"
        )
    return _Content(header, digest, raw)


def _parsed(path: str | os.PathLike[str], text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
        number = content["format"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise damaged(path, "its manifest cannot be read") from error
    if type(number) is not int or number < 1:
        raise damaged(path, "its format number is not a number")
    if number > FORMAT:
        raise DataError(
            f"{os.fspath(path)}: model file of format {number}, and this version of Assay reads "
            f"formats up to {FORMAT}; upgrade Assay"
        )
    if content.keys() != {"format", "data", "manifest", "parts"} or not _is_canonical(
        content, text
    ):
        raise damaged(path, "its manifest is not in canonical form")
    if type(content["manifest"]) is not dict:
        raise damaged(path, "its manifest is not a JSON object")
    if number != _format_of(content["parts"]):
        raise damaged(path, "its format number does not fit its parts")
    parsed: dict[str, Any] = content
    return parsed


def _format_of(entries: Any) -> int:
    return 2 if is_nested(entries) else 1


def _is_canonical(content: Any, text: str) -> bool:
    try:
        return canonical(content) == text
    except (ValueError, RecursionError):
        return False


def _read_parts(entries: Any, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    if type(entries) is not dict or not all(map(_PART_NAME.fullmatch, entries)):
        raise Malformed("its parts have no names")
    grouped: dict[str, dict[str, NDArray[Any]]] = {name: {} for name in entries}
    for full_name, array in arrays.items():
        name, _, attribute = full_name.partition("/")
        if name not in grouped:
            raise Malformed(f"array {full_name!r} belongs to nothing")
        grouped[name][attribute] = array
    parts: dict[str, Any] = {}
    for name, entry in entries.items():
        if entry is None and not grouped[name]:
            parts[name] = None
            continue
        try:
            parts[name] = unpack_part(entry, grouped[name])
        except (DataError, Malformed) as error:
            raise Malformed(f"in its part {name}, {error}") from error
    return parts


_READERS: dict[int, Callable[[Any, dict[str, NDArray[Any]]], dict[str, Any]]] = {
    1: _read_parts,
    2: _read_parts,
}


def _checksum(chunks: list[NDArray[np.uint8]]) -> str:
    state = sha256()
    for chunk in chunks:
        state.update(chunk.data)
    return state.hexdigest()


def _check_plain(where: str, value: Any) -> None:
    if value is None or isinstance(value, bool | int | str):
        return
    if isinstance(value, float) and math.isfinite(value):
        return
    if isinstance(value, list | tuple):
        for position, item in enumerate(value):
            _check_plain(f"{where}[{position}]", item)
        return
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        for key, item in value.items():
            _check_plain(f"{where}[{key!r}]", item)
        return
    raise ValueError(
        f"{where} must be plain JSON (text, finite numbers, lists, dicts with text as keys); "
        f"got {value!r}"
    )

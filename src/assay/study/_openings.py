"""The book of openings: which test rows were looked at, when, and with which model.

It lies beside the model file and not in it: the bytes of a model file are a promise, and a model
that is fitted anew must not make rows untouched again that were opened before.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from assay.base import DataError
from assay.record import Opening
from assay.store import write_file

_FORMAT = 1


def book_of(model: Path) -> Path:
    """Return where the openings of a model file are written.

    Examples
    --------
    >>> book_of(Path("heart.assay")).name
    'heart.opened.json'
    """
    return model.with_name(model.name.removesuffix(".assay") + ".opened.json")


def read_openings(model: Path, identity: str) -> tuple[Opening, ...]:
    """Return the openings of the rows with this identity, the first one first.

    Raises
    ------
    DataError
        If there is a book, but it cannot be read: it must not be taken for an empty one.
    """
    return tuple(entry for entry in _entries(book_of(model)) if entry.holdout == identity)


def write_openings(model: Path, openings: Sequence[Opening]) -> None:
    """Add openings to the book; those that are in it stay."""
    path = book_of(model)
    entries = _entries(path)
    entries += [entry for entry in openings if entry not in entries]
    book = {"format": _FORMAT, "openings": [entry.to_json() for entry in entries]}
    text = json.dumps(book, indent=1, allow_nan=False)
    write_file(path, [text.encode(), b"\n"], what="the book of openings")


def now() -> str:
    """Return the time as it is written in the book.

    Examples
    --------
    >>> len(now())
    20
    """
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _entries(path: Path) -> list[Opening]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (ValueError, RecursionError):
        raise _damaged(path) from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise _damaged(path)
    entries = content.get("openings")
    if not isinstance(entries, list):
        raise _damaged(path)
    try:
        return [Opening.from_json(entry) for entry in entries]
    except DataError:
        raise _damaged(path) from None


def _damaged(path: Path) -> DataError:
    return DataError(
        f"{path} is damaged: it records when test rows were opened; restore it, or delete it if "
        "you know that they never were"
    )

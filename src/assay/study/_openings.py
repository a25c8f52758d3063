"""The book of openings: which test rows were looked at, when, and with which model.

It lies beside the model file and not in it: the bytes of a model file are a promise, and a model
that is fitted anew must not make rows untouched again that were opened before.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.base import DataError
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


def read_openings(model: Path, identity: str) -> list[dict[str, Any]]:
    """Return the openings of the rows with this identity, the first one first.

    Raises
    ------
    DataError
        If there is a book, but it cannot be read: it must not be taken for an empty one.
    """
    return [entry for entry in _entries(book_of(model)) if entry["holdout"] == identity]


def write_openings(model: Path, openings: list[dict[str, Any]]) -> None:
    """Add openings to the book; those that are in it stay."""
    path = book_of(model)
    entries = _entries(path)
    entries += [entry for entry in openings if entry not in entries]
    text = json.dumps({"format": _FORMAT, "openings": entries}, indent=1, allow_nan=False)
    write_file(path, [text.encode(), b"\n"], what="the book of openings")


def now() -> str:
    """Return the time as it is written in the book.

    Examples
    --------
    >>> len(now())
    20
    """
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except ValueError:
        raise _damaged(path) from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise _damaged(path)
    entries = content.get("openings")
    if not isinstance(entries, list) or not all(_is_entry(entry) for entry in entries):
        raise _damaged(path)
    return entries


def _is_entry(entry: Any) -> bool:
    texts = ("holdout", "when", "model")
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(name), str) for name in texts)
        and isinstance(entry.get("rows"), int)
        and isinstance(entry.get("scores"), list)
        and all(_is_score(score) for score in entry["scores"])
    )


def _is_score(score: Any) -> bool:
    return (
        isinstance(score, dict)
        and isinstance(score.get("metric"), str)
        and all(isinstance(score.get(name), (int, float)) for name in ("value", "low", "high"))
        and isinstance(score.get("level"), float)
    )


def _damaged(path: Path) -> DataError:
    return DataError(
        f"{path} is damaged: it says when test rows were opened; restore it, or delete it if you "
        "know that they never were"
    )
